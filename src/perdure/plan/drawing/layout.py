"""The geometry of a picture: every step with a place and a size, every edge as a line. No colours, no SVG."""

from dataclasses import dataclass
from typing import Final

from perdure.plan.drawing.column import column
from perdure.plan.drawing.flow import Flow, Shape
from perdure.plan.drawing.frames import Arranged, Frame, frame_of
from perdure.plan.drawing.graph import graph, rows
from perdure.plan.drawing.strokes import Stroke

MARGIN: Final = 24.0


@dataclass(frozen=True)
class Layout:
    """A picture's size, its steps in document order, and its lines; all places are absolute."""

    w: float
    h: float
    frames: list[Frame]
    strokes: list[Stroke]


def layout(flow: Flow) -> Layout:
    """Place everything: sizes from the inside out, then places from the outside in."""
    frames: dict[Shape, Frame] = {}
    for shape in reversed(flow.shapes):  # children come after their group, so backwards they are ready before it
        inside = [frames[child] for child in shape.inside]
        frames[shape] = frame_of(shape, _arranged(shape, inside) if inside else None)
    whole = _arranged(flow.root, [frames[child] for child in flow.root.inside])
    strokes = [stroke.moved(MARGIN, MARGIN) for stroke in whole.strokes]
    for shape in flow.shapes:
        strokes += _settle(frames[shape], frames[shape.parent] if shape.parent and shape.parent.number else None)
    placed = [frames[shape] for shape in flow.shapes]
    return Layout(whole.w + 2 * MARGIN, whole.h + 2 * MARGIN, placed, strokes)


def _arranged(shape: Shape, inside: list[Frame]) -> Arranged:
    if shape.mode == "parallel":
        return rows(inside)
    return graph(shape, inside) if shape.mode == "graph" else column(shape, inside)


def _settle(frame: Frame, around: Frame | None) -> list[Stroke]:
    """Make a frame's place absolute; the lines in it come along."""
    x, y = around.inner if around else (MARGIN, MARGIN)
    frame.x, frame.y = frame.x + x, frame.y + y
    return [stroke.moved(*frame.inner) for stroke in frame.content.strokes] if frame.content else []
