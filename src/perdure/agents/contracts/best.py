"""The best plan, and the proof that it is the best: A* under landmark cuts."""

from heapq import heappop, heappush
from typing import Final

from perdure.agents.contracts.cutting import Cuts
from perdure.agents.contracts.search import MOST_KNOWN, NEVER, Effort, Found, Paths
from perdure.agents.contracts.task import Task


def best(task: Task, start: int, goal: int, effort: Effort, below: int = NEVER) -> Found:
    """The best plan that weighs less than `below`; if there is none, that is proved when it is exhausted."""
    return _Best(task, start, goal, effort, below).run()


class _Best:
    """The bound of a state is worked out when its turn comes, not when it is found: many never have a turn."""

    def __init__(self, task: Task, start: int, goal: int, effort: Effort, below: int) -> None:
        self._task, self._goal, self._effort, self._below = task, goal, effort, below
        self._cuts: Final = Cuts(task, goal)
        self._paths: Final = Paths(start)
        self._known: Final = {start: 0}
        self._bounds: Final[dict[int, int]] = {}
        self._heap: Final[list[tuple[int, int, int, int]]] = []
        self._found: Final = Found(ever=start, together=start)
        self._push(0, 0, start)

    def run(self) -> Found:
        found = self._found
        while self._heap:
            total, _, _, state = heappop(self._heap)
            found.at_least = max(found.at_least, min(total, self._below))
            if total >= self._below or (state not in self._bounds and not self._look(state)):
                return found
            gone, bound = self._known[state], self._bounds[state]
            if gone + bound > total:
                if bound < NEVER:
                    self._push(gone + bound, bound, state)
            elif state & self._goal == self._goal:
                found.moves = self._paths.to(state)
                return found
            else:
                self._expand(state, gone, total)
        found.exhausted, found.at_least = True, self._below
        return found

    def _push(self, total: int, bound: int, state: int) -> None:
        """Of two that promise the same, the one that is nearer goes first, and of those the newer one."""
        heappush(self._heap, (total, bound, -len(self._known), state))

    def _look(self, state: int) -> bool:
        if self._effort.is_over or len(self._known) > MOST_KNOWN:
            return False
        before = self._cuts.looks
        self._bounds[state] = self._cuts.bound(state)
        self._effort.look((self._cuts.looks - before) * len(self._task.moves))
        return True

    def _expand(self, state: int, gone: int, total: int) -> None:
        for move in self._task.moves:
            if state & move.needs != move.needs:
                continue
            after, price = state & ~move.ends | move.makes, gone + move.weight
            if price < self._known.get(after, NEVER):
                self._known[after], self._paths.came[after] = price, (state, move)
                self._found.note(after, self._goal)
                bound = self._bounds.get(after, total - gone)
                self._push(max(total, price + self._bounds.get(after, 0)), bound, after)
