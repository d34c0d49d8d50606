"""A journal that is read over HTTP. Whoever holds it sees no difference, but cannot write."""

from collections.abc import AsyncIterator, Awaitable, Iterable, Sequence
from typing import Any, Final, NoReturn, TypeVar
from urllib.parse import quote

from perdure import ports
from perdure.errors import PerdureError
from perdure.ports import Arrived, Corrupt, Entry, Filter, Question, Run, Swept, Turn, Verdict
from perdure.remote.errors import NotFromElsewhere, ServerRefused
from perdure.remote.line import Line
from perdure.remote.wire import unpacked

PAGE: Final = 1_000
"""The most that is asked for at once."""
LONGEST_WAIT: Final = 20.0
"""Seconds that one question waits; then it is asked again."""
Record = TypeVar("Record")
_KNOWN: Final = {
    each.code: each for each in vars(ports).values() if isinstance(each, type) and issubclass(each, ports.JournalError)
}
"""What a journal says of its own accord; commands know these by their class."""


class RemoteJournal:
    """Reads through a line."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def _records(self, kind: type[Record], path: str, **params: Any) -> list[Record]:
        return unpacked(await _known(self._line.get(f"/v1/journal/{path}", **params)), kind)

    async def _one(self, kind: type[Record], path: str, **params: Any) -> Record:
        return (await self._records(kind, path, **params))[0]

    # ------------------------------------------------------------ reading

    async def read(self, run: str, after: int = 0, limit: int = PAGE) -> list[Entry]:
        """A page of entries."""
        return await self._records(Entry, "entries", run=run, after=max(after, 0), limit=min(limit, PAGE))

    async def load(self, run: str) -> tuple[Run, list[Entry]]:
        """A run with all its entries; its server has looked at them first."""
        found, verdict = await self.run(run), await self.verify(run)
        if verdict.bad_seq is not None:
            raise Corrupt(f"entry {verdict.bad_seq} of {run} cannot be believed: {verdict.reason}")
        entries: list[Entry] = []
        while len(entries) < found.head_seq:
            page = await self.read(run, len(entries), min(PAGE, found.head_seq - len(entries)))
            if not page:
                raise Corrupt(f"the server says that {run} has {found.head_seq} entries, and sends {len(entries)}")
            entries += page
        return found, entries

    async def grown(self, run: str, after: int, timeout: float) -> bool:  # noqa: ASYNC109  as the seam says
        """Wait for an entry."""
        return await self._waited(Entry, "entries", timeout, run=run, after=max(after, 0))

    async def arrived(self, after: int = 0, limit: int = 100, runs: Sequence[str] = ()) -> list[Arrived]:
        """A page of turns."""
        return await self._records(Arrived, "arrived", after=max(after, 0), limit=min(limit, PAGE), run=list(runs))

    async def last_arrival(self) -> int:
        """The number of the last turn."""
        return await self._one(int, "last")

    async def arrives(self, after: int, timeout: float) -> bool:  # noqa: ASYNC109  as the seam says
        """Wait for a turn."""
        return await self._waited(Arrived, "arrived", timeout, after=max(after, 0))

    async def _waited(self, kind: type[Any], path: str, left: float, **params: Any) -> bool:
        while not await self._records(kind, path, limit=1, wait=max(0.0, min(left, LONGEST_WAIT)), **params):
            left -= LONGEST_WAIT
            if left <= 0:
                return False
        return True

    async def run(self, name: str) -> Run:
        """A run by id, beginning or `@last`."""
        return await self._one(Run, "run", name=name)

    async def runs(self, where: Filter | None = None, before: int | None = None, limit: int = 50) -> list[Run]:
        """A page of runs, newest first."""
        where = where or Filter()
        narrowed = {name: getattr(where, name) for name in ("session", "parent", "since", "over")}
        most = min(limit, PAGE)
        return await self._records(Run, "runs", status=list(where.statuses), before=before, limit=most, **narrowed)

    async def due(self, now: int, limit: int = 100) -> list[Run]:
        """Runs whose time has come."""
        return await self._records(Run, "due", now=now, limit=min(limit, PAGE))

    async def questions(
        self, run: str | None = None, *, answered: bool = False, after: int = 0, limit: int = 50
    ) -> list[Question]:
        """A page of questions."""
        about = {"run": run, "answered": answered, "after": after}
        return await self._records(Question, "questions", limit=min(limit, PAGE), **about)

    async def artifact(self, digest: str) -> bytes:
        """A value."""
        return await _known(self._line.get(_artifact(digest)))

    def fetch(self, digest: str) -> bytes:
        """A value, at once."""
        try:
            return self._line.fetch(_artifact(digest))
        except ServerRefused as refusal:
            raise _known_as(refusal) from None

    async def verify(self, run: str) -> Verdict:
        """Have all that is stored of a run looked at."""
        return await self._one(Verdict, "verify", run=run)

    async def export(self, run: str) -> AsyncIterator[bytes]:
        """A run as lines of JSON."""
        try:
            async for line in self._line.lines(f"/v1/runs/{quote(run, safe='')}/export"):
                yield line
        except ServerRefused as refusal:
            raise _known_as(refusal) from None

    async def close(self) -> None:
        """Nothing is held: the line belongs to whoever opened it."""

    # ------------------------------------------------------------ writing

    def append(self, turn: Turn, *, alone: bool = False) -> Awaitable[None]:  # noqa: ARG002  the seam has it
        """Refused."""
        _refuse()

    async def take_in(self, lines: Iterable[bytes]) -> Run:  # noqa: ARG002  as above
        """Refused."""
        _refuse()

    async def begin(self, turns: Sequence[Turn]) -> Run:  # noqa: ARG002  as above
        """Refused."""
        _refuse()

    async def sweep(self, before: int, keep: int = 0) -> Swept:  # noqa: ARG002  as above
        """Refused."""
        _refuse()


def _refuse() -> NoReturn:
    raise NotFromElsewhere("a journal elsewhere is only read", "do it where the journal is")


def _artifact(digest: str) -> str:
    return f"/v1/artifacts/{quote(digest, safe='')}"


async def _known(asked: Awaitable[bytes]) -> bytes:
    try:
        return await asked
    except ServerRefused as refusal:
        raise _known_as(refusal) from None


def _known_as(refusal: ServerRefused) -> PerdureError:
    """What a journal here would have said."""
    kind = _KNOWN.get(refusal.code)
    return refusal if kind is None else kind(refusal.message, refusal.help)
