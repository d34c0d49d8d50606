"""A journal without a file, for tests and for runs that nobody needs tomorrow."""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from itertools import islice

from msgspec.structs import replace

from perdure.journal import parcel
from perdure.journal.chain import Kept, judge, marks_of
from perdure.journal.head import begun
from perdure.journal.packing import pack, page_of
from perdure.journal.turns import check, check_order
from perdure.journal.unfiled import Unfiled
from perdure.journal.waiting import ANY, Waiters
from perdure.ports import (
    LAST,
    AlreadyThere,
    Ambiguous,
    Arrived,
    Closed,
    Corrupt,
    Entry,
    Filter,
    Malformed,
    Memory,
    Question,
    Run,
    Summary,
    Swept,
    Turn,
    UnknownArtifact,
    UnknownRun,
    Verdict,
)


class _Held:
    """All that is known of a run. Turns are many and looks are few: they are packed and hashed when somebody looks."""

    def __init__(self, number: int, turn: Turn, summary: Summary) -> None:
        self.number = number
        self.seq = 0
        """Of the last entry."""
        self.summary = summary
        self._id = turn.run
        self._head = begun(number, turn)
        self._turns: list[Kept] = []
        self._fresh: list[Turn] = []

    def take(self, turn: Turn) -> None:
        """Keep a turn."""
        self._fresh.append(turn)
        self.seq = turn.entries[-1].seq
        if turn.summary is not None:
            self.summary = turn.summary

    @property
    def turns(self) -> list[Kept]:
        """As they would lie in a file."""
        for turn in self._fresh:
            body, marks = pack(turn.entries), marks_of(turn)
            head = self._head = self._head.after(turn, body, marks)
            self._turns.append(Kept(head.seq, head.updated, body, head.last, is_sealed=False, marks=marks))
        self._fresh.clear()
        return self._turns

    @property
    def run(self) -> Run:
        """As a listing shows it."""
        _ = self.turns
        head = self._head
        return Run(self._id, head.number, head.seq, head.seal.hex(), head.created, head.updated, self.summary)


class MemoryJournal:
    """Keeps everything in dictionaries, by the same contract as a file."""

    def __init__(self) -> None:
        self._runs: dict[str, _Held] = {}
        self._artifacts: dict[str, bytes] = {}
        self._questions: dict[tuple[str, str], Question] = {}
        self._learned = Unfiled()
        self._arrived: list[Arrived] = []
        self._last_arrival = 0
        self._numbers = 0
        self._asked = 0
        self._waiters = Waiters()
        self._closed = False

    # ------------------------------------------------------------ writing

    def append(self, turn: Turn, *, alone: bool = False) -> Awaitable[None]:  # noqa: ARG002  it is always at once
        """Keep a turn at once."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        try:
            self._keep(turn)
        except Exception as error:  # noqa: BLE001  whatever it is, it is told where the turn is awaited
            future.set_exception(error)
        else:
            future.set_result(None)
            self._waiters.wake_all((turn.run,))
        return future

    def _keep(self, turn: Turn) -> None:
        if self._closed:
            raise Closed("the journal is closed")
        check(turn)
        held = self._runs.get(turn.run)
        check_order(turn, held.seq if held else 0)
        if turn.artifacts or turn.asked or turn.answered:
            self._check_names(turn)
            self._note_names(turn)
        (held or self._begin(turn)).take(turn)
        self._last_arrival += 1
        self._arrived.append(Arrived(self._last_arrival, turn.run, tuple(turn.entries)))
        if turn.memories:
            self._learned.put(turn.memories)

    def _begin(self, turn: Turn) -> _Held:
        assert turn.summary is not None  # noqa: S101  `check_order` has seen to it
        self._numbers += 1
        held = self._runs[turn.run] = _Held(self._numbers, turn, turn.summary)
        return held

    def _check_names(self, turn: Turn) -> None:
        given = {each.digest for each in turn.artifacts if each.data is not None}
        for artifact in turn.artifacts:
            if artifact.digest not in given and artifact.digest not in self._artifacts:
                raise UnknownArtifact(f"there is no artifact {artifact.digest}")
        for question in turn.asked:
            if (turn.run, question) in self._questions or turn.asked.count(question) > 1:
                raise Malformed(f"the question {question} was asked before")
        for question in turn.answered:
            known = self._questions.get((turn.run, question))
            if turn.answered.count(question) > 1 or (known.answered if known else question not in turn.asked):
                raise Malformed(f"the question {question} is not open")

    def _note_names(self, turn: Turn) -> None:
        self._artifacts.update((each.digest, each.data) for each in turn.artifacts if each.data is not None)
        at = turn.entries[-1].at
        for question in sorted(turn.asked):
            self._asked += 1
            self._questions[turn.run, question] = Question(turn.run, question, self._asked, at, answered=False)
        for question in turn.answered:
            self._questions[turn.run, question] = replace(self._questions[turn.run, question], answered=True)

    async def take_in(self, lines: Iterable[bytes]) -> Run:
        """Keep an exported run."""
        return await self.begin(parcel.unpack(lines))

    async def begin(self, turns: Sequence[Turn]) -> Run:
        """Keep the turns of a new run."""
        run = turns[0].run
        if run in self._runs:
            raise AlreadyThere(f"there is a run {run} already")
        try:
            for turn in turns:
                self._keep(turn)
        except Exception:
            self._runs.pop(run, None)
            self._arrived = [each for each in self._arrived if each.run != run]
            self._questions = {key: each for key, each in self._questions.items() if each.run != run}
            raise
        self._waiters.wake_all([run])
        return self._runs[run].run

    async def sweep(self, before: int, keep: int = 0) -> Swept:
        """Forget what is over and old, and artifacts that nobody names any more."""
        over = [held.run for held in self._newest() if held.run.summary.over]
        gone = [run for run in over[keep:] if run.updated < before]
        for run in gone:
            del self._runs[run.id]
        self._arrived = [each for each in self._arrived if each.run in self._runs]
        self._questions = {key: each for key, each in self._questions.items() if each.run in self._runs}
        named = {digest for held in self._runs.values() for turn in held.turns for digest in turn.marks.artifacts}
        unnamed = [digest for digest in self._artifacts if digest not in named]
        for digest in unnamed:
            del self._artifacts[digest]
        self._learned.forget_outcomes(self._runs)
        return Swept(len(gone), len(unnamed))

    async def close(self) -> None:
        """Take no more turns."""
        self._closed = True

    # ------------------------------------------------------------ memories

    async def remember(self, memory: Memory) -> None:
        """Keep a memory."""
        if self._closed:
            raise Closed("the journal is closed")
        self._learned.put([memory])

    async def search(self, text: str, kinds: Sequence[str] = (), limit: int = 10) -> list[Memory]:
        """Memories by their words."""
        return self._learned.search(text, kinds, limit)

    async def memories(self, kinds: Sequence[str] = (), before: int | None = None, limit: int = 50) -> list[Memory]:
        """Memories, newest first."""
        return self._learned.page(kinds, before, limit)

    async def forget(self, memory: str) -> None:
        """Forget a memory."""
        self._learned.forget(memory)

    # ------------------------------------------------------------ reading

    async def read(self, run: str, after: int = 0, limit: int = 1_000) -> list[Entry]:
        """The entries after a seq."""
        turns = self._runs[run].turns if run in self._runs else []
        first = bisect_right(turns, after, key=lambda turn: turn.seq)
        return page_of(run, (turn[:3] for turn in islice(turns, first, None)), after, limit)

    async def load(self, run: str) -> tuple[Run, list[Entry]]:
        """A run with all its entries."""
        held, entries = self._held(run), list[Entry]()
        verdict = judge(held.run, held.turns, entries.extend)
        if verdict.bad_seq is not None:
            raise Corrupt(f"entry {verdict.bad_seq} of {run} cannot be believed: {verdict.reason}")
        return held.run, entries

    async def grown(self, run: str, after: int, timeout: float) -> bool:  # noqa: ASYNC109  as the seam says
        """Wait until the run has an entry after a seq."""
        return await self._waiters.until(run, lambda: self.read(run, after, 1), timeout)

    async def arrived(self, after: int = 0, limit: int = 100, runs: Sequence[str] = ()) -> list[Arrived]:
        """A page of turns."""
        first = bisect_right(self._arrived, after, key=lambda turn: turn.number)
        later, wanted = islice(self._arrived, first, None), set(runs)
        return list(islice((turn for turn in later if not wanted or turn.run in wanted), limit))

    async def last_arrival(self) -> int:
        """The number of the last turn."""
        return self._last_arrival

    async def arrives(self, after: int, timeout: float) -> bool:  # noqa: ASYNC109  as the seam says
        """Wait for a turn of any run."""
        return await self._waiters.until(ANY, lambda: self.arrived(after, 1), timeout)

    async def run(self, name: str) -> Run:
        """A run by id, beginning or `@last`."""
        if name == LAST and self._runs:
            return self._newest()[0].run
        if name in self._runs:
            return self._runs[name].run
        found = [held.run for id_, held in self._runs.items() if name and id_.startswith(name)]
        if len(found) > 1:
            raise Ambiguous(f"{len(found)} runs begin with {name}", "write more of the id")
        if not found:
            raise UnknownRun(f"there is no run {name}")
        return found[0]

    async def runs(self, where: Filter | None = None, before: int | None = None, limit: int = 50) -> list[Run]:
        """Runs, newest first."""
        fits = _fits(where or Filter())
        found = (held.run for held in self._newest() if before is None or held.number < before)
        return list(islice(filter(fits, found), limit))

    async def due(self, now: int, limit: int = 100) -> list[Run]:
        """Runs whose time has come."""
        times = [(run.summary.wake_at, run.number, run) for held in self._runs.values() if (run := held.run)]
        found = sorted((at, number, run) for at, number, run in times if at is not None and at <= now)
        return [run for _, _, run in found[:limit]]

    async def questions(
        self, run: str | None = None, *, answered: bool = False, after: int = 0, limit: int = 50
    ) -> list[Question]:
        """Questions in the order of asking."""
        found = (each for each in self._questions.values() if each.number > after and each.answered == answered)
        return list(islice((each for each in found if run in (None, each.run)), limit))

    async def artifact(self, digest: str) -> bytes:
        """The value with this digest."""
        return self.fetch(digest)

    def fetch(self, digest: str) -> bytes:
        """The value with this digest, at once."""
        if digest not in self._artifacts:
            raise UnknownArtifact(f"there is no artifact {digest}")
        return self._artifacts[digest]

    async def verify(self, run: str) -> Verdict:
        """Walk through the chain."""
        held = self._held(run)
        return judge(held.run, held.turns)

    async def export(self, run: str) -> AsyncIterator[bytes]:
        """A run as lines of JSON."""
        held = self._held(run)
        yield parcel.header(held.run)
        for digest in sorted({digest for turn in held.turns for digest in turn.marks.artifacts}):
            yield parcel.artifact_line(digest, self._artifacts[digest])
        for turn in held.turns:
            yield parcel.turn_line(run, turn)

    def _held(self, run: str) -> _Held:
        if run not in self._runs:
            raise UnknownRun(f"there is no run {run}")
        return self._runs[run]

    def _newest(self) -> Sequence[_Held]:
        return sorted(self._runs.values(), key=lambda held: -held.number)


def _fits(where: Filter) -> Callable[[Run], bool]:
    def fits(run: Run) -> bool:
        return (
            (not where.statuses or run.summary.status in where.statuses)
            and where.session in (None, run.summary.session)
            and where.parent in (None, run.summary.parent)
            and (where.since is None or run.created >= where.since)
            and where.over in (None, run.summary.over)
        )

    return fits
