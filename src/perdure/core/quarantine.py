"""Quarantine: what to do with a step whose process dies again and again while it is at work.

It may be the one that kills, or it may only have stood beside. So from its second loss on it is a suspect, and
suspects are tried one at a time; who is lost once more is not tried again before a person has looked at it.
"""

from typing import Final

from perdure.core.cells import Cell, Work
from perdure.core.state import State

MOST_LOSSES: Final = 3
"""So often the process of one visit may die before a person is asked."""
ALONE: Final = ""
"""Stands among the names of locks for being the only suspect at work."""


def is_suspect(cell: Cell) -> bool:
    """Whether its process died as often as it may but once."""
    return isinstance(cell.body, Work) and cell.work.losses >= MOST_LOSSES - 1


def is_quarantined(work: Work) -> bool:
    """Whether it is not tried again without asking."""
    return work.losses >= MOST_LOSSES


def suspect_at_work(state: State) -> bool:
    """Whether a suspect is being tried."""
    return any(is_suspect(cell) for cell in state.flying.values())
