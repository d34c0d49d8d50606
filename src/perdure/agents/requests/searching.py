"""Search by words, in a full-text index in memory. The same words over the same texts find the same, in one order."""

import re
import sqlite3
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_SMALL: Final = """
a about after all an and any are as at be been before but by can could do does for from get give had has have
how i if in into is it its just let like make may me my need no not now of off on one or our out over please
shall should show so some take tell than that the their them then there these they this those through to under
up us use using want was we were what when where which while who why will with would you your
"""
STOP: Final = frozenset(_SMALL.split())
"""Words that say nothing of what is wanted."""
_WORD: Final = re.compile(r"[^\W_]+")
_DIGITS: Final = 6
MOST_WORDS: Final = 40
"""Words of a request that are looked for."""


def words_of(text: str) -> list[str]:
    """The words of a text that tell something, each once, in its order."""
    found = dict.fromkeys(word for word in map(str.casefold, _WORD.findall(text)) if not word.isdigit())
    telling = [word for word in found if word not in STOP]
    return (telling or list(found))[:MOST_WORDS]


def stem(word: str) -> str:
    """A word without its endings, roughly: `saves`, `saved` and `saving` are one word. No two languages end alike."""
    kept = word.removesuffix("s")
    for ending in ("ing", "ed"):
        if len(kept) > len(ending) + 2:
            kept = kept.removesuffix(ending)
    kept = kept.removesuffix("e")
    return kept[:-1] if len(kept) > 3 and kept[-1] == kept[-2] else kept  # noqa: PLR2004  a short word has no ending


@dataclass(frozen=True)
class Hit:
    """What a search found: how well it fits, and by which words in which columns."""

    name: str
    score: float
    words: Mapping[str, tuple[str, ...]]
    """The columns that each word was found in."""


class Search:
    """Texts in columns, by name. A word in a column of more weight counts more."""

    def __init__(self, weights: Mapping[str, float], rows: Mapping[str, Mapping[str, str]]) -> None:
        self._columns = tuple(weights)
        self._rank = f"-bm25(texts, 0, {', '.join(str(float(each)) for each in weights.values())})"
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self._db.close)  # Python 3.13 warns of one that only goes away
        columns = ", ".join(self._columns)
        self._db.execute(
            f"CREATE VIRTUAL TABLE texts USING fts5(_name UNINDEXED, {columns}, tokenize='porter unicode61')"
        )
        marks = ", ".join("?" * (len(self._columns) + 1))
        told = [(name, *(row.get(each, "") for each in self._columns)) for name, row in sorted(rows.items())]
        self._db.executemany(f"INSERT INTO texts VALUES ({marks})", told)  # noqa: S608  question marks only

    def find(self, words: Sequence[str], most: int = 20) -> list[Hit]:
        """What has some of the words, the best first, then by name."""
        scores: dict[str, float] = {}
        columns: dict[str, dict[str, tuple[str, ...]]] = {}
        for word in words:
            for name, score in self._matches(word):
                scores[name] = scores.get(name, 0) + score
                columns.setdefault(name, {})[word] = ()
        best = sorted(scores, key=lambda name: (-round(scores[name], _DIGITS), name))[:most]
        return [Hit(name, round(scores[name], _DIGITS), self._where(name, columns[name])) for name in best]

    def _matches(self, word: str, column: str = "") -> list[tuple[str, float]]:
        asked = f'{column} : "{word}"' if column else f'"{word}"'
        found = self._db.execute(f"SELECT _name, {self._rank} FROM texts WHERE texts MATCH ?", (asked,))  # noqa: S608  our own words
        return found.fetchall()

    def _where(self, name: str, words: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        told = "SELECT 1 FROM texts WHERE texts MATCH ? AND _name = ?"
        return {
            word: tuple(
                each for each in self._columns if self._db.execute(told, (f'{each} : "{word}"', name)).fetchone()
            )
            for word in words
        }
