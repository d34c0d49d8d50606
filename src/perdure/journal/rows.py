"""Between records and the rows of a journal's tables."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from perdure.journal.chain import Kept, Row
from perdure.journal.driver import Value
from perdure.ports import Run, Summary

RUN: Final = "number, id, head_seq, head, created, updated, status, goal, session, parent, wake_at, over, counters"
"""The columns that `run_of` reads, in order."""


def run_of(row: Sequence[Any]) -> Run:
    """A run from its row."""
    number, id_, head_seq, head, created, updated, status, goal, session, parent, wake_at, over, counters = row
    text = goal.decode("utf-8", "surrogatepass")
    summary = Summary(status, text, session, parent, wake_at, bool(over), counters)
    return Run(id_, number, head_seq, head.hex(), created, updated, summary)


def row_of(run: Run) -> tuple[Value, ...]:
    """The row of a run."""
    shown = run.summary
    head = (run.number, run.id, run.head_seq, bytes.fromhex(run.head), run.created, run.updated)
    goal = shown.goal.encode("utf-8", "surrogatepass")
    return (*head, shown.status, goal, shown.session, shown.parent, shown.wake_at, int(shown.over), shown.counters)


class Gathering:
    """Puts the rows of a run together as turns: a turn ends where a hash stands."""

    def __init__(self, *marks: Iterable[tuple[int, str]]) -> None:
        self._artifacts, self._asked, self._answered = (_by_seq(each) for each in marks)

    def turns(self, rows: Iterable[Row]) -> Iterator[Kept]:
        """The turns, in order; at the end one without rows if something belongs to none of them."""
        turn: list[Row] = []
        for row in rows:
            turn.append(row)
            if row.hash is not None:
                yield self._kept(turn)
                turn = []
        if turn:
            yield self._kept(turn)
        if self._artifacts or self._asked or self._answered:
            yield Kept(())

    def _kept(self, rows: list[Row]) -> Kept:
        seq = rows[-1].seq
        return Kept(rows, *(marks.pop(seq, ()) for marks in (self._artifacts, self._asked, self._answered)))


def _by_seq(marks: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for seq, text in marks:
        found.setdefault(seq, []).append(text)
    return found
