"""How far it still is, if nothing that holds were ever lost: the estimate that greedy search follows.

Of each fact the cheapest move that makes it is noted, by the sum of what its requirements take (FF, Hoffmann and Nebel
2001, with the costs of h-add). The moves that are noted for the goal, and for what they require, are a plan for the
easier problem: its weight is the estimate, and those of its moves that can be made at once are looked at first.
"""

from heapq import heapify, heappop, heappush
from typing import Final

from perdure.agents.contracts.search import NEVER
from perdure.agents.contracts.task import Move, Task, bits


class Relaxation:
    """Estimates for one task."""

    def __init__(self, task: Task) -> None:
        self._moves: Final = task.moves
        self._goal: Final = tuple(bits(task.goal))
        self._weights: Final = [move.weight for move in task.moves]
        self._open: Final = [len(move.needed) for move in task.moves]
        self._made: Final = [move.made for move in task.moves]
        self._free: Final = [move for move in task.moves if not move.needed]
        self._users: Final = _users(task)
        self._size: Final = len(task.facts)

    def estimate(self, state: int) -> tuple[int, list[Move]]:
        """About how much is still to be done, and the moves that look like a beginning; `NEVER` is a proof."""
        reached, by = self._explored(state)
        if any(reached[fact] >= NEVER for fact in self._goal):
            return NEVER, []
        chosen = self._chosen(by)
        first = [move for move in map(self._moves.__getitem__, sorted(chosen)) if state & move.needs == move.needs]
        return sum(self._weights[number] for number in chosen), first

    def _explored(self, state: int) -> tuple[list[int], list[int]]:
        """What each fact takes, and which move makes it most cheaply."""
        reached, by = [NEVER] * self._size, [-1] * self._size
        sums, left, users = self._weights.copy(), self._open.copy(), self._users
        heap = [(0, fact) for fact in bits(state)]
        for _, fact in heap:
            reached[fact] = 0
        heapify(heap)
        for move in self._free:
            self._reach(heap, (reached, by), move.number, move.weight)
        wanted = set(self._goal)
        while heap:
            weight, fact = heappop(heap)
            if weight > reached[fact]:
                continue
            wanted.discard(fact)
            if not wanted:
                break
            for number in users[fact]:
                left[number] -= 1
                sums[number] += weight
                if not left[number]:
                    self._reach(heap, (reached, by), number, sums[number])
        return reached, by

    def _reach(self, heap: list[tuple[int, int]], known: tuple[list[int], list[int]], number: int, weight: int) -> None:
        reached, by = known
        for fact in self._made[number]:
            if weight < reached[fact]:
                reached[fact], by[fact] = weight, number
                heappush(heap, (weight, fact))

    def _chosen(self, by: list[int]) -> set[int]:
        chosen, stack, seen = set[int](), list(self._goal), set(self._goal)
        while stack:
            number = by[stack.pop()]
            if number >= 0 and number not in chosen:
                chosen.add(number)
                fresh = [fact for fact in self._moves[number].needed if fact not in seen]
                seen.update(fresh)
                stack.extend(fresh)
        return chosen


def _users(task: Task) -> list[list[int]]:
    users: list[list[int]] = [[] for _ in task.facts]
    for move in task.moves:
        for fact in move.needed:
            users[fact].append(move.number)
    return users
