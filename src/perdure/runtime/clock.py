"""The clock of a process: the wall's time when it started, and from then on only forward."""

import asyncio
import time

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
