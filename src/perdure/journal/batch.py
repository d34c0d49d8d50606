"""Turns that are committed together: each one checked against the end of its run, and written."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from perdure.journal.chain import NO_MARKS, START, Marks, marks_of, name_of, shown_of
from perdure.journal.driver import Connection, Value
from perdure.journal.fence import check_owner
from perdure.journal.head import Head, begun, place_of
from perdure.journal.memories import put
from perdure.journal.objects import Objects
from perdure.journal.packing import pack
from perdure.journal.rows import RUNS, SHOWN, run_of, shown_in
from perdure.journal.turns import check_order
from perdure.ports import Artifact, JournalError, Malformed, Summary, Turn, UnknownArtifact

MOST_HEADS: Final = 10_000
INLINE: Final = 1024 * 1024
"""Larger artifacts lie in files of their own."""
PAGE: Final = 4096

_UNSEAL: Final = "UPDATE turns SET seal = NULL WHERE place = ? AND seal NOT NULL AND ? = (SELECT token FROM owner)"
_PUT_TURN: Final = "INSERT INTO turns (place, at, body, hash, seal) VALUES (?, ?, ?, ?, ?)"
_PUT_RUN: Final = f"""INSERT INTO runs (number, id, created, {SHOWN})
    SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM owner WHERE token = ?"""  # noqa: S608  our own columns
_SHOW_RUN: Final = """UPDATE runs SET status = ?, goal = ?, session = ?, parent = ?, wake_at = ?, over = ?, counters = ?
    WHERE number = ?"""
_PUT_ARTIFACT: Final = "INSERT INTO artifacts (digest, size, data) VALUES (?, ?, ?) ON CONFLICT (digest) DO NOTHING"
_NAME_ARTIFACT: Final = "INSERT INTO named (run, seq, artifact) SELECT ?, ?, number FROM artifacts WHERE digest = ?"
_ASK: Final = "INSERT INTO questions (run, id, asked_seq) VALUES (?, ?, ?)"
_ANSWER: Final = "UPDATE questions SET answered_seq = ? WHERE run = ? AND id = ? AND answered_seq IS NULL"
_ARRIVE: Final = "INSERT INTO arrivals (number, place) VALUES (?, ?)"
_NEXT: Final = """SELECT max(run, coalesce((SELECT max(number) FROM runs), 0)) + 1,
    max(arrival, coalesce((SELECT max(number) FROM arrivals), 0)) + 1 FROM given"""
_LAST_HASH: Final = "SELECT hash FROM turns WHERE place = ?"


class Heads:
    """Where runs stand, as far as the writer remembers; the rest is looked up."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._known: OrderedDict[str, Head] = OrderedDict()
        self.next_number: int
        self.next_arrival: int
        self.next_number, self.next_arrival = db.execute(_NEXT).fetchone()

    def find(self, run: str) -> Head | None:
        """The head of a run, if there is such a run."""
        return self._known.get(run) or self._looked_up(run)

    def _looked_up(self, run: str) -> Head | None:
        row = self._db.execute(f"{RUNS} WHERE id = ?", (run,)).fetchone()
        if row is None:
            return None
        found = run_of(row)
        number, seq, shown = found.number, found.head_seq, shown_of(run, found.summary)
        last = self._db.execute(_LAST_HASH, (place_of(number, seq),)).fetchone() or (START,)
        return Head(number, name_of(run), found.created, shown, seq, found.updated, *last)

    def adopt(self, heads: dict[str, Head], begun: int, arrived: int) -> None:
        """Remember what was committed."""
        self.next_number += begun
        self.next_arrival += arrived
        for run, head in heads.items():
            self._known[run] = head
            self._known.move_to_end(run)
        while len(self._known) > MOST_HEADS:
            self._known.popitem(last=False)

    def forget(self) -> None:
        """Look everything up again."""
        self._known.clear()


class Batch:
    """What one commit writes. All of it happens inside a transaction of the caller."""

    def __init__(self, db: Connection, objects: Objects, heads: Heads, token: int) -> None:
        self._db = db
        self._objects = objects
        self._old = heads
        self._token = token
        self.heads: dict[str, Head] = {}
        self.begun = 0
        self.arrived: list[tuple[int, int]] = []
        """The number of each turn that is kept, and where it lies."""
        self.size = 0
        """About how much the log grows."""
        self.remembered = False
        """Whether there are new memories."""

    def write(self, turns: Sequence[Turn]) -> list[JournalError | None]:
        """Write turns; for each one, why it was left out."""
        outcomes = [self._taken(turn) for turn in turns]
        self._do(_ARRIVE, self.arrived)
        self.size += PAGE + 16 * len(self.arrived)
        return outcomes

    def _taken(self, turn: Turn) -> JournalError | None:
        head = self.heads.get(turn.run) or self._old.find(turn.run)
        try:
            check_order(turn, head.seq if head else 0)
        except JournalError as error:
            return error
        if head is None:
            self._put(turn, self._begin(turn))
            return None
        self._unseal(head)
        self._put(turn, head)
        if turn.summary is not None:
            self._show(turn.summary, head.number)
        return None

    def _unseal(self, head: Head) -> None:
        """The seal goes on to the next turn. The same statement asks whether the file is still ours."""
        if self._db.execute(_UNSEAL, (head.place, self._token)).rowcount != 1:
            check_owner(self._db, self._token)
            raise Malformed("the turn contradicts what is stored: the end of the run is missing")

    def _begin(self, turn: Turn) -> Head:
        head = begun(self._old.next_number + self.begun, turn)
        assert turn.summary is not None  # noqa: S101  `check_order` has seen to it
        row = (head.number, turn.run, head.created, *shown_in(turn.summary), self._token)
        if self._db.execute(_PUT_RUN, row).rowcount != 1:
            check_owner(self._db, self._token)
        self.begun += 1
        self.size += 3 * PAGE
        return head

    def _put(self, turn: Turn, head: Head) -> None:
        body, marks = pack(turn.entries), marks_of(turn)
        moved = self.heads[turn.run] = head.after(turn, body, marks)
        self._db.execute(_PUT_TURN, (moved.place, moved.updated, body, moved.last, moved.seal))
        self.arrived.append((self._old.next_arrival + len(self.arrived), moved.place))
        self.size += PAGE + 3 * len(body) + 200  # its page; now and then a new one, and two that lead there
        if marks is not NO_MARKS:
            self._put_marks(turn, marks, moved)
        if turn.memories:
            put(self._db, turn.memories)
            self.remembered = True
            self.size += 4 * PAGE

    def _show(self, summary: Summary, number: int) -> None:
        self._db.execute(_SHOW_RUN, (*shown_in(summary), number))
        self.size += 2 * PAGE

    def _put_marks(self, turn: Turn, marks: Marks, head: Head) -> None:
        number, seq = head.number, head.seq
        self._do(_PUT_ARTIFACT, [self._stored(each, each.data) for each in turn.artifacts if each.data is not None])
        named = self._do(_NAME_ARTIFACT, [(number, seq, bytes.fromhex(digest)) for digest in marks.artifacts])
        if named != len(marks.artifacts):
            raise UnknownArtifact("the turn names an artifact that is not there")
        self._do(_ASK, [(number, question, seq) for question in marks.asked])
        if self._do(_ANSWER, [(seq, number, question) for question in marks.answered]) != len(marks.answered):
            raise Malformed("the turn answers a question that is not open")
        self.size += 3 * PAGE

    def _stored(self, artifact: Artifact, data: bytes) -> tuple[Value, ...]:
        """The row of an artifact. A large one is in its file before the row is committed."""
        digest = bytes.fromhex(artifact.digest)
        if len(data) > INLINE:
            self._objects.put(artifact.digest, data)
            return digest, len(data), None
        self.size += len(data)
        return digest, len(data), data

    def _do(self, sql: str, rows: Sequence[tuple[Value, ...]]) -> int:
        """Do a statement for each row; how many rows it changed."""
        return self._db.executemany(sql, rows).rowcount if rows else 0
