"""Turns that are committed together: checked one by one, written table by table."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.journal.chain import NO_MARKS, START, Marks, hash_of, marks_of, seal_of, shown_of
from perdure.journal.driver import Connection, Value
from perdure.journal.rows import RUN, run_of, shown_in
from perdure.journal.turns import check_order
from perdure.ports import JournalError, Malformed, Summary, Turn, UnknownArtifact

MOST_HEADS: Final = 10_000
INLINE: Final = 1024 * 1024
"""Larger artifacts lie in files of their own."""

_PUT_ENTRY: Final = "INSERT INTO entries (run, seq, type, at, body, hash) VALUES (?, ?, ?, ?, ?, ?)"
_PUT_RUN: Final = f"INSERT INTO runs ({RUN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608  our own columns
_SHOW_RUN: Final = """UPDATE runs SET status = ?, goal = ?, session = ?, parent = ?, wake_at = ?, over = ?, counters = ?
    WHERE number = ?"""
_MOVE_HEAD: Final = "UPDATE runs SET head_seq = ?, head = ?, updated = ? WHERE number = ?"
_PUT_ARTIFACT: Final = "INSERT INTO artifacts (digest, size, data) VALUES (?, ?, ?) ON CONFLICT (digest) DO NOTHING"
_NAME_ARTIFACT: Final = "INSERT INTO named (run, seq, artifact) SELECT ?, ?, number FROM artifacts WHERE digest = ?"
_ASK: Final = "INSERT INTO questions (run, id, asked_seq) VALUES (?, ?, ?)"
_ANSWER: Final = "UPDATE questions SET answered_seq = ? WHERE run = ? AND id = ? AND answered_seq IS NULL"
_FIND: Final = f"SELECT {RUN} FROM runs WHERE id = ?"  # noqa: S608  our own columns
_LAST_HASH: Final = "SELECT hash FROM entries WHERE run = ? AND seq = ?"
Rows = list[tuple[Value, ...]]


@dataclass(slots=True)
class Head:
    """Where a run stands."""

    number: int
    created: int
    seq: int
    updated: int
    last: bytes
    """The hash of its last turn."""
    shown: bytes
    """Its summary, as the seal covers it."""

    def copy(self) -> "Head":
        """The same, to be moved on without touching this one."""
        return Head(self.number, self.created, self.seq, self.updated, self.last, self.shown)

    @property
    def seal(self) -> bytes:
        """What is stored beside the run."""
        return seal_of(self.shown, self.seq, self.created, self.updated, self.last)


class Heads:
    """Where runs stand, as far as the writer remembers; the rest is looked up."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._known: OrderedDict[str, Head] = OrderedDict()
        self.next_number: int = (db.execute("SELECT max(number) FROM runs").fetchone()[0] or 0) + 1

    def find(self, run: str) -> Head | None:
        """The head of a run, if there is such a run."""
        return self._known.get(run) or self._looked_up(run)

    def _looked_up(self, run: str) -> Head | None:
        row = self._db.execute(_FIND, (run,)).fetchone()
        if row is None:
            return None
        found = run_of(row)
        last = self._db.execute(_LAST_HASH, (found.number, found.head_seq)).fetchone()
        shown = shown_of(run, found.summary)
        return Head(found.number, found.created, found.head_seq, found.updated, (last and last[0]) or START, shown)

    def adopt(self, heads: dict[str, Head], begun: int) -> None:
        """Remember what was committed."""
        self.next_number += begun
        for run, head in heads.items():
            self._known[run] = head
            self._known.move_to_end(run)
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
        self.begun: set[str] = set()
        self.size = 0
        self._shown: dict[str, Summary] = {}
        self._entries: Rows = []
        self._artifacts: Rows = []
        self._named: Rows = []
        self._asked: Rows = []
        self._answered: Rows = []

    def add(self, turn: Turn) -> JournalError | None:
        """Take a turn, or say why not."""
        head = self.heads.get(turn.run)
        if head is None and (known := self._old.find(turn.run)):
            head = known.copy()
        try:
            check_order(turn, head.seq if head else 0)
        except JournalError as error:
            return error
        self._take(turn, head or self._begin(turn))
        return None

    def _begin(self, turn: Turn) -> Head:
        number, at = self._old.next_number + len(self.begun), turn.entries[0].at
        self.begun.add(turn.run)
        return Head(number, at, 0, at, START, b"")

    def _take(self, turn: Turn, head: Head) -> None:
        marks, last = marks_of(turn), turn.entries[-1]
        head.last, head.seq, head.updated = hash_of(turn.run, turn.entries, marks, head.last), last.seq, last.at
        if turn.summary is not None:
            head.shown = shown_of(turn.run, turn.summary)
            self._shown[turn.run] = turn.summary
        self.heads[turn.run] = head
        self._take_entries(turn, head)
        if marks is not NO_MARKS:
            self._take_marks(turn, marks, head)

    def _take_entries(self, turn: Turn, head: Head) -> None:
        last = turn.entries[-1]
        for entry in turn.entries:
            self.size += len(entry.body)
            hash_ = head.last if entry is last else None
            self._entries.append((head.number, entry.seq, entry.type, entry.at, entry.body, hash_))

    def _take_marks(self, turn: Turn, marks: Marks, head: Head) -> None:
        for artifact in turn.artifacts:
            if artifact.data is not None:
                data = artifact.data if len(artifact.data) <= INLINE else None
                self.size += len(data or b"")
                self._artifacts.append((bytes.fromhex(artifact.digest), len(artifact.data), data))
        self._named.extend((head.number, head.seq, bytes.fromhex(digest)) for digest in marks.artifacts)
        self._asked.extend((head.number, question, head.seq) for question in marks.asked)
        self._answered.extend((head.seq, head.number, question) for question in marks.answered)

    def write(self, db: Connection) -> None:
        """Write all of it, inside a transaction."""
        db.executemany(_PUT_ENTRY, self._entries)
        self._write_runs(db)
        _do(db, _PUT_ARTIFACT, self._artifacts)
        _all(db, _NAME_ARTIFACT, self._named, lambda: UnknownArtifact("the turn names an artifact that is not there"))
        _do(db, _ASK, self._asked)
        _all(db, _ANSWER, self._answered, lambda: Malformed("the turn answers a question that is not open"))

    def _write_runs(self, db: Connection) -> None:
        born, shown, moved = Rows(), Rows(), Rows()
        for run, head in self.heads.items():
            if run in self.begun:
                head_columns = (head.number, run, head.seq, head.seal, head.created, head.updated)
                born.append((*head_columns, *shown_in(self._shown[run])))
                continue
            moved.append((head.seq, head.seal, head.updated, head.number))
            if run in self._shown:
                shown.append((*shown_in(self._shown[run]), head.number))
        for sql, rows in ((_PUT_RUN, born), (_SHOW_RUN, shown), (_MOVE_HEAD, moved)):
            _do(db, sql, rows)


def _do(db: Connection, sql: str, rows: Sequence[tuple[Value, ...]]) -> None:
    if rows:
        db.executemany(sql, rows)


def _all(db: Connection, sql: str, rows: Rows, otherwise: Callable[[], JournalError]) -> None:
    """Do a statement that must change exactly one row each time."""
    if rows and db.executemany(sql, rows).rowcount != len(rows):
        raise otherwise()
