"""Making a plan better: what it does not need is left out, and its stretches are planned once more."""

from collections.abc import Sequence
from typing import Final

from perdure.agents.contracts.best import best
from perdure.agents.contracts.search import Effort
from perdure.agents.contracts.task import Move, Task

WINDOWS: Final = (6, 10, 16)
"""Moves in a row that are planned once more."""
_STATES: Final = 150
_MOVES: Final = 150_000
"""How much one stretch is worth."""


def without_idle(task: Task, moves: Sequence[Move]) -> list[Move]:
    """The plan without moves that it reaches its goal without: the dearest such part first, until there is none."""
    kept = list(moves)
    while True:
        ways = [_without(task, kept, position) for position in range(len(kept))]
        weights = [(sum(move.weight for move in way), n) for n, way in enumerate(ways) if way is not None]
        if not weights:
            return kept
        kept = ways[min(weights)[1]] or []


def _without(task: Task, moves: Sequence[Move], position: int) -> list[Move] | None:
    """The plan without one move and without all that cannot be made then; None if the goal is out of reach so."""
    state, kept = task.start, list[Move]()
    for n, move in enumerate(moves):
        if n != position and state & move.needs == move.needs:
            state = state & ~move.ends | move.makes
            kept.append(move)
    return kept if state & task.goal == task.goal else None


def smoothed(task: Task, moves: Sequence[Move], effort: Effort) -> list[Move]:
    """The plan with cheaper stretches, where a short search finds one that does for the rest what the old one did."""
    plan = list(moves)
    for size in WINDOWS:
        position = 0
        while position < len(plan) and not effort.is_over:
            end = min(position + size, len(plan))
            stretch = _replaced(task, plan, position, end, effort)
            if stretch is None:
                position += max(1, size // 2)
            else:
                plan[position:end] = stretch
                position = max(0, position - size)
        if size >= len(plan):
            break
    return plan


def _replaced(task: Task, plan: Sequence[Move], position: int, end: int, effort: Effort) -> list[Move] | None:
    start = task.after(task.start, plan[:position])
    if start is None:
        return None
    small = effort.share(states=_STATES, moves=_MOVES)
    weight = sum(move.weight for move in plan[position:end])
    found = best(task, start, needed_for(task, plan[end:]), small, weight)
    effort.pay(small)
    return found.moves


def needed_for(task: Task, moves: Sequence[Move]) -> int:
    """What has to hold so that these moves can be made and reach the goal."""
    needed = task.goal
    for move in reversed(moves):
        needed = needed & ~move.makes | move.needs
    return needed
