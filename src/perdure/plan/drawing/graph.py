"""Groups without a cursor: a graph in rows from top to bottom, a parallel group as rows side by side."""

from dataclasses import replace
from itertools import zip_longest
from math import ceil
from typing import Final

from perdure.plan.drawing.flow import Shape
from perdure.plan.drawing.frames import Arranged, Frame, equal_heights, equal_widths
from perdure.plan.drawing.order import GAP, Order
from perdure.plan.drawing.ranks import MOST_IN_ROW, Bundle, Ranked, Tie, ranked
from perdure.plan.drawing.strokes import Leg, Point, Stroke, swing

ROW_GAP: Final = 22.0
"""Between the rows of a parallel group."""
LEAST_DROP: Final = 40.0
MOST_DROP: Final = 110.0
"""Between two rows of a graph, with lines in between."""
WIDEST_PARALLEL: Final = 1500.0


def rows(frames: list[Frame]) -> Arranged:
    """Place the steps of a parallel group: a row, or several with their columns in line."""
    equal_widths(frames)
    parts = broken(frames, WIDEST_PARALLEL)
    widths = [max(each.w for each in stack if each) for stack in zip_longest(*parts)]
    y = 0.0
    for part in parts:
        equal_heights(part)
        x = 0.0
        for frame, width in zip(part, widths, strict=False):
            if frame.shape.inside:
                frame.fit(width)
            frame.x, frame.y = x + (width - frame.w) / 2, y
            x += width + GAP
        y = max(frame.bottom for frame in part) + ROW_GAP
    return Arranged(sum(widths) + GAP * (len(widths) - 1), max(y - ROW_GAP, 0.0), [])


def broken(frames: list[Frame], widest: float) -> list[list[Frame]]:
    """Steps side by side, in as many about equal rows as it takes."""
    parts = max(ceil(len(frames) / MOST_IN_ROW), ceil(sum(frame.w + GAP for frame in frames) / widest), 1)
    size = max(ceil(len(frames) / parts), 1)
    return [frames[start : start + size] for start in range(0, len(frames), size)]


class Graph:
    """The steps of one graph while they are being placed."""

    def __init__(self, box: Shape, frames: list[Frame]) -> None:
        self.frames = frames
        equal_widths(frames)
        ties = [
            (edge.source.position, edge.target.position) for edge in box.edges if edge.target and edge.sort == "needs"
        ]
        self.graph: Ranked = ranked([frame.w for frame in frames], ties)
        order = Order(self.graph)
        order.sort()
        self.middles = order.spread()
        self.rows = order.rows
        self.tops: list[float] = []
        self.bottoms: list[float] = []

    def arranged(self) -> Arranged:
        """The graph with everything in its place."""
        left = min(middle - width / 2 for middle, width in zip(self.middles, self.graph.widths, strict=True))
        self.middles = [middle - left for middle in self.middles]
        self._stack()
        width = max(middle + width / 2 for middle, width in zip(self.middles, self.graph.widths, strict=True))
        strokes = [self._line([tie[0], tie[1]]) for tie in self.graph.short]
        strokes += [stroke for bundle in self.graph.bundles for stroke in self._bundle(bundle)]
        strokes += [self._across(tie) for tie in self.graph.direct]
        return Arranged(width, self.bottoms[-1], strokes)

    def _stack(self) -> None:
        drops = self._drops()
        y = 0.0
        for number, row in enumerate(self.rows):
            frames = [self.frames[node] for node in row if node < self.graph.steps]
            equal_heights(frames)
            for node in row:
                if node < self.graph.steps:
                    frame = self.frames[node]
                    frame.x, frame.y = self.middles[node] - frame.w / 2, y
            self.tops.append(y)
            self.bottoms.append(y + max((frame.h for frame in frames), default=0.0))
            y = self.bottoms[-1] + drops[number]

    def _drops(self) -> list[float]:
        """How much room each row leaves below it: more where lines have far to go."""
        far = [0.0] * len(self.rows)
        for source, target in self.graph.links:
            row = self.graph.rank[source]
            far[row] = max(far[row], abs(self.middles[source] - self.middles[target]))
        return [min(max(LEAST_DROP, 34 + reach * 0.09), MOST_DROP) for reach in far]

    # ---------------------------------------------------------------- lines

    def _line(self, nodes: list[int]) -> Stroke:
        """A line down through these nodes; each leaves room for it in its row, so it touches nothing else."""
        first, last = nodes[0], nodes[-1]
        start = self._below(first)
        here = (start[0], self.bottoms[self.graph.rank[first]])
        legs: list[Leg] = [here] if here != start else []
        for node in nodes[1:]:
            row = self.graph.rank[node]
            legs.append(swing(here, (self.middles[node], self.tops[row])))
            here = (self.middles[node], self.bottoms[row])
            legs += [here] if node != last else []
        return Stroke("needs", start, tuple(legs), self._shape(first), self._shape(last), self._tip(first, last))

    def _bundle(self, bundle: Bundle) -> list[Stroke]:
        far = max(bundle.spokes, key=lambda spoke: abs(self.graph.rank[spoke] - self.graph.rank[bundle.hub]))
        trunk = [bundle.hub, *bundle.passages, far] if bundle.hub_is_source else [far, *bundle.passages, bundle.hub]
        others = [spoke for spoke in bundle.spokes if spoke != far]
        return [self._line(trunk), *(self._branch(bundle, spoke) for spoke in others)]

    def _branch(self, bundle: Bundle, spoke: int) -> Stroke:
        row = self.graph.rank[spoke]
        if bundle.hub_is_source:
            line = self._line([bundle.beside(row - 1), spoke])
            return replace(line, tip=self._tip(bundle.hub, spoke))
        return replace(self._line([spoke, bundle.beside(row + 1)]), tip=self._tip(spoke, bundle.hub))

    def _across(self, tie: Tie) -> Stroke:
        """A line that does not look right or left."""
        source, target = tie
        start, end = self._below(source), (self.middles[target], self.tops[self.graph.rank[target]])
        legs = (swing(start, end),)
        return Stroke("needs", start, legs, self._shape(source), self._shape(target), self._tip(source, target))

    def _below(self, node: int) -> Point:
        bottom = self.frames[node].bottom if node < self.graph.steps else self.bottoms[self.graph.rank[node]]
        return (self.middles[node], bottom)

    def _shape(self, node: int) -> Shape | None:
        return self.frames[node].shape if node < self.graph.steps else None

    def _tip(self, source: int, target: int) -> str:
        before, after = self._shape(source), self._shape(target)
        return f"{after.id} needs {before.id}" if before and after else ""


def graph(box: Shape, frames: list[Frame]) -> Arranged:
    """Place the steps of a graph."""
    return Graph(box, frames).arranged()
