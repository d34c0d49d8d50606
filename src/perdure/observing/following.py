"""Following a journal: the turns of all runs in their order, each with what follows from it, and each once."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final, NamedTuple

from perdure.errors import PerdureError
from perdure.observing.folding import Fold
from perdure.observing.happenings import Happening
from perdure.observing.story import Story
from perdure.ports import Arrived, Journal, Run

PAGE: Final = 200
Copied = Callable[[Run], int]
"""Up to which fact a run is the copy of another one."""


class Told(NamedTuple):
    """One turn, and what follows from it."""

    turn: Arrived
    happenings: list[Happening]
    story: Story
    """The run after it."""
    copied: int
    """Up to which of its facts the run is the copy of another one."""


class Following:
    """Reads on from any place. What a run was before that is looked up when something new comes of it."""

    def __init__(self, journal: Journal, copied: Copied) -> None:
        self._journal: Final = journal
        self._copied: Final = copied
        self._fold: Final = Fold(journal.fetch)
        self._own: Final = dict[str, int]()
        """With which fact the story of a run is its own."""

    async def after(self, number: int) -> AsyncIterator[Told]:
        """The turns after a number that are there now."""
        while page := await self._journal.arrived(number, PAGE):
            for turn in page:
                number = turn.number
                yield await self._told(turn)

    async def is_of(self, number: int, run: str) -> bool:
        """Whether the turn with a number is one of a run, or is forgotten: else it is another journal by now.

        Of 0, and without a run, there is nothing to compare.
        """
        if not 0 <= number <= await self._journal.last_arrival():
            return False
        if number == 0 or not run:
            return True
        found = await self._journal.arrived(number - 1, 1)
        return not found or found[0].number != number or found[0].run == run

    async def _told(self, turn: Arrived) -> Told:
        if turn.run not in self._own:
            await self._look_up(turn)
        found = self._take(turn)
        own = self._own[turn.run]
        told = Told(turn, [each for each in found if each.seq > own], self._fold.story(turn.run), own)
        if any(each.what == "run" for each in found):
            self._fold.forget(turn.run)
            del self._own[turn.run]
        return told

    def _take(self, turn: Arrived) -> list[Happening]:
        return [*self._fold.take(turn.run, turn.entries), *self._fold.pause(turn.run)]

    async def _look_up(self, turn: Arrived) -> None:
        """What a run was before a turn; nothing follows from that any more."""
        try:
            self._own[turn.run] = self._copied(await self._journal.run(turn.run))
        except PerdureError:  # it was forgotten just now
            self._own[turn.run] = 0
        after = 0
        while turn.entries and self._fold.story(turn.run).seq < turn.entries[0].seq - 1:
            page = await self._journal.arrived(after, PAGE, [turn.run])
            for each in page:
                if each.number < turn.number:
                    self._take(each)
            if not page or page[-1].number >= turn.number:
                return
            after = page[-1].number


_LOOK: Final = 1.0
"""Seconds until somebody who waits looks again by himself."""
_GATHER: Final = 0.25
"""Seconds in which turns gather, so that many are read at once: whoever looks at each by itself holds others up."""


async def news(journal: Journal, number: int, leaving: asyncio.Event) -> None:
    """Wait until turns have come after a number, or until it is time to leave."""
    await first_of(asyncio.ensure_future(journal.arrives(number, _LOOK)), leaving)
    if not leaving.is_set():
        await first_of(asyncio.ensure_future(asyncio.sleep(_GATHER)), leaving)


async def first_of(other: "asyncio.Future[Any]", leaving: asyncio.Event) -> None:
    """Wait for something, but not longer than until it is time to leave."""
    waiting = asyncio.ensure_future(leaving.wait())
    try:
        await asyncio.wait([other, waiting], return_when=asyncio.FIRST_COMPLETED)
    finally:
        other.cancel()
        waiting.cancel()
        await asyncio.wait([other, waiting])
