"""A plan as one SVG that needs nothing else: for a README, a report, a page."""

from collections.abc import Iterator
from functools import cache
from html import escape
from importlib import resources
from typing import Final

from perdure.plan.drawing.cards import ICON, PADDING, PILL, RUN_GAP, Line, Pill
from perdure.plan.drawing.flow import Flow, Shape
from perdure.plan.drawing.frames import Frame
from perdure.plan.drawing.layout import Layout, layout
from perdure.plan.drawing.strokes import Note, Stroke
from perdure.plan.model.document import Plan
from perdure.plan.visible import number_of

AFTER: Final = f' dx="{RUN_GAP:g}"'


def svg(plan: Plan) -> str:
    """The plan as a picture, light or dark as the reader likes it."""
    return picture(Flow(plan))


def picture(flow: Flow) -> str:
    """The picture of a flow."""
    placed = layout(flow)
    return "\n".join([*_head(flow, placed), *_frames(placed), *_strokes(placed), "</svg>"]) + "\n"


@cache
def part(name: str) -> str:
    """A file beside this one: styles, scripts, icons."""
    return resources.files(__package__ or "").joinpath(name).read_text(encoding="utf-8").strip()


def _head(flow: Flow, placed: Layout) -> Iterator[str]:
    w, h = _short(placed.w), _short(placed.h)
    yield (
        '<svg xmlns="http://www.w3.org/2000/svg" class="perdure" role="img"'
        ' aria-labelledby="perdure-title perdure-desc"'
        f' width="{w}" height="{h}" viewBox="0 0 {w} {h}">'
    )
    yield f'<title id="perdure-title">{escape(flow.root.id)}</title>'
    yield f'<desc id="perdure-desc">{escape(_described(flow))}</desc>'
    yield f"<style>{part('picture.css')}</style>"
    yield f"<defs>{part('icons.svg')}</defs>"
    yield f'<rect class="ground" width="{w}" height="{h}" rx="10"/>'


def _described(flow: Flow) -> str:
    names = [shape.id for shape in flow.root.inside]
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")  # noqa: PLR2004  enough to be read aloud
    return f"A plan of {number_of(len(flow.shapes), 'step')}: {shown}."


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


# ------------------------------------------------------------------------------- steps


def _frames(placed: Layout) -> Iterator[str]:
    for frame in placed.frames:
        shape = frame.shape
        yield f'<g class="{shape.family}" transform="translate({_short(frame.x)} {_short(frame.y)})">'
        yield f"<title>{escape(tooltip(shape))}</title>"
        yield from _outline(frame)
        yield (
            f'<use class="icon" href="#perdure-{shape.kind}" x="{_short(PADDING)}" y="12"'
            f' width="{_short(ICON)}" height="{_short(ICON)}"/>'
        )
        yield from map(_line, frame.card.lines)
        yield from (each for pill in frame.card.pills for each in _pill(pill))
        yield "</g>"


def _outline(frame: Frame) -> Iterator[str]:
    size = f'width="{_short(frame.w)}" height="{_short(frame.h)}"'
    if frame.shape.kind == "map":
        yield f'<path class="behind" d="{_edges_behind(frame.w, frame.h)}"/>'
    if frame.shape.inside:
        yield f'<rect class="box" {size} rx="10"/>'
    else:
        round_ = frame.h / 2 if frame.shape.family in ("done", "fail") and not frame.card.pills else 8
        yield f'<rect class="card" {size} rx="{_short(round_)}"/>'


def _edges_behind(w: float, h: float) -> str:
    """Two more sheets below a map: what is in it is done for each item."""
    sheets = [(3.5, 10.0), (7.0, 10.0)]
    return "".join(
        f"M{_short(w + out)} {_short(out + 8)}V{_short(h + out - r)}Q{_short(w + out)} {_short(h + out)}"
        f" {_short(w + out - r)} {_short(h + out)}H{_short(out + 8)}"
        for out, r in sheets
    )


def _line(line: Line) -> str:
    spans = [
        f'<tspan class="{run.role}"{AFTER if number else ""}>{escape(run.text)}</tspan>'
        for number, run in enumerate(line.runs)
    ]
    return f'<text x="{_short(line.x)}" y="{_short(line.y)}">{"".join(spans)}</text>'


def _pill(pill: Pill) -> Iterator[str]:
    extra = f" pill-{pill.role}" if pill.role != "badge" else ""
    text = f" pill-text-{pill.role}" if pill.role != "badge" else ""
    yield (
        f'<rect class="pill{extra}" x="{_short(pill.x)}" y="{_short(pill.y)}" width="{_short(pill.w)}"'
        f' height="{_short(PILL)}" rx="9"/>'
    )
    yield (
        f'<text class="pill-text{text}" x="{_short(pill.x + pill.w / 2)}" y="{_short(pill.y + 12.5)}">'
        f"{escape(pill.text)}</text>"
    )


def tooltip(shape: Shape) -> str:
    """All that is known of a step, for whoever points at it."""
    lines = [f"{shape.id} ({shape.kind})", shape.label, shape.title, *shape.badges]
    lines += [f"{exits} → {target}" for exits, target in shape.leads]
    lines += [f"needs {', '.join(shape.needs[:40])}"] if shape.needs else []
    return "\n".join(line for line in lines if line)


# ------------------------------------------------------------------------------- lines


def _strokes(placed: Layout) -> Iterator[str]:
    for stroke in placed.strokes:
        tip = f"<title>{escape(stroke.tip)}</title>" if stroke.tip else ""
        yield f'<path class="line {stroke.sort}"{_marker(stroke)} d="{_path(stroke)}">{tip}</path>'
    for stroke in placed.strokes:
        if stroke.note is not None:
            yield _note(stroke.note)


def _marker(stroke: Stroke) -> str:
    name = "perdure-jump-tip" if stroke.sort == "jump" else "perdure-tip"
    return f' marker-end="url(#{name})"' if stroke.target is not None else ""


def _path(stroke: Stroke) -> str:
    legs = [f"{'C' if len(leg) > 2 else 'L'}{' '.join(map(_short, leg))}" for leg in stroke.legs]  # noqa: PLR2004
    return f"M{_short(stroke.start[0])} {_short(stroke.start[1])}" + "".join(legs)


def _note(note: Note) -> str:
    anchor = ' text-anchor="end"' if note.anchor == "end" else ""
    return f'<text class="note" x="{_short(note.x)}" y="{_short(note.y)}"{anchor}>{escape(note.text)}</text>'
