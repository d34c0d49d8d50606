"""Between records and the rows of a journal's tables."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from perdure.journal.chain import NO_MARKS, Kept, Marks
from perdure.journal.driver import Value
from perdure.ports import Entry, Run, Summary

RUN: Final = "number, id, head_seq, head, created, updated, status, goal, session, parent, wake_at, over, counters"
"""The columns that `run_of` reads, in order."""
Row = tuple[int, str, int, bytes, bytes | None]
"""An entry as it is stored: seq, type, time, body, and at the end of a turn its hash."""


def run_of(row: Sequence[Any]) -> Run:
    """A run from its row."""
    number, id_, head_seq, head, created, updated, status, goal, session, parent, wake_at, over, counters = row
    text = goal.decode("utf-8", "surrogatepass")
    summary = Summary(status, text, session, parent, wake_at, bool(over), counters)
    return Run(id_, number, head_seq, head.hex(), created, updated, summary)


def shown_in(summary: Summary) -> tuple[Value, ...]:
    """The columns of a summary, in the order of `RUN`."""
    goal = summary.goal.encode("utf-8", "surrogatepass")
    words = (summary.status, goal, summary.session, summary.parent)
    return (*words, summary.wake_at, int(summary.over), summary.counters)


class Gathering:
    """Puts the rows of a run together as turns: a turn ends where a hash stands."""

    def __init__(self, run: str, *marks: Iterable[tuple[int, str]]) -> None:
        self._run = run
        self._marks = [_by_seq(each) for each in marks]
        self._any = any(self._marks)

    def turns(self, rows: Iterable[Row]) -> Iterator[Kept]:
        """The turns, in order; at the end one without entries if something belongs to none of them."""
        entries: list[Entry] = []
        hash_: bytes | None = None
        for seq, type_, at, body, hash_ in rows:
            entries.append(Entry(self._run, seq, type_, at, body))
            if hash_ is not None:
                yield Kept(entries, hash_, self._marks_at(seq))
                entries = []
        if entries:
            yield Kept(entries, None)
        if any(self._marks):
            yield Kept((), None)

    def _marks_at(self, seq: int) -> Marks:
        return Marks(*(marks.pop(seq, ()) for marks in self._marks)) if self._any else NO_MARKS


def _by_seq(marks: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for seq, text in marks:
        found.setdefault(seq, []).append(text)
    return found
