"""Turns that are committed together: checked one by one, written table by table."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from perdure.journal.chain import START, Kept, kept, seal_of
from perdure.journal.driver import Connection, Value
from perdure.journal.rows import RUN, row_of, run_of
from perdure.journal.turns import check_order
from perdure.ports import JournalError, Malformed, Run, Summary, Turn, UnknownArtifact

MOST_HEADS: Final = 10_000
INLINE: Final = 1024 * 1024
"""Larger artifacts lie in files of their own."""

_PUT_ENTRY: Final = "INSERT INTO entries (run, seq, type, at, body, hash) VALUES (?, ?, ?, ?, ?, ?)"
_PUT_RUN: Final = f"INSERT INTO runs ({RUN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608  our own columns
_SET_RUN: Final = """UPDATE runs SET head_seq = ?, head = ?, updated = ?, status = ?, goal = ?, session = ?, parent = ?,
    wake_at = ?, over = ?, counters = ? WHERE number = ?"""
_MOVE_HEAD: Final = "UPDATE runs SET head_seq = ?, head = ?, updated = ? WHERE number = ?"
_PUT_ARTIFACT: Final = "INSERT INTO artifacts (digest, size, data) VALUES (?, ?, ?) ON CONFLICT (digest) DO NOTHING"
_NAME_ARTIFACT: Final = "INSERT INTO named (run, seq, artifact) SELECT ?, ?, number FROM artifacts WHERE digest = ?"
_ASK: Final = "INSERT INTO questions (run, id, asked_seq) VALUES (?, ?, ?)"
_ANSWER: Final = "UPDATE questions SET answered_seq = ? WHERE run = ? AND id = ? AND answered_seq IS NULL"
_FIND: Final = f"SELECT {RUN} FROM runs WHERE id = ?"  # noqa: S608  our own columns
_LAST_HASH: Final = "SELECT hash FROM entries WHERE run = ? AND seq = ?"


@dataclass(frozen=True, slots=True)
class Head:
    """Where a run stands."""

    run: Run
    last: bytes
    """The hash of its last turn."""


class Heads:
    """Where runs stand, as far as the writer remembers; the rest is looked up."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._known: OrderedDict[str, Head] = OrderedDict()
        self.next_number: int = (db.execute("SELECT max(number) FROM runs").fetchone()[0] or 0) + 1

    def find(self, run: str) -> Head | None:
        """The head of a run, if there is such a run."""
        if run in self._known:
            self._known.move_to_end(run)
            return self._known[run]
        row = self._db.execute(_FIND, (run,)).fetchone()
        if row is None:
            return None
        found = run_of(row)
        last = self._db.execute(_LAST_HASH, (found.number, found.head_seq)).fetchone()
        return Head(found, last[0] if last and last[0] else START)

    def adopt(self, heads: dict[str, Head]) -> None:
        """Remember what was committed."""
        self._known.update(heads)
        self.next_number = max(self.next_number, *(head.run.number + 1 for head in heads.values()))
        while len(self._known) > MOST_HEADS:
            self._known.popitem(last=False)

    def forget(self) -> None:
        """Look everything up again."""
        self._known.clear()


class Batch:
    """What one commit writes."""

    def __init__(self, heads: Heads) -> None:
        self._old = heads
        self.heads: dict[str, Head] = {}
        self.size = 0
        self._begun: set[str] = set()
        self._shown: set[str] = set()
        self._entries: list[tuple[Value, ...]] = []
        self._artifacts: list[tuple[Value, ...]] = []
        self._named: list[tuple[Value, ...]] = []
        self._asked: list[tuple[Value, ...]] = []
        self._answered: list[tuple[Value, ...]] = []

    def add(self, turn: Turn) -> JournalError | None:
        """Take a turn, or say why not."""
        try:
            head = self.heads.get(turn.run) or self._old.find(turn.run)
            check_order(turn, head.run.head_seq if head else 0)
        except JournalError as error:
            return error
        self._take(turn, head or self._begin(turn))
        return None

    def _begin(self, turn: Turn) -> Head:
        number = self._old.next_number + len(self._begun)
        self._begun.add(turn.run)
        at = turn.entries[0].at
        return Head(Run(turn.run, number, 0, "", at, at, turn.summary or Summary("")), START)

    def _take(self, turn: Turn, head: Head) -> None:
        stored = kept(turn, head.last)
        number, final = head.run.number, stored.rows[-1]
        self._entries.extend((number, row.seq, row.type, row.at, row.body, row.hash) for row in stored.rows)
        self.size += sum(len(row.body) for row in stored.rows)
        self._take_marks(turn, stored, number)
        run = replace(head.run, head_seq=final.seq, updated=final.at, summary=turn.summary or head.run.summary)
        last = final.hash or START
        self.heads[turn.run] = Head(replace(run, head=seal_of(run, last)), last)
        if turn.summary is not None:
            self._shown.add(turn.run)

    def _take_marks(self, turn: Turn, stored: Kept, number: int) -> None:
        seq = stored.rows[-1].seq
        for artifact in turn.artifacts:
            if artifact.data is not None:
                data = artifact.data if len(artifact.data) <= INLINE else None
                self.size += len(data or b"")
                self._artifacts.append((bytes.fromhex(artifact.digest), len(artifact.data), data))
        self._named.extend((number, seq, bytes.fromhex(digest)) for digest in stored.artifacts)
        self._asked.extend((number, question, seq) for question in stored.asked)
        self._answered.extend((seq, number, question) for question in stored.answered)

    def write(self, db: Connection) -> None:
        """Write all of it, inside a transaction."""
        db.executemany(_PUT_ENTRY, self._entries)
        for run, head in self.heads.items():
            self._write_run(db, run, row_of(head.run))
        if self._artifacts:
            db.executemany(_PUT_ARTIFACT, self._artifacts)
        _all(db, _NAME_ARTIFACT, self._named, lambda: UnknownArtifact("the turn names an artifact that is not there"))
        if self._asked:
            db.executemany(_ASK, self._asked)
        _all(db, _ANSWER, self._answered, lambda: Malformed("the turn answers a question that is not open"))

    def _write_run(self, db: Connection, run: str, row: tuple[Value, ...]) -> None:
        number, _, head_seq, head, _, updated, *shown = row
        if run in self._begun:
            db.execute(_PUT_RUN, row)
        elif run in self._shown:
            db.execute(_SET_RUN, (head_seq, head, updated, *shown, number))
        else:
            db.execute(_MOVE_HEAD, (head_seq, head, updated, number))


def _all(db: Connection, sql: str, rows: list[tuple[Value, ...]], otherwise: Callable[[], JournalError]) -> None:
    """Do a statement that must change exactly one row each time."""
    if rows and db.executemany(sql, rows).rowcount != len(rows):
        raise otherwise()
