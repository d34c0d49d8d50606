"""What is written on a step: its lines and badges, set into a card of a given width."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

from perdure.plan.drawing.flow import Shape
from perdure.plan.drawing.lettering import fitted, folded, width_of

Role = Literal["id", "label", "title", "badge", "done", "fail", "lost", "jump"]

SIZES: Final[dict[Role, float]] = {"id": 13.5, "label": 12, "title": 12}
SMALL: Final = 10.5
"""Size of the letters in badges and on arrows."""

NARROWEST: Final = 132.0
WIDEST: Final = 264.0
PADDING: Final = 12.0
ICON: Final = 16.0
TEXT_AT: Final = PADDING + ICON + 8
FIRST_BASELINE: Final = 24.0
LINE: Final = 17.0
FOLDS: Final = 2
"""Lines that a long label or title may take."""
PILL: Final = 18.0
PILL_GAP: Final = 5.0
PILL_PADDING: Final = 7.0


@dataclass(frozen=True)
class Run:
    """A piece of a line in one style."""

    role: Role
    text: str

    @property
    def width(self) -> float:
        """Its estimated width."""
        return width_of(self.text, SIZES[self.role], bold=self.role == "id")


@dataclass(frozen=True)
class Line:
    """A line of text; `y` is its baseline. Places are relative to the card."""

    x: float
    y: float
    runs: tuple[Run, ...]

    @property
    def width(self) -> float:
        """Its estimated width."""
        return sum(run.width for run in self.runs) + RUN_GAP * (len(self.runs) - 1)


@dataclass(frozen=True)
class Pill:
    """A badge: a short text in a rounded frame."""

    x: float
    y: float
    w: float
    text: str
    role: Role


@dataclass(frozen=True)
class Card:
    """All that is written on a step."""

    w: float
    h: float
    lines: tuple[Line, ...]
    pills: tuple[Pill, ...]


RUN_GAP: Final = 9.0


def natural_width(shape: Shape, widest: float) -> float:
    """The width a card would like to have."""
    texts = [sum(run.width for run in runs) + RUN_GAP * (len(runs) - 1) for runs in (_heading(shape), *_below(shape))]
    pills = [_pill_width(text) for text, _ in _pills(shape)]
    wanted = max([*(TEXT_AT + width for width in texts), *(PADDING + width for width in pills)]) + PADDING
    return min(max(float(ceil(wanted)), NARROWEST), widest)


def card(shape: Shape, width: float) -> Card:
    """Everything set into a card of this width; too long texts are folded, then cut."""
    room = width - TEXT_AT - PADDING
    texts = [_cut(_heading(shape), room)]
    for (run,) in _below(shape):
        texts += [(Run(run.role, text),) for text in folded(run.text, SIZES[run.role], room, FOLDS)]
    lines = [Line(TEXT_AT, FIRST_BASELINE + LINE * number, runs) for number, runs in enumerate(texts)]
    bottom = lines[-1].y + 9
    pills = tuple(_rows(shape, width, bottom))
    return Card(width, pills[-1].y + PILL + 10 if pills else bottom + 3, tuple(lines), pills)


def _label(shape: Shape) -> tuple[Run, ...]:
    return (Run("label", shape.label),) if shape.label and shape.label != shape.id else ()


def _heading(shape: Shape) -> tuple[Run, ...]:
    """The first line; a box has its label beside its name."""
    return (Run("id", shape.id), *(_label(shape) if shape.mode is not None else ()))


def _below(shape: Shape) -> list[tuple[Run]]:
    runs = _label(shape) if shape.mode is None else ()
    return [(run,) for run in (*runs, *((Run("title", shape.title),) if shape.title else ()))]


def _cut(runs: tuple[Run, ...], room: float) -> tuple[Run, ...]:
    kept: list[Run] = []
    for run in runs:
        text = fitted(run.text, SIZES[run.role], room, bold=run.role == "id")
        if text == "…" and kept:
            break
        kept.append(Run(run.role, text))
        room -= kept[-1].width + RUN_GAP
    return tuple(kept)


# ------------------------------------------------------------------------------- badges


def _pills(shape: Shape) -> Iterator[tuple[str, Role]]:
    for badge in shape.badges:
        yield badge, "badge"
    for end in shape.ends:
        if end.exits:
            role: Role = "done" if end.word == "done" else "fail" if end.word == "fail" else "lost"
            yield f"{', '.join(end.exits)} → {end.word}", role
    for edge in shape.outward:
        if edge.target is not None:
            yield f"{', '.join(edge.exits)} → {edge.target.id}", "jump"


def _pill_width(text: str) -> float:
    return width_of(text, SMALL) + 2 * PILL_PADDING


def _rows(shape: Shape, width: float, top: float) -> Iterator[Pill]:
    x, y, room = PADDING, top, width - 2 * PADDING
    for text, role in _pills(shape):
        shown = fitted(text, SMALL, room - 2 * PILL_PADDING)
        taken = _pill_width(shown)
        if x > PADDING and x + taken > width - PADDING:
            x, y = PADDING, y + PILL + PILL_GAP
        yield Pill(x, y, taken, shown, role)
        x += taken + PILL_GAP
