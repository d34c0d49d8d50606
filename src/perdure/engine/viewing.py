"""A run as its journal tells it: for all who look on and do not drive, in this process or in another one."""

import asyncio
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Self

from perdure.core import events as e
from perdure.core.evolve import evolve
from perdure.core.outline import Outline
from perdure.core.state import Rules, State
from perdure.core.turn import status_of
from perdure.engine.asking import Put, note
from perdure.engine.result import Result
from perdure.plan.model.document import Plan
from perdure.plan.model.recalling import recalled
from perdure.ports import Corrupt, Entry, Journal
from perdure.runtime.shelf import Shelf

MANY: Final = 2_000
"""So many facts are folded in a thread, that nobody has to wait for it."""
_BROKEN = (ValueError, KeyError, IndexError, AttributeError, AssertionError, StopIteration, TypeError)
"""What comes of facts that do not fit together."""

_ABOUT_QUESTIONS = frozenset({"question_asked", "question_answered", "question_closed"})


class View:
    """One run, folded from its entries as they come. Nothing is decided and nothing is done here."""

    def __init__(self, journal: Journal, run: str) -> None:
        self.run = run
        self.seq = 0
        """The last entry that was taken."""
        self.ended: dict[str, int] = {}
        """When the last finished visit of each step ended, in milliseconds."""
        self.lowered: set[str] = set()
        """Lower tiers of the sandbox that commands of it ran in."""
        self.put: dict[str, Put] = {}
        """Every question that was ever put to people, by its id, in the order of asking."""
        self._fetch = journal.fetch
        self.state = State(run, Rules(Shelf(journal.fetch).read, lru_cache(maxsize=64)(self._outline)))

    def _outline(self, digest: str) -> Outline:
        data = self._fetch(digest)
        return Outline(recalled(data), data)

    @classmethod
    async def of(cls, journal: Journal, run: str, most: int | None = None) -> "View":
        """A run as it stands now, verified; or as it stood after so many entries."""
        _, entries = await journal.load(run)
        view = cls(journal, run)
        if len(entries) < MANY:
            return view.after(entries[:most])
        return await asyncio.to_thread(view.after, entries[:most])

    def after(self, entries: Iterable[Entry]) -> Self:
        """The same, after so many more facts."""
        for entry in entries:
            self.take(entry)
        return self

    def take(self, entry: Entry) -> e.Event:
        """The next fact. `Corrupt` if it cannot be one."""
        try:
            event = e.decode(entry.type, entry.body)
            evolve(self.state, event, entry.at)
        except _BROKEN as error:
            told = f"entry {entry.seq} of {entry.run} ({entry.type}) does not fit those before it: {error}"
            raise Corrupt(told, "run `perdure doctor`") from error
        self.seq = entry.seq
        if isinstance(event, e.AttemptEnded) and event.sandboxed:
            self.lowered.add(event.sandboxed)
        if entry.type in _ABOUT_QUESTIONS:
            note(self.put, event, entry.at)
        if e.ends_step(event):
            self.ended[event.step] = entry.at
        return event

    @property
    def plan(self) -> Plan:
        """The plan as it is now, with all revisions."""
        return self.state.cells[""].scope.outline.plan

    @property
    def status(self) -> str:
        """The run in a word."""
        return status_of(self.state)

    @property
    def result(self) -> Result:
        """What became of it so far."""
        return Result(self.state)
