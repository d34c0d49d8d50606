"""Lines of a picture: the pieces that edges are made of, and what is written beside them."""

from dataclasses import dataclass, replace
from itertools import pairwise
from math import hypot
from typing import Final, Literal

from perdure.plan.drawing.flow import Shape

Point = tuple[float, float]
Leg = tuple[float, ...]
"""Two numbers: a straight line to there. Six: a curve, by two control points and its end."""

RADIUS: Final = 10.0


@dataclass(frozen=True)
class Note:
    """A word beside a line; `y` is its baseline."""

    x: float
    y: float
    text: str
    anchor: Literal["start", "end"]
    width: float


@dataclass(frozen=True)
class Stroke:
    """A line from a step's border, or from another line that it branches off, to a border or a line."""

    sort: Literal["next", "jump", "needs"]
    start: Point
    legs: tuple[Leg, ...]
    source: Shape | None
    """The shape at whose border it starts; nothing where it branches off another line."""
    target: Shape | None
    """The shape at whose border it ends, with a tip; nothing where it runs into another line."""
    tip: str = ""
    """What is said when somebody points at it."""
    note: Note | None = None

    def moved(self, x: float, y: float) -> "Stroke":
        """The same line elsewhere."""
        legs = tuple(tuple(value + (y if place % 2 else x) for place, value in enumerate(leg)) for leg in self.legs)
        note = replace(self.note, x=self.note.x + x, y=self.note.y + y) if self.note else None
        return replace(self, start=(self.start[0] + x, self.start[1] + y), legs=legs, note=note)

    @property
    def end(self) -> Point:
        """Where it ends."""
        return (self.legs[-1][-2], self.legs[-1][-1])


def bent(points: list[Point]) -> tuple[Leg, ...]:
    """A line along these points, with round corners."""
    legs: list[Leg] = []
    here = points[0]
    for corner, after in pairwise(points[1:]):
        before = _towards(corner, here, RADIUS)
        beyond = _towards(corner, after, RADIUS)
        legs += [before, (*corner, *corner, *beyond)]
        here = beyond
    return (*legs, points[-1])


def _towards(start: Point, goal: Point, far: float) -> Point:
    """The point this far on the way, but not beyond its middle."""
    length = hypot(goal[0] - start[0], goal[1] - start[1])
    share = min(far / length, 0.5) if length else 0.0
    return (start[0] + (goal[0] - start[0]) * share, start[1] + (goal[1] - start[1]) * share)


def swing(start: Point, end: Point) -> Leg:
    """A smooth curve that leaves downwards and arrives downwards."""
    bend = (end[1] - start[1]) / 2
    return (start[0], start[1] + bend, end[0], end[1] - bend, *end)
