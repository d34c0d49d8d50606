"""Looking memories up: by their words, or one page after another.

What is looked for is only ever words. Words that very many memories have tell little and take long: they count only if
there are no others, and then what is newest comes first. So a search takes as long among a million as among thousands.
What says the same as one that comes before it is left out: a plan that is carried out every day teaches it once.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from perdure.journal.driver import Connection, Value
from perdure.journal.memories import COLUMNS, INDEX, MADE, composed, memory_of
from perdure.ports import Memory

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
_COUNT: Final = f"SELECT count(*) FROM (SELECT 1 FROM {INDEX} WHERE {INDEX} MATCH ? LIMIT ?)"  # noqa: S608  our own name
_BEST: Final = f"""SELECT {COLUMNS} FROM (
    SELECT rowid AS place, bm25({INDEX}) AS score FROM {INDEX} WHERE {INDEX} MATCH ? ORDER BY rowid DESC LIMIT ?
    ) JOIN memories ON number = place WHERE %s ORDER BY score, at DESC, id"""  # noqa: S608  our own name
_NEWEST: Final = f"""SELECT {COLUMNS} FROM (
    SELECT rowid AS place FROM {INDEX} WHERE {INDEX} MATCH ? ORDER BY rowid DESC LIMIT ?
    ) JOIN memories ON number = place WHERE %s ORDER BY at DESC, id"""  # noqa: S608  our own name


def words_in(text: str) -> list[str]:
    """The words that are looked for. Nothing of them can be read as a part of a query."""
    found = _WORD.finditer(composed(text[:MOST_LETTERS]))
    return list(islice(dict.fromkeys(each.group() for each in found), MOST_WORDS))


def search(db: Connection, text: str, kinds: Sequence[str], limit: int) -> list[Memory]:
    """The memories with words of a text, the best first; then the newest."""
    words = words_in(text)
    if not words or db.execute(MADE).fetchone() is None:
        return []
    counted = {word: db.execute(_COUNT, (_match([word]), COMMON + 1)).fetchone()[0] for word in words}
    rare = [word for word, count in counted.items() if 0 < count <= COMMON]
    known = [word for word, count in counted.items() if count]
    if not known:
        return []
    test, values = _of(kinds)
    query = (_BEST if rare else _NEWEST) % test
    found = db.execute(query, (_match(rare or known), MOST_RANKED, *values))
    return list(islice(_different(map(memory_of, iter(found.fetchone, None))), max(0, limit)))


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
    return (f"kind IN ({', '.join('?' * len(kinds))})", list(kinds)) if kinds else ("TRUE", [])


def counted(db: Connection) -> tuple[int, int]:
    """How many memories there are, and how many of them cannot be found by their words yet."""
    if db.execute(MADE).fetchone() is not None:
        db.execute(_COUNT, (_match(["a"]), 1)).fetchone()  # which fails if there is anything wrong with it
    total, waiting = db.execute("SELECT count(*), coalesce(sum(indexed = 0), 0) FROM memories").fetchone()
    return total, waiting


def page(db: Connection, kinds: Sequence[str], before: int | None, limit: int) -> list[Memory]:
    """Memories, newest first."""
    test, values = _of(kinds)
    last = 2**63 - 1 if before is None else before
    sql = f"SELECT {COLUMNS} FROM memories WHERE {test} AND number < ? ORDER BY number DESC LIMIT ?"  # noqa: S608  our own words
    return [memory_of(row) for row in db.execute(sql, (*values, last, max(0, limit))).fetchall()]
