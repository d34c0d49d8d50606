"""Following: one look at the journal for all who watch. Each turn is put into words once, and handed to everybody.

Whoever watches has a place in the order of turns, and nothing else is kept of them. Those who are near the end are
given what is at hand; others read on from the journal, at their own pace.
"""

import asyncio
import logging
from bisect import bisect_right
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Final, NamedTuple

from perdure.core.values import to_json
from perdure.documents.entries import listed_json
from perdure.ports import Arrived, Journal, JournalError

_log: Final = logging.getLogger("perdure.server")
PAGE: Final = 200
"""Turns that are read, and sent, at once."""
MOST_BYTES: Final = 8 * 1024 * 1024
"""How much is kept at hand, all together."""
PATIENCE: Final = 60.0
"""Seconds after which to look again, whatever was heard."""


class Told(NamedTuple):
    """A turn, as it goes over the wire."""

    number: int
    run: str
    message: bytes


class Page(NamedTuple):
    """What somebody is given next."""

    after: int
    """Where they are then."""
    messages: Sequence[bytes]


def told(turn: Arrived) -> Told:
    """A turn as an event of the stream. A line of it ends where it ends: what is stored has no say in that."""
    data = b'{"run":%b,"entries":%b}' % (to_json(turn.run), listed_json(turn.entries))
    data = data.replace(b"\r", b" ").replace(b"\n", b" ")  # between the parts of JSON, if at all
    return Told(turn.number, turn.run, b"id: %d\nevent: turn\ndata: %b\n\n" % (turn.number, data))


class Following:
    """What has arrived of late, as long as anybody watches."""

    def __init__(self, journal: Journal, quiet: float = 15.0, patience: float = 30.0) -> None:
        self._journal: Final = journal
        self.quiet = quiet
        """Seconds without news after which watchers are told that all is well."""
        self.patience = patience
        """Seconds that a watcher may take to accept what it is sent."""
        self.closed = False
        self._turns: list[Told] = []
        self._size = 0
        self._from = 0
        """Everything after this number that is there is at hand, up to the head."""
        self._head = 0
        self.watchers = 0
        """How many there are."""
        self._task: asyncio.Task[None] | None = None
        self._news: asyncio.Future[None] | None = None

    # ------------------------------------------------------------ watchers

    async def enter(self) -> None:
        """Begin to watch."""
        last = await self._journal.last_arrival()
        self.watchers += 1
        if self._task is None or self._task.done():
            self._turns, self._size = [], 0
            self._from = self._head = last
            self._task = asyncio.create_task(self._follow())

    async def leave(self) -> None:
        """Watch no more. With the last watcher goes what is at hand."""
        self.watchers -= 1
        if not self.watchers and self._task is not None:
            task, self._task = self._task, None
            self._turns, self._size = [], 0
            task.cancel()
            await asyncio.wait({task})

    async def page(self, after: int, runs: Collection[str]) -> Page:
        """What comes after a number; of some runs, if any are named."""
        if after < self._from or self._task is None:
            return await self._read(after, runs)
        first = bisect_right(self._turns, after, key=lambda each: each.number)
        later = (self._turns[place] for place in range(first, len(self._turns)))
        found = list(islice((each for each in later if not runs or each.run in runs), PAGE))
        at_end = len(found) < PAGE
        return Page(max(self._head, after) if at_end else found[-1].number, [each.message for each in found])

    async def _read(self, after: int, runs: Collection[str]) -> Page:
        """The same from the journal, for those who are far behind."""
        at_hand = self._from
        found = await self._journal.arrived(after, PAGE, tuple(runs))
        if not found:
            return Page(max(after, at_hand), [])
        return Page(found[-1].number, await asyncio.to_thread(lambda: [told(each).message for each in found]))

    @property
    def is_open(self) -> bool:
        """Whether it goes on."""
        return not self.closed and self._task is not None and not self._task.done()

    def news(self) -> asyncio.Future[None]:
        """Done when there is something new, or when it is over."""
        if self._news is None or self._news.done():
            self._news = asyncio.get_running_loop().create_future()
            if not self.is_open:
                self._news.set_result(None)
        return self._news

    def close(self) -> None:
        """Let all watchers go."""
        self.closed = True
        self._wake()

    # ------------------------------------------------------------ the journal

    async def _follow(self) -> None:
        try:
            while True:
                for each in await self._journal.arrived(self._head, PAGE):
                    self._take(told(each))
                self._wake()
                await self._journal.arrives(self._head, PATIENCE)
        except JournalError as error:
            _log.error("nobody can watch: %s: %s", error.code, error.message)
        finally:
            asyncio.get_running_loop().call_soon(self._wake)  # once it is seen to be over

    def _take(self, turn: Told) -> None:
        self._turns.append(turn)
        self._head = turn.number
        self._size += len(turn.message)
        if self._size > MOST_BYTES:
            self._let_go()

    def _let_go(self) -> None:
        """Of the older half: whoever still wants it reads it."""
        gone, self._turns = self._turns[: len(self._turns) // 2 + 1], self._turns[len(self._turns) // 2 + 1 :]
        self._size -= sum(len(each.message) for each in gone)
        self._from = gone[-1].number

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)
