"""A plan as a tree for the terminal: one line for each step."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final
from unicodedata import combining, east_asian_width

from perdure.plan.drawing.flow import Flow, Shape
from perdure.plan.model.document import Plan

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

MARKERS: Final = {
    "tool": "▪",
    "model": "▫",
    "agent": "●",
    "decide": "◆",
    "ask": "?",
    "wait": "○",
    "checkpoint": "⚑",
    "rollback": "↶",
    "group": "▾",
    "map": "≡",
    "plan": "□",
    "done": "✓",
    "fail": "✗",
}
COLOURS: Final = {"act": "blue", "pause": "yellow", "group": "cyan", "done": "green", "fail": "red"}

Span = tuple[str, str]
"""A text and its style."""

WIDEST_ID: Final = 24
"""Ids up to this width are padded, so that labels of siblings stand below each other."""


def tree(plan: Plan) -> "Tree":
    """The plan as a tree for `rich`."""
    from rich.tree import Tree  # noqa: PLC0415  only this picture needs it, and importing it takes time

    flow = Flow(plan)
    top = Tree(_text(_heading(flow.root)), guide_style="dim")
    branches = {0: top}
    for shape, column in _rows(flow):
        above = branches[shape.parent.number if shape.parent else 0]
        branches[shape.number] = above.add(_text(_spans(shape, column)))
    return top


def plain_tree(plan: Plan, width: int = 100, depth: int = 1000) -> str:
    """The same tree as plain text, no line wider than `width`, and no step that is deeper than `depth`."""
    flow = Flow(plan)
    lines = [_joined(_heading(flow.root))]
    rails = {0: ""}
    for shape, column in _rows(flow):
        if shape.node.depth > depth:
            continue
        rail = rails[shape.parent.number if shape.parent else 0]
        last = shape.parent is None or shape.parent.inside[-1] is shape
        rails[shape.number] = rail + ("    " if last else "│   ")
        lines.append(rail + ("└── " if last else "├── ") + _joined(_spans(shape, column)))
    return "\n".join(cropped(line, width) for line in lines) + "\n"


def _rows(flow: Flow) -> Iterator[tuple[Shape, int]]:
    """Every step with the width of the ids beside it."""
    columns: dict[int, int] = {}
    for shape in flow.shapes:
        above = shape.parent or flow.root
        if above.number not in columns:
            columns[above.number] = max(len(each.id) for each in above.inside)
        yield shape, min(columns[above.number], WIDEST_ID)


def _heading(root: Shape) -> Iterator[Span]:
    yield root.id, "bold"
    said = [*([root.label] if root.mode != "serial" else []), *root.badges]
    if said:
        yield "  " + " · ".join(said), "dim"


def _spans(shape: Shape, column: int) -> Iterator[Span]:
    yield MARKERS[shape.kind] + " ", COLOURS[shape.family]
    yield shape.id, "bold"
    if shape.label != shape.id:
        yield " " * (column - len(shape.id)) + "  " + shape.label, COLOURS[shape.family]
    for lead in _leads(shape):
        yield "  " + lead, "magenta"
    if shape.needs:
        yield "  needs " + ", ".join(shape.needs), "cyan"
    if shape.badges:
        yield "  " + " · ".join(shape.badges), ""
    if shape.title:
        yield "  — " + shape.title, "dim"


def _leads(shape: Shape) -> Iterator[str]:
    """Where exits lead; choices that are named like their steps are named once."""
    same = [target for exits, target in shape.leads if exits == target]
    if same:
        yield "→ " + ", ".join(same)
    for exits, target in shape.leads:
        if exits != target:
            yield f"{exits} → {target}"


def _text(spans: Iterable[Span]) -> "Text":
    from rich.text import Text  # noqa: PLC0415  see `tree`

    # `append`, not markup: brackets in somebody's text are brackets.
    text = Text(no_wrap=True, overflow="ellipsis")
    for words, style in spans:
        text.append(words, style)
    return text


def _joined(spans: Iterable[Span]) -> str:
    return "".join(words for words, _ in spans)


def cells(letter: str) -> int:
    """The columns that a letter takes in a terminal."""
    if combining(letter):
        return 0
    return 2 if east_asian_width(letter) in "WF" else 1


def cropped(line: str, width: int) -> str:
    """The line, cut with an `…` where it is wider than the terminal."""
    if len(line) * 2 <= width or sum(map(cells, line)) <= width:
        return line
    kept, used = 0, 1
    while kept < len(line) and used + cells(line[kept]) <= width:
        used += cells(line[kept])
        kept += 1
    return line[:kept].rstrip() + "…"
