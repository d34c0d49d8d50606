"""What every plan has to pay at least: landmark cuts (LM-cut, Helmert and Domshlak 2009).

Some moves form a cut: whatever the plan, one of them is in it. The cheapest of them is paid for, taken off the price
of all, and the next cut is looked for, until the goal is for free. The sum never says too much, so a search that is led
by it finds the best plan, and what it has looked at proves how good another one is.
"""

from heapq import heapify, heappop, heappush
from typing import Final

from perdure.agents.contracts.search import NEVER
from perdure.agents.contracts.task import Task, bits


class Cuts:
    """Bounds for one task and one goal."""

    def __init__(self, task: Task, goal: int | None = None) -> None:
        size, count = len(task.facts), len(task.moves)
        self._always, self._end = size, size + 1
        """Two more facts: one that moves without requirements require, and one that a last move makes of the goal."""
        wanted = tuple(bits(task.goal if goal is None else goal)) or (self._always,)
        self._needed: Final = [move.needed or (self._always,) for move in task.moves] + [wanted]
        self._made: Final = [move.made for move in task.moves] + [(self._end,)]
        self._prices: Final = [move.weight for move in task.moves] + [0]
        self._open: Final = [len(each) for each in self._needed]
        self._users: Final[list[list[int]]] = [[] for _ in range(size + 2)]
        self._makers: Final[list[list[int]]] = [[] for _ in range(size + 2)]
        for number in range(count + 1):
            for fact in self._needed[number]:
                self._users[fact].append(number)
            for fact in self._made[number]:
                self._makers[fact].append(number)
        self.looks = 0
        """How often all moves were gone through: what this costs, in a measure that is the same on every machine."""

    def bound(self, state: int) -> int:
        """The least that a plan from here takes; `NEVER` is a proof that there is none."""
        prices = self._prices.copy()
        total = 0
        facts = [*bits(state), self._always]
        reached, support = self._explored(facts, prices)
        while reached[self._end]:
            if reached[self._end] >= NEVER:
                return NEVER
            cut = self._cut(facts, support, prices)
            paid = min(prices[number] for number in cut)
            for number in cut:
                prices[number] -= paid
            total += paid
            self._cheapen(reached, support, cut, prices)
        return total

    def _explored(self, facts: list[int], prices: list[int]) -> tuple[list[int], list[int]]:
        """What each fact takes by its dearest requirement, and which requirement of each move that is."""
        self.looks += 1
        reached, support = [NEVER] * len(self._users), [-1] * len(prices)
        left, users = self._open.copy(), self._users
        heap = [(0, fact) for fact in facts]
        heapify(heap)
        for fact in facts:
            reached[fact] = 0
        while heap:
            weight, fact = heappop(heap)
            if weight > reached[fact]:
                continue
            for number in users[fact]:
                left[number] -= 1
                if not left[number]:
                    support[number] = fact
                    price = weight + prices[number]
                    for made in self._made[number]:
                        if price < reached[made]:
                            reached[made] = price
                            heappush(heap, (price, made))
        return reached, support

    def _cut(self, facts: list[int], support: list[int], prices: list[int]) -> list[int]:
        """The moves that lead into the part from which the goal is for free."""
        self.looks += 1
        near = self._near(support, prices)
        seen = set(facts)
        stack, cut = list(facts), list[int]()
        by_support = self._users
        while stack:
            fact = stack.pop()
            for number in by_support[fact]:
                if support[number] != fact:
                    continue
                if any(made in near for made in self._made[number]):
                    cut.append(number)
                    continue
                for made in self._made[number]:
                    if made not in seen:
                        seen.add(made)
                        stack.append(made)
        return cut

    def _near(self, support: list[int], prices: list[int]) -> set[int]:
        near, stack = {self._end}, [self._end]
        while stack:
            for number in self._makers[stack.pop()]:
                fact = support[number]
                if not prices[number] and fact >= 0 and fact not in near:
                    near.add(fact)
                    stack.append(fact)
        return near

    def _cheapen(self, reached: list[int], support: list[int], cut: list[int], prices: list[int]) -> None:
        """What is cheaper now that the moves of a cut are, and what follows from that."""
        self.looks += 1
        heap: list[tuple[int, int]] = []
        for number in cut:
            self._lower(heap, reached, number, reached[support[number]] + prices[number])
        while heap:
            weight, fact = heappop(heap)
            if weight > reached[fact]:
                continue
            for number in self._users[fact]:
                if support[number] == fact:
                    dearest = max(self._needed[number], key=reached.__getitem__)
                    support[number] = dearest
                    self._lower(heap, reached, number, reached[dearest] + prices[number])

    def _lower(self, heap: list[tuple[int, int]], reached: list[int], number: int, price: int) -> None:
        for made in self._made[number]:
            if price < reached[made]:
                reached[made] = price
                heappush(heap, (price, made))
