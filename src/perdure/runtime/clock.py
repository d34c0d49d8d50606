"""The clock of a process: the wall's time when it started, and from then on only forward."""

import asyncio
import time

from perdure.ports import Clock

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # goes on while the machine sleeps, where there is one


class SystemClock:
    """Wall time that does not jump: somebody who sets the clock back a day changes nothing that runs."""

    def __init__(self) -> None:
        self._offset = time.time() - time.clock_gettime(_CLOCK)

    def now(self) -> int:
        """Milliseconds since 1970."""
        return int((time.clock_gettime(_CLOCK) + self._offset) * 1000)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class SteadyClock:
    """Another clock, except that it never goes back: what was set back is added from then on."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = clock.now()
        self._lost = 0

    def now(self) -> int:
        """Milliseconds since 1970."""
        now = self._clock.now()
        self._lost += max(0, self._last - now)
        self._last = now
        return now + self._lost

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await self._clock.sleep(seconds)
