"""The reading side of a file: short connections that hold nothing up, in any process, at any time."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final, TypeVar

from perdure.journal import parcel, recalling
from perdure.journal.chain import Kept, digest_of, judge
from perdure.journal.driver import Connect, Connection, Value
from perdure.journal.faults import is_of_tables, no_memory, told
from perdure.journal.head import MOST_ENTRIES, place_of
from perdure.journal.objects import Objects
from perdure.journal.packing import page_of, unpack
from perdure.journal.rows import RUNS, Gathering, Row, run_of
from perdure.journal.schema import version
from perdure.ports import (
    LAST,
    Ambiguous,
    Arrived,
    Corrupt,
    DiskFull,
    Entry,
    Filter,
    JournalError,
    Memory,
    NoJournal,
    Older,
    Question,
    ReadOnlyDisk,
    Run,
    Suspect,
    UnknownArtifact,
    UnknownRun,
    Verdict,
)

PAGE: Final = 250
"""Turns that are read at once; between two pages no snapshot is held."""
Found = TypeVar("Found")
REMEMBERING: Final = 2
"""The version of a journal that first had memories; an older one is read as it is."""
ARRIVING: Final = 4
"""The version that first had an order over all runs."""
MOST_NUMBER: Final = 2**63 - 1
"""SQLite knows no higher ones."""
_TURNS: Final = f"""SELECT seq, at, body FROM runs JOIN turns ON place > (number << 32) + ?
    AND place <= (number << 32) + {MOST_ENTRIES} WHERE id = ? ORDER BY place LIMIT ?"""  # noqa: S608  our own number
_ROWS: Final = (
    "SELECT seq, at, body, hash, seal NOT NULL FROM turns WHERE place > ? AND place <= ? ORDER BY place LIMIT ?"
)
_RUN: Final = f"{RUNS} WHERE number = (SELECT number FROM runs WHERE id = ?)"  # noqa: S608  our own columns
"""The row itself, also where an index has the id."""
_MARKS: Final = (
    """SELECT CASE WHEN run = +?1 THEN seq ELSE 0 END AS seq, coalesce(lower(hex(digest)), '')
        FROM named LEFT JOIN artifacts ON artifacts.number = artifact WHERE run = ?1 ORDER BY 1, digest""",
    """SELECT CASE WHEN run = +?1 THEN asked_seq ELSE 0 END, id FROM questions
        WHERE number IN (SELECT number FROM questions WHERE run = ?1) ORDER BY 1, id""",
    """SELECT CASE WHEN run = +?1 THEN answered_seq ELSE 0 END, id FROM questions
        WHERE number IN (SELECT number FROM questions WHERE run = ?1) AND answered_seq IS NOT NULL ORDER BY 1, id""",
)
"""What turns of a run name. Rows are found by an index; one that says itself that it is another run's is of no turn."""
_ARRIVED: Final = """SELECT arrivals.number, id, seq, turns.at, body FROM arrivals CROSS JOIN turns USING (place)
    CROSS JOIN runs ON runs.number = run WHERE arrivals.number > ?"""
"""`CROSS JOIN` keeps to the order of arrivals, however many runs there are."""
_OF_RUNS: Final = "AND place >> 32 IN (SELECT number FROM runs WHERE id IN"
_LAST_ARRIVAL: Final = "SELECT max(arrival, coalesce((SELECT max(number) FROM arrivals), 0)) FROM given"
_QUESTIONS: Final = """SELECT runs.id, questions.id, questions.number, at, answered_seq IS NOT NULL FROM questions
    JOIN runs ON runs.number = questions.run JOIN turns ON place = (questions.run << 32) + asked_seq
    WHERE questions.number > ?"""


@dataclass(frozen=True)
class _Stored:
    """A run at one moment; later turns are not there yet."""

    run: Run
    artifacts: list[tuple[int, str]]
    asked: list[tuple[int, str]]
    answered: list[tuple[int, str]]

    def turns(self, db: Connection) -> Iterator[Kept]:
        """What is stored, page by page: what was written once does not change."""
        return Gathering(self.artifacts, self.asked, self.answered).turns(self._rows(db))

    def _rows(self, db: Connection) -> Iterator[Row]:
        place, last = (place_of(self.run.number, seq) for seq in (0, self.run.head_seq))
        while rows := db.execute(_ROWS, (place, last, PAGE)).fetchall():
            yield from rows
            place = place_of(self.run.number, rows[-1][0])


def _stored(db: Connection, run: str) -> _Stored:
    db.execute("BEGIN")
    try:
        row = db.execute(_RUN, (run,)).fetchone()
        if row is None:
            raise UnknownRun(f"there is no run {run}")
        found = run_of(row)
        return _Stored(found, *(db.execute(sql, (found.number,)).fetchall() for sql in _MARKS))
    finally:
        db.execute("ROLLBACK")


class Reader:
    """Answers questions about a file. Every method opens the file, looks, and lets go."""

    def __init__(self, path: Path, connect: Connect) -> None:
        self._path = path
        self._connect = connect
        self._objects = Objects(path)

    @contextmanager
    def _open(self) -> Generator[Connection]:
        db = None
        try:
            db = self._connected()
            yield db
        except JournalError:
            raise
        except Exception as error:
            raise told(error) from error
        finally:
            if db:
                db.close()

    def _connected(self) -> Connection:
        if not self._path.is_file():
            raise NoJournal(f"there is no journal {self._path}", "start a run first, or name another one with --db")
        db = self._connect(self._path, "ro")
        try:
            db.execute("SELECT token FROM owner").fetchone()
        except Exception as error:
            try:
                _check_whose(db, told(error))
            finally:
                db.close()
            if not isinstance(told(error), ReadOnlyDisk | DiskFull) or self._log_is_needed():
                raise
            # The log could not be made, and a writer would have one. The next look decides anew.
            return self._connect(self._path, "immutable")
        return db

    def _log_is_needed(self) -> bool:
        log = self._path.with_name(f"{self._path.name}-wal")
        return log.is_file() and log.stat().st_size > 0

    def check(self) -> int:
        """The version of the journal; raises unless it is one that can be read."""
        with self._open() as db:
            return version(db)

    def flaws(self, most: int) -> list[str]:
        """What SQLite finds wrong with the pages of the file."""
        with self._open() as db:
            found = [text for (text,) in db.execute(f"PRAGMA quick_check({most})").fetchall()]
        return [] if found == ["ok"] else found

    # ------------------------------------------------------------ entries

    def entries(self, run: str, after: int, limit: int) -> list[Entry]:
        """A page of a run."""
        with self._open() as db:
            found = db.execute(_TURNS, (min(max(after, 0), MOST_ENTRIES), run, limit))
            return page_of(run, iter(found.fetchone, None), after, limit)

    def load(self, run: str) -> tuple[Run, list[Entry]]:
        """A run with its entries, as far as they can be believed: to the end, or not at all."""
        entries: list[Entry] = []
        with self._open() as db:
            stored = _stored(db, run)
            verdict = judge(stored.run, stored.turns(db), entries.extend)
        if verdict.bad_seq is not None:
            raise Corrupt(
                f"entry {verdict.bad_seq} of {run} cannot be believed: {verdict.reason}",
                "nothing was resumed; restore a copy, or read what comes before",
            )
        return stored.run, entries

    def verify(self, run: str) -> Verdict:
        """Walk through the chain, then through the artifacts."""
        with self._open() as db:
            stored = _stored(db, run)
            verdict = judge(stored.run, stored.turns(db))
            return verdict if verdict.bad_seq is not None else self._judge_artifacts(db, stored)

    def _judge_artifacts(self, db: Connection, stored: _Stored) -> Verdict:
        run = stored.run
        for seq, digest in stored.artifacts:
            try:
                self._artifact(db, digest)
            except (Corrupt, UnknownArtifact) as error:
                return Verdict(run.id, run.head_seq, seq, error.message)
        return Verdict(run.id, run.head_seq)

    def export(self, run: str) -> Generator[bytes]:
        """A run as lines."""
        with self._open() as db:
            stored = _stored(db, run)
            yield parcel.header(stored.run)
            for digest in sorted({digest for _, digest in stored.artifacts}):
                yield parcel.artifact_line(digest, self._artifact(db, digest))
            yield from (parcel.turn_line(run, turn) for turn in stored.turns(db))

    def artifact(self, digest: str) -> bytes:
        """A value, hashed again."""
        with self._open() as db:
            return self._artifact(db, digest)

    def _artifact(self, db: Connection, digest: str) -> bytes:
        key = bytes.fromhex(digest) if len(digest) == 64 else b""  # noqa: PLR2004  the length of a digest
        row = db.execute("SELECT size, data FROM artifacts WHERE digest = ?", (key,)).fetchone()
        if row is None:
            raise UnknownArtifact(f"there is no artifact {digest}")
        size, data = row
        data = self._objects.get(digest) if data is None else data
        if data is None or len(data) != size or digest_of(data) != digest:
            raise Corrupt(f"artifact {digest} is not what was written")
        return data

    # ------------------------------------------------------------ over all runs

    def arrived(self, after: int, limit: int, runs: Sequence[str]) -> list[Arrived]:
        """A page of turns of all runs, or of some."""
        which = f"{_OF_RUNS} ({', '.join('?' * len(runs))}))" if runs else ""
        sql = f"{_ARRIVED} {which} ORDER BY arrivals.number LIMIT ?"
        with self._in_order() as db:
            rows = db.execute(sql, (min(max(after, 0), MOST_NUMBER), *runs, limit)).fetchall()
        return [Arrived(number, run, _readable(run, *turn)) for number, run, *turn in rows]

    def last_arrival(self) -> int:
        """The number of the last turn, also if it is gone."""
        with self._in_order() as db:
            return db.execute(_LAST_ARRIVAL).fetchone()[0]

    @contextmanager
    def _in_order(self) -> Generator[Connection]:
        with self._open() as db:
            if version(db) < ARRIVING:
                raise Older(
                    "the journal was written by an older release, which kept no order over its runs",
                    "any command that writes it brings it forward, such as `perdure gc`",
                )
            yield db

    # ------------------------------------------------------------ listings

    def run(self, name: str) -> Run:
        """A run by id, beginning or `@last`."""
        with self._open() as db:
            if name == LAST:
                rows = db.execute(f"{RUNS} ORDER BY number DESC LIMIT 1").fetchall()
            else:
                sql = f"{RUNS} WHERE id >= ? AND id < ? ORDER BY id LIMIT 2"
                rows = db.execute(sql, (name, f"{name}\U0010ffff")).fetchall() if name.isprintable() and name else []
        if not rows:
            raise UnknownRun(f"there is no run {name}")
        found = run_of(rows[0])
        if len(rows) > 1 and found.id != name:
            raise Ambiguous(f"more than one run begins with {name}", "write more of the id")
        return found

    def runs(self, where: Filter, before: int | None, limit: int) -> list[Run]:
        """A page of runs, newest first."""
        conditions = list(_conditions(where, before))
        tests = " AND ".join(["TRUE", *(test for test, _ in conditions)])
        values = chain.from_iterable(values for _, values in conditions)
        with self._open() as db:
            sql = f"{RUNS} WHERE {tests} ORDER BY number DESC LIMIT ?"
            return [run_of(row) for row in db.execute(sql, (*values, limit)).fetchall()]

    def due(self, now: int, limit: int) -> list[Run]:
        """Runs whose time has come."""
        with self._open() as db:
            sql = f"{RUNS} WHERE wake_at <= ? ORDER BY wake_at, number LIMIT ?"
            return [run_of(row) for row in db.execute(sql, (now, limit)).fetchall()]

    def questions(self, run: str | None, after: int, limit: int, *, answered: bool) -> list[Question]:
        """A page of questions."""
        which = "AND answered_seq IS NOT NULL" if answered else "AND answered_seq IS NULL"
        whose, values = ("AND runs.id = ?", (run,)) if run is not None else ("", ())
        with self._open() as db:
            sql = f"{_QUESTIONS} {which} {whose} ORDER BY questions.number LIMIT ?"
            rows = db.execute(sql, (after, *values, limit)).fetchall()
        return [Question(run_id, id_, number, at, bool(done)) for run_id, id_, number, at, done in rows]

    # ------------------------------------------------------------ memories

    def search(self, text: str, kinds: Sequence[str], limit: int) -> list[Memory]:
        """Memories by their words."""
        return self._recalled(lambda db: recalling.search(db, text, kinds, limit), [])

    def memories(self, kinds: Sequence[str], before: int | None, limit: int) -> list[Memory]:
        """A page of memories, newest first."""
        return self._recalled(lambda db: recalling.page(db, kinds, before, limit), [])

    def remembered(self) -> tuple[int, int]:
        """How many memories there are, and how many of them cannot be found yet; `NoMemory` if none can."""
        return self._recalled(recalling.counted, (0, 0))

    def _recalled(self, look: Callable[[Connection], Found], nothing: Found) -> Found:
        with self._open() as db:
            try:
                return look(db) if version(db) >= REMEMBERING else nothing
            except Exception as error:
                if is_of_tables(error):
                    raise no_memory(error) from error
                raise


def _readable(run: str, seq: int, at: int, body: bytes) -> tuple[Entry, ...]:
    """The entries of a turn. One that cannot be read ends nothing for those who follow other runs."""
    try:
        return tuple(unpack(run, seq, at, body))
    except Corrupt:
        return ()


def _check_whose(db: Connection, error: JournalError) -> None:
    """Where doubt comes from the database of another program, which has no such tables, say that instead."""
    if isinstance(error, Suspect):
        version(db)


def _conditions(where: Filter, before: int | None) -> Iterator[tuple[str, Sequence[Value]]]:
    """The tests of a listing. Their texts stand here; what a caller says is only ever a parameter."""
    if before is not None:
        yield "number < ?", [before]
    if where.statuses:
        yield f"status IN ({', '.join('?' * len(where.statuses))})", list(where.statuses)
    if where.since is not None:
        yield "created >= ?", [where.since]
    if where.over is not None:
        yield "over = ?", [int(where.over)]
    for column, value in (("session", where.session), ("parent", where.parent)):
        if value is not None:
            yield (f"{column} = ? AND {column} <> ''" if value else f"{column} = ''"), ([value] if value else [])
