"""Looking memories up: by their words, or one page after another.

What is looked for is only ever words. Words that very many memories have tell little and take long: they count only if
there are no others, and then what is newest comes first. So a search takes as long among a million as among thousands.
What was learned is weighed apart from how runs ended, of which there is so much more. What says the same as one that
comes before it is left out: a plan that is carried out every day teaches it once.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import Any, Final

from perdure.journal.driver import Connection, Value
from perdure.journal.memories import COLUMNS, INDEXES, composed, index_of, is_indexed, memory_of
from perdure.ports import TASK, Memory

Row = tuple[Any, ...]
MOST_WORDS: Final = 32
"""Different words of a text that are looked for; the first ones."""
MOST_LETTERS: Final = 10_000
"""Of a text that are looked at."""
COMMON: Final = 1_000
"""A word that more memories have is a common one."""
MOST_RANKED: Final = 5_000
"""Memories that are compared, the newest of those that have one of the words."""

_WORD: Final = re.compile(r"(?:[0-9A-Za-z]|[^\x00-\x7f\s])+")
"""What ASCII and blanks leave between them. SQLite divides it further, by its own table of letters."""
_COUNT: Final = "SELECT count(*) FROM (SELECT 1 FROM {index} WHERE {index} MATCH ? LIMIT ?)"
_TOTAL: Final = "SELECT count(*), coalesce(sum(indexed = 0), 0) FROM memories WHERE kind <> ?"
_BEST: Final = f"""SELECT {COLUMNS}, score FROM (
    SELECT rowid AS place, bm25({{index}}) AS score FROM {{index}} WHERE {{index}} MATCH ? ORDER BY rowid DESC LIMIT ?
    ) JOIN memories ON number = place WHERE {{test}} ORDER BY score, at DESC, id"""  # noqa: S608  our own words
_NEWEST: Final = f"""SELECT {COLUMNS}, 0 FROM (
    SELECT rowid AS place FROM {{index}} WHERE {{index}} MATCH ? ORDER BY rowid DESC LIMIT ?
    ) JOIN memories ON number = place WHERE {{test}} ORDER BY at DESC, id"""  # noqa: S608  our own words


def words_in(text: str) -> list[str]:
    """The words that are looked for. Nothing of them can be read as a part of a query."""
    found = _WORD.finditer(composed(text[:MOST_LETTERS]))
    return list(islice(dict.fromkeys(each.group() for each in found), MOST_WORDS))


def search(db: Connection, text: str, kinds: Sequence[str], limit: int) -> list[Memory]:
    """The memories with words of a text, the best first; then the newest."""
    words = words_in(text)
    if not words or not is_indexed(db):
        return []
    wanted = dict.fromkeys(map(index_of, kinds)) if kinds else INDEXES
    found = merge(*(_found_in(db, index, words, kinds) for index in wanted), key=_order)
    return list(islice(_different(memory_of(row[:-1]) for row in found), max(0, limit)))


def _found_in(db: Connection, index: str, words: Sequence[str], kinds: Sequence[str]) -> Iterator[Row]:
    """Rows of one index, each with how good it is: the less, the better."""
    count = _COUNT.format(index=index)
    counts = {word: db.execute(count, (_match([word]), COMMON + 1)).fetchone()[0] for word in words}
    rare = [word for word in words if 0 < counts[word] <= COMMON]
    known = rare or [word for word in words if counts[word]]
    if not known:
        return iter(())
    test, values = _of(kinds)
    query, most = (_BEST, MOST_RANKED) if rare else (_NEWEST, COMMON)
    found = db.execute(query.replace("{index}", index).replace("{test}", test), (_match(known), most, *values))
    return iter(found.fetchone, None)


def _order(row: Row) -> tuple[float, int, str]:
    id_, *_, at, _, score = row
    return score, -at, id_


def _different(memories: Iterable[Memory]) -> Iterator[Memory]:
    seen = set[tuple[str, str, str]]()
    for each in memories:
        said = (each.kind, each.text, each.about)
        if said not in seen:
            seen.add(said)
            yield each


def _match(words: Sequence[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)


def _of(kinds: Sequence[str]) -> tuple[str, Sequence[Value]]:
    return (f"kind IN ({', '.join('?' * len(kinds))})", list(kinds)) if kinds else ("kind <> ?", [TASK])


def counted(db: Connection) -> tuple[int, int]:
    """How many memories there are, and how many of them cannot be found by their words yet."""
    for index in INDEXES if is_indexed(db) else ():
        db.execute(
            _COUNT.format(index=index), (_match(["a"]), 1)
        ).fetchone()  # which fails if anything is wrong with it
    total, waiting = db.execute(_TOTAL, (TASK,)).fetchone()
    return total, waiting


def page(db: Connection, kinds: Sequence[str], before: int | None, limit: int) -> list[Memory]:
    """Memories, newest first."""
    test, values = _of(kinds)
    last = 2**63 - 1 if before is None else before
    sql = f"SELECT {COLUMNS} FROM memories WHERE {test} AND number < ? ORDER BY number DESC LIMIT ?"  # noqa: S608  our own words
    return [memory_of(row) for row in db.execute(sql, (*values, last, max(0, limit))).fetchall()]
