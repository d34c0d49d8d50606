"""Between records and the rows of a journal's tables."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from perdure.journal.chain import NO_MARKS, STRAY, Kept, Marks
from perdure.journal.driver import Value
from perdure.journal.head import MOST_ENTRIES
from perdure.ports import Run, Summary

SHOWN: Final = "status, goal, session, parent, wake_at, over, counters"
LAST: Final = f"(SELECT max(place) FROM turns WHERE place BETWEEN number << 32 AND (number << 32) + {MOST_ENTRIES})"  # noqa: S608  our own number
"""Where the last turn of a run lies; one look into the tree."""
RUNS: Final = f"SELECT number, id, seq, seal, created, at, {SHOWN} FROM runs LEFT JOIN turns ON place = {LAST}"  # noqa: S608  our own columns
"""Runs as `run_of` reads them. A run whose turns are gone is there too, so that somebody can be told."""
Row = tuple[int, int, bytes, bytes, int]
"""A turn as it is stored: its last seq, its time, its entries, its hash, and whether it has the seal."""


def run_of(row: Sequence[Any]) -> Run:
    """A run from its row."""
    number, id_, head_seq, seal, created, updated, status, goal, session, parent, wake_at, over, counters = row
    text = goal.decode("utf-8", "surrogatepass")
    summary = Summary(status, text, session, parent, wake_at, over != 0, counters)
    return Run(id_, number, head_seq or 0, (seal or b"").hex(), created, updated or 0, summary)


def shown_in(summary: Summary) -> tuple[Value, ...]:
    """The columns of a summary, in the order of `SHOWN`."""
    goal = summary.goal.encode("utf-8", "surrogatepass")
    words = (summary.status, goal, summary.session, summary.parent)
    return (*words, summary.wake_at, int(summary.over), summary.counters)


class Gathering:
    """Puts the turns of a run together with what they name."""

    def __init__(self, *marks: Iterable[tuple[int, str]]) -> None:
        self._marks = [_by_seq(each) for each in marks]
        self._any = any(self._marks)

    def turns(self, rows: Iterable[Row]) -> Iterator[Kept]:
        """The turns, in order; at the end a stray one if something belongs to none of them."""
        for seq, at, body, hash_, is_sealed in rows:
            yield Kept(seq, at, body, hash_, bool(is_sealed), self._marks_at(seq))
        if any(self._marks):
            yield STRAY

    def _marks_at(self, seq: int) -> Marks:
        return Marks(*(marks.pop(seq, ()) for marks in self._marks)) if self._any else NO_MARKS


def _by_seq(marks: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for seq, text in marks:
        found.setdefault(seq, []).append(text)
    return found
