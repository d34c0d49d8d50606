"""The order of the nodes in each row of a graph, and how far to the right each stands."""

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from perdure.plan.drawing.ranks import Ranked

SWEEPS: Final = 6
ROUNDS: Final = 12
MANY: Final = 2000
"""A graph with more nodes is sorted and spread in fewer rounds."""
HEAVY: Final = 60.0
"""How much more a straight line weighs than a step in the middle of its neighbours."""
GAP: Final = 26.0
"""Between two steps of a row."""


class Order:
    """The rows of a graph while they are being sorted and spread."""

    def __init__(self, graph: Ranked) -> None:
        self.graph = graph
        self.rows = [_passing_inside(row, graph.steps) for row in graph.rows]
        count = len(graph.rank)
        self.above: list[list[int]] = [[] for _ in range(count)]
        self.below: list[list[int]] = [[] for _ in range(count)]
        for source, target in graph.links:
            self.below[source].append(target)
            self.above[target].append(source)

    # ---------------------------------------------------------------- who stands beside whom

    def sort(self) -> None:
        """Sort each row by the middle of its neighbours, down and up in turn; keep the best order met."""
        best, fewest = self.rows, -1
        for sweep in range(SWEEPS if len(self.graph.rank) < MANY else SWEEPS // 3):
            self._sweep(down=sweep % 2 == 0)
            crossings = sum(self._crossings(row) for row in self.rows)
            if fewest < 0 or crossings < fewest:
                best, fewest = [list(row) for row in self.rows], crossings
        self.rows = best

    def _sweep(self, *, down: bool) -> None:
        place = [0.0] * len(self.graph.rank)
        for row in self.rows:
            _number(row, place)
        neighbours = self.above if down else self.below
        for row in self.rows if down else reversed(self.rows):
            row.sort(key=lambda node: _mean([place[other] for other in neighbours[node]], place[node]))
            _number(row, place)

    def _crossings(self, row: list[int]) -> int:
        """How often the links from this row to the next cross each other."""
        place = {node: at for at, node in enumerate(self.rows[self._next(row)])} if row else {}
        seen: list[int] = []
        crossings = 0
        for node in row:
            ends = sorted(place[other] for other in self.below[node])
            crossings += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
        return crossings

    def _next(self, row: list[int]) -> int:
        return min(self.graph.rank[row[0]] + 1, len(self.rows) - 1)

    # ---------------------------------------------------------------- how far to the right

    def spread(self) -> list[float]:
        """The middle of every node: near its neighbours, never upon the one beside it, long lines straight."""
        middles = [0.0] * len(self.graph.rank)
        for row in self.rows:
            self._settle(row, middles, [0.0] * len(row))
        rounds = ROUNDS if len(middles) < MANY else ROUNDS // 4
        for sweep in range(2 * rounds + 1):
            self._pull(middles, down=sweep % 2 == 0, both=sweep > rounds)
        return middles

    def _pull(self, middles: list[float], *, down: bool, both: bool) -> None:
        straight = self._straight(middles) if both else {}
        for row in self.rows if down else reversed(self.rows):
            wishes = [straight.get(node, self._wish(node, middles, down=down, both=both)) for node in row]
            self._settle(row, middles, wishes)

    def _wish(self, node: int, middles: list[float], *, down: bool, both: bool) -> float:
        near = [*self.above[node], *self.below[node]] if both else (self.above if down else self.below)[node]
        wish = _mean([middles[other] for other in near], middles[node])
        return wish * self._care(node, near) if self.graph.rank[node] in self.graph.wrapped else wish

    def _care(self, node: int, near: list[int]) -> float:
        """The parts of a broken row stay below each other; a neighbour they share with many does not pull them."""
        if node >= self.graph.steps or not near:
            return 1.0
        return min(sum(1 / (len(self.above[other]) + len(self.below[other])) for other in near), 1.0)

    def _straight(self, middles: list[float]) -> dict[int, float]:
        """Where each passage would stand if its line ran straight down."""
        found: dict[int, float] = {}
        for bundle in self.graph.bundles:
            mean = _mean([middles[node] for node in bundle.passages], 0.0)
            found |= dict.fromkeys(bundle.passages, mean)
        return found

    def _settle(self, row: list[int], middles: list[float], wishes: Sequence[float]) -> None:
        offsets = [0.0]
        for one, other in pairwise(row):
            offsets.append(offsets[-1] + (self.graph.widths[one] + self.graph.widths[other]) / 2 + GAP)
        weights = [1.0 if node < self.graph.steps else HEAVY for node in row]
        wanted = [wish - offset for wish, offset in zip(wishes, offsets, strict=True)]
        for node, place, offset in zip(row, settled(wanted, weights), offsets, strict=True):
            middles[node] = place + offset


def _passing_inside(row: list[int], steps: int) -> list[int]:
    """Lines that only pass begin in the middle of a row, so that both halves are near to them."""
    standing = [node for node in row if node < steps]
    half = len(standing) // 2
    return [*standing[:half], *(node for node in row if node >= steps), *standing[half:]]


def _number(row: list[int], place: list[float]) -> None:
    for at, node in enumerate(row):
        place[node] = (at + 0.5) / len(row)


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def settled(wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The rising row of numbers that is nearest to the wanted ones: neighbours that clash meet at their mean."""
    blocks: list[tuple[float, float, int]] = []
    for wish, weight in zip(wanted, weights, strict=True):
        mean, mass, count = wish, weight, 1
        while blocks and blocks[-1][0] >= mean:
            before, heavy, many = blocks.pop()
            mean = (mean * mass + before * heavy) / (mass + heavy)
            mass, count = mass + heavy, count + many
        blocks.append((mean, mass, count))
    return [mean for mean, _, count in blocks for _ in range(count)]
