"""Greedy search: a plan, soon; and better ones, as far as looking on pays."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Final

from perdure.agents.contracts.relaxing import Relaxation
from perdure.agents.contracts.search import MOST_KNOWN, NEVER, Effort, Found, Paths
from perdure.agents.contracts.task import Move, Task

_BOOST: Final = 1_000
"""How long moves that look like a beginning are preferred after one of them has got nearer."""


def greedy(task: Task, effort: Effort) -> Found:
    """Always on from where it looks nearest; moves that look like a beginning take turns with all others."""
    return _Greedy(task, effort, lambda _, far: far).run()


def weighted(task: Task, effort: Effort, factor: int, below: int) -> Found:
    """The same, but what was paid so far counts too; nothing is looked at that weighs `below` or more."""
    return _Greedy(task, effort, lambda gone, far: gone + factor * far, below).run()


class _Greedy:
    def __init__(self, task: Task, effort: Effort, rank: Callable[[int, int], int], below: int = NEVER) -> None:
        self._task, self._goal, self._effort, self._rank, self._below = task, task.goal, effort, rank, below
        start = task.start
        self._relaxed: Final = Relaxation(task)
        self._paths: Final = Paths(start)
        self._known: Final = {start: 0}
        self._queues: Final[tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]] = ([(0, 0, start)], [])
        """All states, and those that a promising move has led to."""
        self._turns = [0, 0]
        self._count = 0
        self._nearest = NEVER
        self._looked: Final[dict[int, int]] = {}
        self._found: Final = Found(ever=start, together=start)

    def run(self) -> Found:
        while any(self._queues):
            state = self._next()
            gone = self._known[state]
            if self._looked.get(state, NEVER) <= gone:
                continue
            if self._effort.is_over or len(self._known) > MOST_KNOWN:
                return self._found
            self._effort.look(len(self._task.moves))
            self._looked[state] = gone
            if state & self._goal == self._goal:
                self._found.moves = self._paths.to(state)
                return self._found
            self._expand(state, gone)
        self._found.exhausted = True
        return self._found

    def _next(self) -> int:
        turn = min((n for n in (0, 1) if self._queues[n]), key=lambda n: (self._turns[n], n))
        self._turns[turn] += 1
        return heappop(self._queues[turn])[2]

    def _expand(self, state: int, gone: int) -> None:
        far, first = self._relaxed.estimate(state)
        if far >= NEVER:
            return
        if far < self._nearest:
            self._nearest = far
            self._turns[1] -= _BOOST if self._queues[1] or first else 0
        rank, promising = self._rank(gone, far), {move.number for move in first}
        for move in self._task.moves:
            if state & move.needs == move.needs:
                self._find(state, move, gone + move.weight, rank, promising)

    def _find(self, state: int, move: Move, price: int, rank: int, promising: set[int]) -> None:
        after = state & ~move.ends | move.makes
        if price >= self._below or price >= self._known.get(after, NEVER):
            return
        self._known[after], self._paths.came[after] = price, (state, move)
        self._found.note(after, self._goal)
        self._count += 1
        heappush(self._queues[0], (rank, self._count, after))
        if move.number in promising:
            heappush(self._queues[1], (rank, self._count, after))
