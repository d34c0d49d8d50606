"""A plan as Mermaid text, for Markdown pages that draw it."""

import re
from collections.abc import Iterator
from typing import Final

from perdure.plan.drawing.flow import Edge, Flow, Shape
from perdure.plan.model.document import Plan
from perdure.plan.visible import visible

OUTLINES: Final = {
    "tool": ("[", "]"),
    "model": ("(", ")"),
    "agent": ("(", ")"),
    "decide": ("{", "}"),
    "ask": ("[/", "/]"),
    "wait": ("{{", "}}"),
    "checkpoint": ("[(", ")]"),
    "rollback": (">", "]"),
    "group": ("[[", "]]"),
    "map": ("[[", "]]"),
    "plan": ("[[", "]]"),
    "done": ("([", "])"),
    "fail": ("([", "])"),
}
STROKES: Final = {"act": "#3f6fb0", "pause": "#b7791f", "group": "#7b8794", "done": "#2f855a", "fail": "#c0392b"}
LONGEST: Final = 60

_UNSAFE: Final = re.compile(
    r"[^A-Za-z0-9_ .,/+=!?:\u00a0-\U0010ffff-]"  # quotation marks, brackets, `#`, `;`, `%`, `<`, `&`, `$`, backticks …
    r"|:(?! )|[ﬂ¶]"  # class marks; Mermaid's own marks
    r"|(?<![A-Za-z0-9])[_.-]|[_.](?![A-Za-z0-9])"  # emphasis and lists
)

_SPELLS: Final = re.compile(r"\$(?=\$)|\bfa[a-z]?:(?=fa-)")
"""Formulas and icons: Mermaid looks for them after it has read the numbers, so they are broken up by a space."""


def mermaid(plan: Plan) -> str:
    """The plan as a `flowchart`: subgraphs for groups, dotted arrows for jumps."""
    flow = Flow(plan)
    lines = ["flowchart TD", *_boxes(flow), *_arrows(flow), *_colours(flow)]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """A text in quotation marks that stays a text: what could mean more is written as its number."""
    return f'"{_inert(text)}"'


def _inert(text: str) -> str:
    spelled = _SPELLS.sub(lambda match: f"{match[0]} ", visible(text, LONGEST))
    return _UNSAFE.sub(lambda match: f"#{ord(match[0])};", spelled)


def _name(shape: Shape) -> str:
    return f"n{shape.number}"


# ------------------------------------------------------------------------------- steps


def _boxes(flow: Flow) -> Iterator[str]:
    open_boxes: list[Shape] = []
    for shape in flow.shapes:
        while open_boxes and shape.parent is not open_boxes[-1]:
            open_boxes.pop()
            yield "  " * (len(open_boxes) + 1) + "end"
        yield "  " * (len(open_boxes) + 1) + (_subgraph(shape) if shape.inside else _node(shape))
        if shape.inside:
            open_boxes.append(shape)
            yield "  " * (len(open_boxes) + 1) + "direction TB"
    for depth in range(len(open_boxes), 0, -1):
        yield "  " * depth + "end"


def _node(shape: Shape) -> str:
    before, after = OUTLINES[shape.kind]
    lines = [shape.id, *([shape.label] if shape.label != shape.id else [])]
    lines += [shape.title] if shape.title else []
    lines += [" · ".join(shape.badges)] if shape.badges else []
    return f'{_name(shape)}{before}"{"<br/>".join(map(_inert, lines))}"{after}'


def _subgraph(shape: Shape) -> str:
    said = [shape.id, shape.label, *([shape.title] if shape.title else []), *shape.badges]
    return f'subgraph {_name(shape)}["{" · ".join(map(_inert, said))}"]'


def _colours(flow: Flow) -> Iterator[str]:
    for family, stroke in STROKES.items():
        names = [_name(shape) for shape in flow.shapes if shape.family == family]
        if names:
            yield f"  classDef {family} stroke:{stroke}"
            yield f"  class {','.join(names)} {family}"


# ------------------------------------------------------------------------------- arrows


def _arrows(flow: Flow) -> Iterator[str]:
    ends: dict[str, str] = {}
    for edge in flow.edges:
        if edge.sort != "end":
            yield "  " + _arrow(edge)
        elif edge.exits:
            yield from _end(edge, ends)


def _arrow(edge: Edge) -> str:
    source, target = _tips(edge)
    line = "-.->" if edge.sort == "jump" else "-->"
    said = ", ".join(edge.exits) if edge.sort == "jump" else edge.words
    return f"{source} {line}|{quoted(said)}| {target}" if said else f"{source} {line} {target}"


def _tips(edge: Edge) -> tuple[str, str]:
    """The names at both ends. Mermaid breaks where a subgraph is tied to itself or to a step inside it."""
    source, target = edge.source, edge.target or edge.source
    if edge.leaves is target:
        target = _leaf(target, 0)
        source = _leaf(source, -1)
    return _name(source), _name(target)


def _leaf(shape: Shape, which: int) -> Shape:
    while shape.inside:
        shape = shape.inside[which]
    return shape


def _end(edge: Edge, ends: dict[str, str]) -> Iterator[str]:
    box = edge.source.parent.number if edge.source.parent else 0
    key = f"{box} {edge.word}"
    if key not in ends:
        ends[key] = f"e{len(ends) + 1}"
        yield f"  {ends[key]}(({quoted(edge.word)}))"
    yield f"  {_name(edge.source)} -.->|{quoted(', '.join(edge.exits))}| {ends[key]}"
