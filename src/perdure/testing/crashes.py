"""Crashes and failing disks for tests.

    disk = MemoryJournal()
    async with crashing(disk, performer=script) as engine:
        run = await engine.start(plan)
        await asyncio.sleep(2)
    # here the process is dead: no task went on, nothing was written any more
    async with Engine.open(journal=Disk(disk), performer=script, resume=True) as engine:
        result = await engine.run(run.id).result()

A journal that is handed to an engine is closed with it; a `Disk` in between lets the next engine open the same one.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

from perdure.engine import Engine
from perdure.ports import Journal, JournalError, Turn

__all__ = ["Disk", "Fault", "crashing"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to a turn on its way to the disk."""

    what: Literal["fail", "doubt", "lose", "keep"]
    """`fail`: not kept, with an error. `doubt`: kept, with an error. `lose` and `keep`: the process dies, without or
    with the turn on the disk; nobody hears of it."""
    error: JournalError | None = None


Plot = Callable[[int, Turn], "Fault | None"]
"""Says what happens to the nth turn."""


class Disk:
    """A journal as one process has it: it can be slow, fail, and be lost together with the process."""

    def __init__(self, journal: Journal, plot: Plot | None = None, delay: Callable[[], float] | None = None) -> None:
        self._journal = journal
        self._plot = plot
        self._delay = delay
        self._turns = 0
        self._last: asyncio.Future[None] | None = None
        self.dead = False
        """Whether the process is dead: what it writes goes nowhere."""
        self.died: Callable[[], None] = lambda: None
        """Called when a fault kills the process."""
        self.read, self.load, self.grown = journal.read, journal.load, journal.grown  # all but writing is as it is
        self.run, self.runs, self.due, self.questions = journal.run, journal.runs, journal.due, journal.questions
        self.arrived, self.last_arrival, self.arrives = journal.arrived, journal.last_arrival, journal.arrives
        self.artifact, self.fetch, self.verify = journal.artifact, journal.fetch, journal.verify
        self.export, self.take_in, self.sweep = journal.export, journal.take_in, journal.sweep
        self.begin = journal.begin

    def append(self, turn: Turn, *, alone: bool = False) -> Awaitable[None]:
        """Keep a turn, unless something happens to it."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        delay = self._delay() if self._delay else 0.0
        if delay or (self._last and not self._last.done()):
            self._last = asyncio.ensure_future(self._write_later(turn, future, delay, self._last))
        else:
            self._write(turn, future, alone=alone)
        return future

    async def _write_later(
        self, turn: Turn, future: "asyncio.Future[None]", delay: float, last: "asyncio.Future[None] | None"
    ) -> None:
        if last is not None:
            await asyncio.shield(last)
        await asyncio.sleep(delay)
        self._write(turn, future)

    def _write(self, turn: Turn, future: "asyncio.Future[None]", *, alone: bool = False) -> None:
        if self.dead or future.done():
            return
        self._turns += 1
        fault = self._plot(self._turns, turn) if self._plot else None
        what = fault.what if fault else ""
        kept = None if what in {"fail", "lose"} else asyncio.ensure_future(self._journal.append(turn, alone=alone))
        if what in {"lose", "keep"}:
            self.die()
        elif fault is not None:
            future.set_exception(fault.error or JournalError("the disk failed"))
        elif kept is not None and kept.done():
            self._tell(kept, future)
        elif kept is not None:
            kept.add_done_callback(lambda done: self._tell(done, future))

    def _tell(self, done: "asyncio.Future[None]", future: "asyncio.Future[None]") -> None:
        if self.dead or future.done():
            return
        error = done.exception()
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)

    def die(self) -> None:
        """From now on nothing is written, and nobody hears of anything."""
        if not self.dead:
            self.dead = True
            self.died()

    async def close(self) -> None:
        """Let go; the journal inside stays open for the next process."""
        self.dead = True


@asynccontextmanager
async def crashing(
    journal: Journal, plot: Plot | None = None, delay: Callable[[], float] | None = None, **settings: Any
) -> AsyncGenerator[Engine]:
    """An engine that is not closed but killed. `settings` are those of `Engine.open`."""
    disk = Disk(journal, plot, delay)
    async with Engine.open(journal=disk, patience=0, **settings) as engine:
        try:
            yield engine
        finally:
            disk.die()
