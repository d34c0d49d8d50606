"""A journal in a file: SQLite, one writing process, any number of readers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Final, Self, TypeVar

from perdure.journal import parcel, schema
from perdure.journal.ballast import Ballast
from perdure.journal.driver import Connect, connect
from perdure.journal.faults import told
from perdure.journal.filesystem import make_private, refuse_network
from perdure.journal.indexing import Indexing
from perdure.journal.lock import FileLock
from perdure.journal.memories import AT_ONCE
from perdure.journal.reader import Reader
from perdure.journal.store import Store
from perdure.journal.turns import check
from perdure.journal.waiting import ANY, Waiters
from perdure.journal.writer import Writer
from perdure.ports import (
    Arrived,
    Closed,
    DiskFull,
    Entry,
    Filter,
    JournalError,
    Memory,
    NoJournal,
    NoMemory,
    Question,
    Run,
    Swept,
    Turn,
    Verdict,
)

_RUNS_A_COMMIT: Final = 100
_PAGES_A_COMMIT: Final = 1_000
_LINES_A_HOP: Final = 64
_LOOK_AGAIN: Final = 0.2
"""Seconds until somebody who waits for another process looks again."""
Result = TypeVar("Result")


class SqliteJournal:
    """Remembers runs in a file. Open it with `SqliteJournal.open`."""

    def __init__(self, reader: Reader, writer: Writer | None, store: Store | None, waiters: Waiters) -> None:
        self._reader = reader
        self._writer = writer
        self._store = store
        self._waiters = waiters
        self._indexing = Indexing(lambda: self._do(lambda store: store.catch_up(AT_ONCE)))
        self._closing = ExitStack()

    @classmethod
    async def open(
        cls, path: Path | str, *, read_only: bool = False, network: bool = False, connect: Connect = connect
    ) -> Self:
        """Open a file, or make it. `network` allows disks whose locks are not to be trusted; then trust is yours."""
        opened = cls._opened_to_read if read_only else cls._opened_to_write
        journal = await asyncio.to_thread(opened, Path(path), network, connect)
        journal._begin_indexing()  # noqa: SLF001  it is one of us
        return journal

    @classmethod
    def _opened_to_read(cls, path: Path, network: bool, connect: Connect) -> Self:  # noqa: FBT001  called from `open` alone
        path = path.expanduser().resolve()
        if not network and path.parent.is_dir():
            refuse_network(path.parent)
        reader = Reader(path, connect)
        reader.check()
        return cls(reader, None, None, Waiters(_LOOK_AGAIN))

    @classmethod
    def _opened_to_write(cls, path: Path, network: bool, connect: Connect) -> Self:  # noqa: FBT001  called from `open` alone
        path = path.expanduser().resolve()
        with ExitStack() as undo:
            try:
                store = _store(path, network, connect, undo)
            except JournalError:
                raise
            except Exception as error:
                raise told(error) from error
            waiters = Waiters()
            journal = cls(Reader(path, connect), Writer(store, waiters.wake_all), store, waiters)
            journal._closing = undo.pop_all()
        return journal

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # ------------------------------------------------------------ writing

    def append(self, turn: Turn, *, alone: bool = False) -> Awaitable[None]:
        """Queue a turn for the next commit, or commit it here and now."""
        try:
            check(turn)
            kept = self._writing().append(turn, alone=alone)
        except JournalError as error:
            refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            refused.set_exception(error)
            return refused
        if turn.memories:
            self._indexing.soon()
        return kept

    def time_commits(self, hear: Callable[[float], None]) -> None:
        """Have somebody told how many seconds each commit takes, from any thread."""
        if self._writer is not None:
            self._writer.timed = hear

    def _writing(self) -> Writer:
        if self._writer is None:
            raise Closed("the journal was opened for reading only", "open it without read_only")
        return self._writer

    async def _do(self, work: Callable[[Store], Result]) -> Result:
        writer, store = self._writing(), self._store
        assert store is not None  # noqa: S101  a writer has a store
        return await writer.do(lambda: work(store))

    async def take_in(self, lines: Iterable[bytes]) -> Run:
        """Keep an exported run in one commit."""
        return await self.begin(await asyncio.to_thread(parcel.unpack, lines))

    async def begin(self, turns: Sequence[Turn]) -> Run:
        """Keep the turns of a new run in one commit."""
        for turn in turns:
            check(turn)
        await self._do(lambda store: store.take_in(turns))
        self._waiters.wake_all([turns[0].run])
        return await self.run(turns[0].run)

    async def sweep(self, before: int, keep: int = 0) -> Swept:
        """Forget what is over and old, a few runs at a time, so that turns can pass in between."""
        runs = 0
        while gone := await self._do(lambda store: store.forget_runs(before, keep, _RUNS_A_COMMIT)):
            runs += gone
        await self._do(lambda store: store.forget_outcomes())
        seen: int | None = 0
        while seen is not None:
            seen = await self._do(lambda store, after=seen: store.forget_arrivals(after))
        artifacts = await self._do(lambda store: store.forget_artifacts())
        while await self._do(lambda store: store.shrink(_PAGES_A_COMMIT)):
            pass
        return Swept(runs, artifacts)

    async def close(self) -> None:
        """Commit what is queued, then let go of the file and of its lock."""
        if self._writer is not None:
            await self._indexing.close(waits=self._words_wait)
            self._writer.stop()
            await asyncio.to_thread(self._writer.join)
        self._closing.close()

    # ------------------------------------------------------------ memories

    async def remember(self, memory: Memory) -> None:
        """Keep a memory."""
        await self._do(lambda store: store.remember(memory))
        self._indexing.soon()

    async def search(self, text: str, kinds: Sequence[str] = (), limit: int = 10) -> list[Memory]:
        """Memories by their words; in the process that writes, also those of this moment."""
        try:
            return await self._found(text, kinds, limit)
        except NoMemory:
            if self._writer is None:
                raise
            await self._do(lambda store: store.drop_words())
            return await self._found(text, kinds, limit)

    async def _found(self, text: str, kinds: Sequence[str], limit: int) -> list[Memory]:
        while self._words_wait:
            await self._do(lambda store: store.catch_up(AT_ONCE))
        return await asyncio.to_thread(self._reader.search, text, kinds, limit)

    async def memories(self, kinds: Sequence[str] = (), before: int | None = None, limit: int = 50) -> list[Memory]:
        """A page of memories, newest first."""
        return await asyncio.to_thread(self._reader.memories, kinds, before, limit)

    async def forget(self, memory: str) -> None:
        """Forget a memory."""
        await self._do(lambda store: store.forget_memory(memory))

    def _begin_indexing(self) -> None:
        """What an earlier process left to do."""
        if self._words_wait:
            self._indexing.soon()

    @property
    def _words_wait(self) -> bool:
        return self._store is not None and self._store.words_wait

    # ------------------------------------------------------------ reading

    async def read(self, run: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """A page of entries."""
        return await asyncio.to_thread(self._reader.entries, run, after, limit)

    async def load(self, run: str) -> tuple[Run, list[Entry]]:
        """A run with all its entries, verified."""
        return await asyncio.to_thread(self._reader.load, run)

    async def grown(self, run: str, after: int, timeout: float) -> bool:  # noqa: ASYNC109  as the seam says
        """Wait for a turn of this process; where another one writes, look again and again."""
        return await self._waiters.until(run, lambda: self.read(run, after, 1), timeout)

    async def arrived(self, after: int = 0, limit: int = 100, runs: Sequence[str] = ()) -> list[Arrived]:
        """A page of turns."""
        return await asyncio.to_thread(self._reader.arrived, after, limit, runs)

    async def last_arrival(self) -> int:
        """The number of the last turn."""
        return await asyncio.to_thread(self._reader.last_arrival)

    async def arrives(self, after: int, timeout: float) -> bool:  # noqa: ASYNC109  as the seam says
        """Wait for a turn of any run."""
        return await self._waiters.until(ANY, lambda: self.arrived(after, 1), timeout)

    async def run(self, name: str) -> Run:
        """A run by id, beginning or `@last`."""
        return await asyncio.to_thread(self._reader.run, name)

    async def runs(self, where: Filter | None = None, before: int | None = None, limit: int = 50) -> list[Run]:
        """A page of runs, newest first."""
        return await asyncio.to_thread(self._reader.runs, where or Filter(), before, limit)

    async def due(self, now: int, limit: int = 100) -> list[Run]:
        """Runs whose time has come."""
        return await asyncio.to_thread(self._reader.due, now, limit)

    async def questions(
        self, run: str | None = None, *, answered: bool = False, after: int = 0, limit: int = 50
    ) -> list[Question]:
        """A page of questions, in the order of asking."""
        return await asyncio.to_thread(self._reader.questions, run, after, limit, answered=answered)

    async def artifact(self, digest: str) -> bytes:
        """A value."""
        return await asyncio.to_thread(self._reader.artifact, digest)

    def fetch(self, digest: str) -> bytes:
        """A value, at once."""
        return self._reader.artifact(digest)

    async def verify(self, run: str) -> Verdict:
        """Look at all that is stored of a run."""
        return await asyncio.to_thread(self._reader.verify, run)

    async def export(self, run: str) -> AsyncIterator[bytes]:
        """A run as lines of JSON."""
        lines = self._reader.export(run)
        try:
            while page := await asyncio.to_thread(_some, lines):
                for line in page:
                    yield line
        finally:
            lines.close()


def _store(path: Path, network: bool, connect: Connect, undo: ExitStack) -> Store:  # noqa: FBT001  called from one place
    """Take a file over, and make it if it is not there."""
    if path.exists() and not path.is_file():  # said before anything is made beside it, or a device given up for a file
        raise NoJournal(f"{path} is not a file", "name a file, as in runs.db")
    make_private(path.parent)
    if not network:
        refuse_network(path.parent)
    undo.callback(FileLock(path.with_name(f"{path.name}.lock")).release)
    if not path.exists() or path.stat().st_size == 0:
        schema.create(path, connect)
    try:
        return _owned(path, connect)
    except Exception as error:
        if not isinstance(told(error), DiskFull) or not Ballast(path).give_up():
            raise
        return _owned(path, connect)


def _owned(path: Path, connect: Connect) -> Store:
    db = connect(path, "rw")
    with ExitStack() as closing:
        closing.callback(db.close)
        schema.bring_forward(db, path, schema.steps())
        store = Store(path, db)
        closing.pop_all()
    return store


def _some(lines: Iterator[bytes]) -> Sequence[bytes]:
    return list(islice(lines, _LINES_A_HOP))
