"""A serial group: a column from top to bottom, with its jumps along the sides."""

from itertools import pairwise
from typing import Final

from perdure.plan.drawing.cards import SMALL
from perdure.plan.drawing.flow import Edge, Shape
from perdure.plan.drawing.frames import Arranged, Frame, equal_widths
from perdure.plan.drawing.lanes import APART, Lane, Port, lanes_of, lay, ports_by_step
from perdure.plan.drawing.lettering import fitted, width_of
from perdure.plan.drawing.strokes import RADIUS, Note, Point, Stroke, bent

GAP: Final = 34.0
"""Between two steps, with an arrow in it."""
NOTE_AT: Final = 8.0
"""Between a line and the word beside it."""
EDGE: Final = 6.0


class Column:
    """The steps of one serial group while they are being placed."""

    def __init__(self, box: Shape, frames: list[Frame]) -> None:
        self.frames = frames
        self.down: dict[int, list[Edge]] = {}
        aside: list[Edge] = []
        for edge in box.edges:
            if edge.target is not None and edge.target.position == edge.leaves.position + 1:
                self.down.setdefault(edge.leaves.position, []).append(edge)
            else:
                aside.append(edge)
        self.right = lanes_of(edge for edge in aside if edge.backward)
        self.left = lanes_of(edge for edge in aside if not edge.backward)

    def arranged(self) -> Arranged:
        """The column with everything in its place."""
        equal_widths(self.frames)
        halves = [frame.w / 2 for frame in self.frames]
        right = lay(self.right, self._beside_notes(halves))
        left = lay(self.left, halves)
        middle = left + (EDGE if self.left else 0)
        height = self._stack(middle)
        strokes = [*self._arrows(), *self._jumps(self.right, middle, 1), *self._jumps(self.left, middle, -1)]
        return Arranged(middle + right + (EDGE if self.right else 0), height, strokes)

    # ---------------------------------------------------------------- steps

    def _beside_notes(self, halves: list[float]) -> list[float]:
        """How far the column reaches to the right, with the words beside its arrows."""
        reaches = list(halves)
        for position, edges in self.down.items():
            reach = NOTE_AT + width_of(_said(edges), SMALL)
            for place in (position, position + 1):
                reaches[place] = max(reaches[place], reach)
        return reaches

    def _stack(self, middle: float) -> float:
        ports = [ports_by_step(self.right, right=True), ports_by_step(self.left, right=False)]
        y = 0.0
        for position, frame in enumerate(self.frames):
            sides = [side.get(position, []) for side in ports]
            frame.h = max([frame.h, *(APART * len(side) + 10 for side in sides)])
            frame.x, frame.y = middle - frame.w / 2, y
            for side in sides:
                _spread(side, frame)
            y = frame.bottom + GAP
        return max(y - GAP, 0.0)

    # ---------------------------------------------------------------- lines

    def _arrows(self) -> list[Stroke]:
        return [
            self._arrow(above, below, self.down[above.shape.position])
            for above, below in pairwise(self.frames)
            if above.shape.position in self.down
        ]

    def _arrow(self, above: Frame, below: Frame, edges: list[Edge]) -> Stroke:
        sort = "next" if any(edge.sort == "next" for edge in edges) else "jump"
        said = _said(edges)
        y = (above.bottom + below.y) / 2 + 3
        note = Note(above.middle + NOTE_AT, y, said, "start", width_of(said, SMALL)) if said else None
        end = (below.middle, below.y)
        tip = "\n".join(f"{edge.source.id}: {', '.join(edge.exits)} → {below.shape.id}" for edge in edges)
        return Stroke(sort, (above.middle, above.bottom), (end,), above.shape, below.shape, tip, note)

    def _jumps(self, lanes: list[Lane], middle: float, side: int) -> list[Stroke]:
        return [stroke for lane in lanes for stroke in self._lane(lane, middle, side)]

    def _lane(self, lane: Lane, middle: float, side: int) -> list[Stroke]:
        far = max(lane.spokes, key=lambda spoke: abs(spoke.y - lane.hub.y))
        return [self._jump(lane, spoke, middle, side, whole=spoke is far) for spoke in lane.spokes]

    def _jump(self, lane: Lane, spoke: Port, middle: float, side: int, *, whole: bool) -> Stroke:
        """One jump: the whole way for the longest; those that share its lane branch off or run into it."""
        x = middle + side * lane.x
        step, hub = self.frames[spoke.at], self.frames[lane.hub.at]
        along: list[Point] = [(middle + side * step.w / 2, spoke.y), (x, spoke.y)]
        if whole:
            along += [(x, lane.hub.y), (middle + side * hub.w / 2, lane.hub.y)]
        else:
            along.append((x, spoke.y + (RADIUS if lane.hub.y > spoke.y else -RADIUS)))
        source, target = step.shape, hub.shape if whole else None
        if not spoke.is_source:
            along, source, target = along[::-1], target, source
        return Stroke("jump", along[0], bent(along), source, target, spoke.tip, _beside(step, spoke, middle, side))


def _spread(ports: list[Port], frame: Frame) -> None:
    top = frame.y + frame.h / 2 - APART * (len(ports) - 1) / 2
    for number, port in enumerate(ports):
        port.y = top + APART * number + (4 if len(ports) > 1 else 0)


def _beside(frame: Frame, spoke: Port, middle: float, side: int) -> Note | None:
    if not spoke.note:
        return None
    x = middle + side * (frame.w / 2 + NOTE_AT + (0 if spoke.is_source else EDGE))
    return Note(x, spoke.y - 5.5, spoke.note, "start" if side > 0 else "end", width_of(spoke.note, SMALL))


def _said(edges: list[Edge]) -> str:
    """The words beside an arrow to the next step; the usual exits are only named where others go the same way."""
    if len(edges) == 1:
        return fitted(edges[0].words, SMALL, 150)
    words = dict.fromkeys(exit_ if edge.leaves is edge.source else edge.words for edge in edges for exit_ in edge.exits)
    return fitted(", ".join(words), SMALL, 150)


def column(box: Shape, frames: list[Frame]) -> Arranged:
    """Place the steps of a serial group."""
    return Column(box, frames).arranged()
