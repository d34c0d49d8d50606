"""The meter: counts that go on where they were, over restarts and over runs that are forgotten.

It counts when it is asked to, so that whoever is not asked costs nothing.
"""

import asyncio
import time
from typing import Any, Final

from perdure.observing.counts import Counts
from perdure.observing.following import Copied, Following
from perdure.observing.metrics import METRICS, count
from perdure.observing.place import Place
from perdure.ports import Journal

PATIENCE: Final = 5.0
"""Seconds that are spent with counting at once. What is left is counted when somebody asks again."""


class Meter:
    """What the facts of a journal come to."""

    def __init__(self, journal: Journal, copied: Copied, place: Place) -> None:
        self.counts = Counts()
        self._journal: Final = journal
        self._copied: Final = copied
        self._place: Final = place
        self._following = Following(journal, copied)
        self._number = 0
        self._run = ""
        """The turn that was counted last, and whose it was."""
        self._noted = -1
        self._alone: Final = asyncio.Lock()

    async def catch_up(self, patience: float = PATIENCE) -> bool:
        """Count what has come, and note it; whether that was all.

        What is told to anybody was noted before, so that no number is ever smaller after a restart.
        """
        async with self._alone:
            if self._noted < 0:
                await self._go_on()
            is_all = await self._count(time.monotonic() + patience)
            if self._noted != self._number:
                await asyncio.to_thread(self._place.write, self._data())
                self._noted = self._number
            return is_all

    async def _count(self, until: float) -> bool:
        async for told in self._following.after(self._number):
            count(self.counts, told.happenings)
            self._number, self._run = told.turn.number, told.turn.run
            if time.monotonic() > until:
                return self._number >= await self._journal.last_arrival()
        return True

    async def _go_on(self) -> None:
        """Go on where somebody has noted that it stood, if it was this journal."""
        noted: dict[str, Any] = await asyncio.to_thread(self._place.read)
        self._noted = 0
        try:
            number, run, counts = int(noted["number"]), str(noted["run"]), Counts.of_data(noted["counts"], METRICS)
        except (LookupError, TypeError, ValueError, AttributeError):
            return
        if number > 0 and await self._following.is_of(number, run):
            self.counts, self._number, self._run, self._noted = counts, number, run, number

    def _data(self) -> dict[str, Any]:
        return {"number": self._number, "run": self._run, "counts": self.counts.data()}
