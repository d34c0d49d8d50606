"""Steps with a place: what the arrangements put side by side and below each other."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from perdure.plan.drawing.cards import WIDEST, Card, card, natural_width
from perdure.plan.drawing.flow import Shape
from perdure.plan.drawing.strokes import Stroke

PADDING: Final = 18.0
"""Between the border of a box and what is in it."""


BOX_WIDEST: Final = 380.0
"""A box whose content is narrow may be this wide for its heading."""


@dataclass(frozen=True)
class Arranged:
    """The content of a box: how large it came out, and the lines in it."""

    w: float
    h: float
    strokes: list[Stroke]


@dataclass(eq=False)
class Frame:
    """A step with its place, relative to the content of the box around it until the layout is finished."""

    shape: Shape
    card: Card
    content: Arranged | None = None
    w: float = 0.0
    h: float = 0.0
    x: float = 0.0
    y: float = 0.0

    @property
    def middle(self) -> float:
        """Where arrows arrive from above and leave below."""
        return self.x + self.w / 2

    @property
    def right(self) -> float:
        """Its right border."""
        return self.x + self.w

    @property
    def bottom(self) -> float:
        """Its lower border."""
        return self.y + self.h

    @property
    def inner(self) -> tuple[float, float]:
        """Where the content of a box begins."""
        spare = (self.w - self.content.w) / 2 if self.content else 0.0
        return (self.x + spare, self.y + self.card.h)

    def fit(self, width: float) -> None:
        """Set what is written into another width; the height follows."""
        self.card = card(self.shape, width)
        self.w, self.h = width, self.card.h + (self.content.h + PADDING if self.content else 0.0)


def frame_of(shape: Shape, content: Arranged | None) -> Frame:
    """A step, around its content if it has any."""
    width = natural_width(shape, BOX_WIDEST if content else WIDEST)
    width = max(width, content.w + 2 * PADDING) if content else width
    frame = Frame(shape, card(shape, width), content)
    frame.fit(width)
    return frame


def plain(frames: Iterable[Frame]) -> list[Frame]:
    """The steps that hold no others and do not end their group."""
    return [frame for frame in frames if not frame.shape.inside and frame.shape.family not in ("done", "fail")]


def equal_widths(frames: Iterable[Frame]) -> None:
    """Make plain steps equally wide, so that they read as one column or row."""
    same = plain(frames)
    width = max((frame.w for frame in same), default=0.0)
    for frame in same:
        frame.fit(width)


def equal_heights(frames: Iterable[Frame]) -> None:
    """Make plain steps of one row equally high."""
    same = plain(frames)
    height = max((frame.h for frame in same), default=0.0)
    for frame in same:
        frame.h = height
