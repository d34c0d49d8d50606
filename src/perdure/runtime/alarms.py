"""Alarms: when each run wants to be looked at again."""

import asyncio
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, Final

from perdure.ports import Clock

LONGEST: Final = 3600.0
"""Seconds of one sleep."""


class Alarms:
    """One alarm for each run. To put one off costs nothing: it is looked at when the earlier moment has come."""

    def __init__(self, clock: Clock, ring: Callable[[str], None]) -> None:
        self._clock: Final = clock
        self._ring: Final = ring
        self._dues: dict[str, int] = {}
        """When each is due."""
        self._noted: dict[str, int] = {}
        """When each is looked at, which is then or earlier."""
        self._moments: list[tuple[int, str]] = []
        self._changed: Final = asyncio.Event()

    def set(self, run: str, due: int) -> None:
        """Ring at that time, and not when it was said before."""
        self._dues[run] = due
        noted = self._noted.get(run)
        if noted is None or due < noted:
            self._note(run, due)

    def clear(self, run: str) -> None:
        """Do not ring for it."""
        self._dues.pop(run, None)

    def _note(self, run: str, due: int) -> None:
        self._noted[run] = due
        heappush(self._moments, (due, run))
        if self._moments[0] == (due, run):
            self._changed.set()

    async def tick(self) -> None:
        """Ring each alarm when its time has come; without end."""
        while True:
            self._changed.clear()
            self._look()
            waiting: list[asyncio.Task[Any]] = [asyncio.create_task(self._changed.wait())]
            if self._moments:
                pause = max(0.001, (self._moments[0][0] - self._clock.now()) / 1000)
                waiting.append(asyncio.create_task(self._sleep(min(pause, LONGEST))))
            try:
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waiting:
                    each.cancel()

    async def _sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)

    def _look(self) -> None:
        now = self._clock.now()
        while self._moments and (self._moments[0][0] <= now or self._is_stale(*self._moments[0])):
            moment, run = heappop(self._moments)
            if self._noted.get(run) != moment:
                continue
            del self._noted[run]
            due = self._dues.get(run)
            if due is not None and due <= now:
                del self._dues[run]
                self._ring(run)
            elif due is not None:
                self._note(run, due)

    def _is_stale(self, moment: int, run: str) -> bool:
        return self._noted.get(run) != moment or run not in self._dues
