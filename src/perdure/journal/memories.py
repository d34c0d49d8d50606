"""What is remembered over runs: rows, and an index of their words.

A row is written with the turn that it belongs to. The index is SQLite's FTS5 and follows from the rows: words are
brought in a little later, many at once and in a transaction of their own, so that no trouble with it is trouble for a
run. An index that is missing or broken is made anew.
"""

import unicodedata
from collections.abc import Sequence
from typing import Any, Final

from perdure.journal.driver import Connection, Value
from perdure.ports import OF_RUNS, OUTCOME, TASK, Memory

LONGEST: Final = 20_000
"""Letters of a memory; it is a note and not a document, and what is longer is cut."""
AT_ONCE: Final = 1_000
"""Memories whose words are brought in by one commit."""
LEARNED: Final = "lessons_by_word"
ENDED: Final = "outcomes_by_word"
INDEXES: Final = (LEARNED, ENDED)
"""Two, because runs are many and lessons few: what ends a thousand times a day must not hide what was learned once."""
_MADE: Final = f"SELECT count(*) FROM sqlite_schema WHERE name IN ('{LEARNED}', '{ENDED}')"  # noqa: S608  our own names
COLUMNS: Final = "id, kind, CAST(text AS BLOB), CAST(about AS BLOB), run, step, said_by, at, number"
"""A memory as `memory_of` reads it. What was never well-formed Unicode is still to be read."""

_PUT: Final = """INSERT INTO memories (id, kind, text, about, run, step, said_by, at, indexed)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
    kind = excluded.kind, text = excluded.text, about = excluded.about, run = excluded.run, step = excluded.step,
    said_by = excluded.said_by, at = excluded.at, indexed = excluded.indexed
    WHERE (kind, text, about) IS NOT (excluded.kind, excluded.text, excluded.about)"""
_WAITING: Final = """SELECT number, kind, CAST(text AS BLOB), CAST(about AS BLOB) FROM memories
    WHERE indexed = 0 ORDER BY number LIMIT ?"""


def index_of(kind: str) -> str:
    """Where the words of a memory of this kind are."""
    return ENDED if kind == OUTCOME else LEARNED


def is_indexed(db: Connection) -> bool:
    """Whether there is an index at all."""
    return db.execute(_MADE).fetchone()[0] == len(INDEXES)


def put(db: Connection, memories: Sequence[Memory]) -> None:
    """Write rows, in a transaction of the caller. What says the same as before stays as it is."""
    db.executemany(_PUT, [_row(each) for each in memories])


def _row(memory: Memory) -> tuple[Value, ...]:
    said = (memory.id, memory.kind, memory.text, memory.about, memory.run, memory.step, memory.by)
    return (*map(_fitting, said), memory.at, int(memory.kind == TASK))  # a task has no words to bring in


def _whole(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _fitting(text: str) -> str:
    """As it can be stored: without halves of Unicode pairs, and not too long."""
    whole = _whole(text)
    return whole if len(whole) <= LONGEST else f"{whole[: LONGEST - 1]}…"


def memory_of(row: Sequence[Any]) -> Memory:
    """A memory from its row."""
    id_, kind, text, about, run, step, by, at, number = row
    said = {"text": text.decode("utf-8", "replace"), "about": about.decode("utf-8", "replace")}
    return Memory(id=id_, kind=kind, run=run, step=step, by=by, at=at, number=number, **said)


def _read(text: bytes) -> str:
    return composed(text.decode("utf-8", "replace"))


def composed(text: str) -> str:
    """A text for the index: a letter is the same letter, however it is put together."""
    return unicodedata.normalize("NFC", _whole(text))


# ------------------------------------------------------------------------------- forgetting


def take_away(db: Connection, memory: str) -> int | None:
    """Forget a memory; its number, None if there was none. Words without a row are not found any more."""
    row = db.execute("SELECT number FROM memories WHERE id = ?", (memory,)).fetchone()
    if row is None:
        return None
    db.execute("DELETE FROM memories WHERE id = ?", (memory,))
    return row[0]


def take_away_outcomes(db: Connection, runs: str, *values: Value) -> list[int]:
    """Forget what came of runs that are gone; the numbers. `runs` is our own SQL for ids of those that are there."""
    test = f"kind IN (?, ?) AND run NOT IN ({runs})"
    found = db.execute(f"SELECT number FROM memories WHERE {test}", (*OF_RUNS, *values)).fetchall()  # noqa: S608  as above
    db.executemany("DELETE FROM memories WHERE number = ?", found)
    return [number for (number,) in found]


# ------------------------------------------------------------------------------- the index


class Index:
    """The words of all memories. All of it happens inside a transaction of the caller."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self.waits = True
        """Whether there may be rows whose words are not in yet. Whoever commits says so, and not before."""

    def catch_up(self, most: int) -> int:
        """Bring in the words of some rows; of how many."""
        is_made = is_indexed(self._db)
        if not is_made:  # it may have been there
            self._db.execute("UPDATE memories SET indexed = 0 WHERE indexed <> 0 AND kind <> ?", (TASK,))
        rows = self._db.execute(_WAITING, (most,)).fetchall()
        if rows and not is_made:
            self._make()
        if rows:
            self._bring_in(rows)
        return len(rows)

    def _make(self) -> None:
        self.drop()
        for name in INDEXES:
            self._db.execute(f"CREATE VIRTUAL TABLE {name} USING fts5(text, about, tokenize = 'porter unicode61')")

    def _bring_in(self, rows: Sequence[tuple[int, str, bytes, bytes]]) -> None:
        numbers = [number for number, *_ in rows]
        self.take_out(numbers)  # what a row said before
        for name in INDEXES:
            sql = f"INSERT INTO {name} (rowid, text, about) VALUES (?, ?, ?)"  # noqa: S608  our own name
            words = [(number, *map(_read, texts)) for number, kind, *texts in rows if index_of(kind) == name]
            self._db.executemany(sql, words)
        self._db.executemany("UPDATE memories SET indexed = 1 WHERE number = ?", [(each,) for each in numbers])

    def take_out(self, numbers: Sequence[int]) -> None:
        """Forget the words of some rows."""
        if numbers and is_indexed(self._db):
            for name in INDEXES:
                sql = f"DELETE FROM {name} WHERE rowid = ?"  # noqa: S608  our own name
                self._db.executemany(sql, [(each,) for each in numbers])

    def drop(self) -> None:
        """Forget all words; they are brought in again."""
        for name in INDEXES:
            self._db.execute(f"DROP TABLE IF EXISTS {name}")
