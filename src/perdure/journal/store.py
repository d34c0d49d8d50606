"""The writing side of a file. One thread owns it; whatever it acknowledges is on the disk."""

import logging
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from perdure.journal.ballast import Ballast
from perdure.journal.batch import PAGE, Batch, Heads
from perdure.journal.driver import Connection, Result, all_or_nothing
from perdure.journal.faults import is_of_tables, no_memory, suspect, told
from perdure.journal.fence import check_owner, take_over
from perdure.journal.head import MOST_ENTRIES, place_of
from perdure.journal.log import LIMIT, PATIENCE, Log
from perdure.journal.memories import Index, put, take_away, take_away_outcomes
from perdure.journal.objects import Objects
from perdure.journal.rows import LAST
from perdure.ports import (
    AlreadyThere,
    Corrupt,
    DiskFull,
    JournalError,
    Malformed,
    Memory,
    NoMemory,
    Suspect,
    Turn,
    UnknownArtifact,
    UnknownMemory,
)

_PRAGMAS: Final = (
    "journal_mode = WAL",
    "synchronous = FULL",
    f"busy_timeout = {PATIENCE}",
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "mmap_size = 0",
    f"journal_size_limit = {LIMIT}",
    "wal_autocheckpoint = 0",  # after an acknowledgement, not before it
)
_BLAME: Final = (Malformed, UnknownArtifact, sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError)
"""Errors that a single turn brings upon itself."""
_GIVEN: Final = "UPDATE given SET run = ?, arrival = ?"
_FORGET_ARRIVALS: Final = """DELETE FROM arrivals WHERE number > ? AND number <= ?
    AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.place = arrivals.place)"""
NUMBERS: Final = 20_000
"""Arrivals that are looked at in one commit."""
WORDS: Final = 1024
"""About how much the log grows with the words of a memory."""
_log: Final = logging.getLogger("perdure.journal")


class Store:
    """Commits turns to a file that this process owns."""

    def __init__(self, path: Path, db: Connection) -> None:
        for pragma in _PRAGMAS:
            db.execute(f"PRAGMA {pragma}").fetchall()
        self._db = db
        self._log = Log(path, db)
        self._doubt: Suspect | None = None
        self._ballast = Ballast(path)
        self._objects = Objects(path)
        self._token = take_over(db)
        self._heads = Heads(db)
        self._index = Index(db)
        self._ballast.take()

    def _owned(self, work: Callable[[], Result]) -> Result:
        """A transaction of the owner. A process that was stopped for a while may have lost the file meanwhile."""
        if self._doubt:
            raise self._doubt

        def fenced() -> Result:
            check_owner(self._db, self._token)
            return work()

        return all_or_nothing(self._db, fenced)

    def commit(self, turns: Sequence[Turn]) -> list[JournalError | None]:
        """Keep turns in one commit; for each one, what was wrong with it. A bad one does not touch the others."""
        try:
            return self._together(turns)
        except Exception as error:  # noqa: BLE001  whatever it is, those who wait are told
            if len(turns) > 1 and isinstance(error, _BLAME):
                return [outcome for turn in turns for outcome in self.commit([turn])]
            if any(turn.memories for turn in turns) and _may_be_of_memories(error):
                return self._without_memories(turns, error)
            return [self._failed(error)] * len(turns)

    def _without_memories(self, turns: Sequence[Turn], error: Exception) -> list[JournalError | None]:
        """What cannot be remembered harms no run."""
        outcomes = self.commit([replace(turn, memories=()) for turn in turns])
        if None in outcomes:
            _log.warning("some runs are over and not remembered: %s", error)
        return outcomes

    def _together(self, turns: Sequence[Turn]) -> list[JournalError | None]:
        if self._doubt:
            raise self._doubt
        batch = Batch(self._db, self._objects, self._heads, self._token)
        outcomes = all_or_nothing(self._db, batch.write, turns)
        self._heads.adopt(batch.heads, batch.begun, len(batch.arrived))
        self._log.written += batch.size
        self._index.waits |= batch.remembered
        return outcomes

    def _failed(self, error: Exception) -> JournalError:
        """What an error means from now on."""
        if isinstance(error, _BLAME) and not isinstance(error, JournalError):
            return Malformed(f"the turn contradicts what is stored: {error}")
        found = told(error)
        if isinstance(found, DiskFull):
            self._ballast.give_up()
        if isinstance(found, Suspect | Corrupt):
            found = self._doubt = found if isinstance(found, Suspect) else suspect(error)
        return found

    def guarded(self, work: Callable[[], Result]) -> Result:
        """Do some other work on the file; its errors mean the same as those of a commit."""
        try:
            return work()
        except Exception as error:
            raise self._failed(error) from error

    def take_in(self, turns: Sequence[Turn]) -> None:
        """Keep the turns of a whole run in one commit."""
        if self._heads.find(turns[0].run):
            raise AlreadyThere(f"there is a run {turns[0].run} already", "an exported run keeps its id")
        for outcome in self._together(turns):
            if outcome:
                raise outcome

    # ------------------------------------------------------------ retention

    def forget_runs(self, before: int, keep: int, most: int) -> int:
        """Forget some runs that are over and old; how many."""
        found = f"""SELECT number FROM runs LEFT JOIN turns ON place = {LAST}
            WHERE over = 1 AND coalesce(at, created) < ? AND number <= coalesce(
            (SELECT number FROM runs WHERE over = 1 ORDER BY number DESC LIMIT 1 OFFSET ?), -1) LIMIT ?"""  # noqa: S608  our own words

        def forget() -> int:
            numbers = self._db.execute(found, (before, keep, most)).fetchall()
            self._db.execute(_GIVEN, (self._heads.next_number - 1, self._heads.next_arrival - 1))
            turns = [(place_of(number, 0), place_of(number, MOST_ENTRIES)) for (number,) in numbers]
            self._db.executemany("DELETE FROM turns WHERE place BETWEEN ? AND ?", turns)
            for table, column in (("named", "run"), ("questions", "run"), ("runs", "number")):
                self._db.executemany(f"DELETE FROM {table} WHERE {column} = ?", numbers)  # noqa: S608  our own names
            return len(numbers)

        self._heads.forget()
        return self._owned(forget)

    def forget_arrivals(self, after: int) -> int | None:
        """Forget numbers of turns that are gone, some at a time; up to which one was looked, None if that was all."""
        upto = min(after + NUMBERS, self._heads.next_arrival - 1)
        self._owned(lambda: self._db.execute(_FORGET_ARRIVALS, (after, upto)))
        return upto if after < upto else None

    def forget_artifacts(self) -> int:
        """Forget artifacts that no run names."""
        sql = "DELETE FROM artifacts WHERE number NOT IN (SELECT artifact FROM named)"
        gone = self._owned(lambda: self._db.execute(sql).rowcount)
        rows = self._db.execute("SELECT digest FROM artifacts WHERE data IS NULL").fetchall()
        self._objects.keep_only({digest.hex() for (digest,) in rows})
        return gone

    def shrink(self, pages: int) -> bool:
        """Give some room back to the disk; whether there is more."""
        self._owned(lambda: self._db.execute(f"PRAGMA incremental_vacuum({pages})").fetchall())
        self._log.written += pages * PAGE
        return bool(self._db.execute("PRAGMA freelist_count").fetchone()[0])

    # ------------------------------------------------------------ memories

    def _apart(self, work: Callable[[], Result]) -> Result:
        """A transaction of memories: if their tables are broken, nothing else is in doubt."""
        try:
            return self._owned(work)
        except Exception as error:
            if is_of_tables(error):
                raise no_memory(error) from error
            raise

    def remember(self, memory: Memory) -> None:
        """Keep a memory."""
        self._apart(lambda: put(self._db, [memory]))
        self._index.waits = True
        self._log.written += 4 * PAGE

    @property
    def words_wait(self) -> bool:
        """Whether there may be memories whose words are not in the index yet."""
        return self._index.waits

    def catch_up(self, most: int) -> bool:
        """Bring words of memories in; whether there may be more. A broken index is made anew."""
        try:
            found = self._apart(lambda: self._index.catch_up(most))
        except NoMemory:
            self.drop_words()
            found = self._apart(lambda: self._index.catch_up(most))
        self._index.waits = found == most
        self._log.written += found * WORDS
        return self.words_wait

    def drop_words(self) -> None:
        """Have the index made anew. `NoMemory` if it is so broken that it cannot even be thrown away."""
        self._apart(self._index.drop)
        self._index.waits = True

    def forget_memory(self, memory: str) -> None:
        """Forget a memory."""
        number = self._apart(lambda: take_away(self._db, memory))
        if number is None:
            raise UnknownMemory(f"there is no memory {memory}", "list them with `perdure memory ls`")
        self._take_out([number])

    def forget_outcomes(self) -> None:
        """Forget how runs ended that are gone."""
        try:
            self._take_out(self._apart(lambda: take_away_outcomes(self._db, "SELECT id FROM runs")))
        except NoMemory as error:
            _log.warning("how forgotten runs ended is still remembered: %s", error)

    def _take_out(self, numbers: Sequence[int]) -> None:
        """Words without a row are not found any more; that they are still there harms nobody."""
        with suppress(NoMemory):
            self._apart(lambda: self._index.take_out(numbers))

    # ------------------------------------------------------------ care

    @property
    def wants_care(self) -> bool:
        """Whether there is something to tend."""
        return self._log.wants_care or not self._ballast.held

    def tend(self) -> None:
        """After a commit, when nobody waits: see to the log, and hold some room back."""
        if not self._ballast.held:
            self._ballast.take()
        self._log.tend()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


def _may_be_of_memories(error: Exception) -> bool:
    """Whether a turn may be kept if nothing has to be remembered of it. What fails otherwise fails again."""
    return is_of_tables(error) or isinstance(told(error), DiskFull)
