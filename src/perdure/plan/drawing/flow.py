"""What all pictures of a plan show: its steps as shapes, boxes within boxes, and the edges between them.

Every text in a shape has gone through `visible`; a picture only has to quote it in its own way.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from perdure.plan.drawing import words
from perdure.plan.drawing.words import FAMILIES, Family, Mode
from perdure.plan.flow import aimed_at, leads
from perdure.plan.index import Holder, Index, Node
from perdure.plan.model.document import Plan
from perdure.plan.model.steps import DoneStep, FailStep, Leading
from perdure.plan.visible import visible

Sort = Literal["next", "jump", "needs", "end"]

LONGEST: Final = 300
"""Characters of a text that a picture shows at most, even in a tooltip."""
USUAL: Final = frozenset({"success", "approved", "elapsed"})
"""Exits that go without saying on an arrow to the next step."""


@dataclass(eq=False, repr=False)
class Shape:
    """One step as it is drawn. The plan itself is shape 0 and holds the others."""

    number: int
    node: Node
    parent: "Shape | None"
    kind: str
    mode: Mode | None
    """How the steps inside stand to each other; nothing for a step that holds none."""
    id: str
    title: str
    label: str
    badges: tuple[str, ...]
    inside: "list[Shape]" = field(default_factory=list["Shape"])
    edges: "list[Edge]" = field(default_factory=list["Edge"])
    """The edges drawn in this box: both ends are at one of its children."""
    ends: "list[Edge]" = field(default_factory=list["Edge"])
    """The exits of this step that end its group, or lead nowhere."""
    outward: "list[Edge]" = field(default_factory=list["Edge"])
    """The jumps of this step that leave its group."""
    needs: tuple[str, ...] = ()
    ways: tuple[tuple[str, str], ...] = ()
    """Exits and targets, apart from what is left to recovery."""
    leads: tuple[tuple[str, str], ...] = ()
    """The ways that are worth a word: written ones, and choices."""

    @property
    def family(self) -> Family:
        """Steps of one family share a colour."""
        return FAMILIES.get(self.kind, "group")

    @property
    def position(self) -> int:
        """Its place among its siblings."""
        return self.node.position


@dataclass(frozen=True, eq=False)
class Edge:
    """One way from a step to another, or to the end of its group."""

    sort: Sort
    source: Shape
    leaves: Shape
    """The child of the box that holds (or is) the source; a jump outward starts at its border."""
    target: Shape | None
    exits: tuple[str, ...] = ()
    word: str = ""
    """Of an end: `done`, `fail`, or a target that is no step in reach."""

    @property
    def backward(self) -> bool:
        """Whether it leads to a step that was passed before: a loop."""
        return self.sort == "jump" and self.target is not None and self.target.position <= self.leaves.position

    @property
    def words(self) -> str:
        """What is written on it."""
        said = ", ".join(self.exits)
        if self.sort == "next":
            return "" if USUAL.intersection(self.exits) else said
        return said if self.leaves is self.source else f"{self.source.id}: {said}"


class Flow:
    """The shapes and edges of a plan, in document order."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.index = Index(plan)
        self.root = _shape(0, self.index.root, None)
        self.shapes: list[Shape] = []
        self._by_node: dict[Node, Shape] = {self.index.root: self.root}
        for number, node in enumerate(self.index.nodes, start=1):
            self._add(number, node)
        for shape in self.shapes:
            self._connect(shape)

    @property
    def edges(self) -> Iterator[Edge]:
        """Every edge of the plan."""
        for shape in (self.root, *self.shapes):
            yield from shape.edges
            yield from shape.ends

    def _add(self, number: int, node: Node) -> None:
        parent = self._by_node[node.parent or self.index.root]
        shape = _shape(number, node, parent)
        parent.inside.append(shape)
        self.shapes.append(shape)
        self._by_node[node] = shape

    def _connect(self, shape: Shape) -> None:
        by_target: dict[str, list[str]] = {}
        for exit_, target in leads(shape.node, self.index):
            by_target.setdefault(target, []).append(exit_)
        shape.ways = tuple((", ".join(exits), target) for target, exits in by_target.items() if target != "recover")
        shape.leads = tuple(_worth_saying(shape.node, by_target))
        for target, exits in by_target.items():
            self._lead(shape, target, tuple(exits))
        if isinstance(shape.node.step, (DoneStep, FailStep)):
            shape.ends.append(Edge("end", shape, shape, None, word=shape.kind))
        self._need(shape)

    def _lead(self, shape: Shape, target: str, exits: tuple[str, ...]) -> None:
        if target == "next":
            self._go_on(shape, exits)
        elif target in ("done", "fail"):
            shape.ends.append(Edge("end", shape, shape, None, exits, target))
        elif target != "recover":
            self._jump(shape, target, exits)

    def _go_on(self, shape: Shape, exits: tuple[str, ...]) -> None:
        box = shape.parent
        if box is not None and box.mode == "serial" and shape.position + 1 < len(box.node.children):
            following = self._by_node[box.node.children[shape.position + 1]]
            box.edges.append(Edge("next", shape, shape, following, exits))

    def _jump(self, shape: Shape, target: str, exits: tuple[str, ...]) -> None:
        found = aimed_at(shape.node, target, self.index)
        if found is None or found.parent is None:
            shape.ends.append(Edge("end", shape, shape, None, exits, visible(target, LONGEST)))
            return
        box, leaves = self._by_node[found.parent], shape
        while leaves.parent is not box and leaves.parent is not None:
            leaves = leaves.parent
        jump = Edge("jump", shape, leaves, self._by_node[found], exits)
        box.edges.append(jump)
        if leaves is not shape:
            shape.outward.append(jump)

    def _need(self, shape: Shape) -> None:
        box = shape.parent
        if box is None or box.mode == "serial":
            return
        for needed in dict.fromkeys(shape.needs):
            found = self.index.by_id.get(needed)
            if found is not None and found.parent is box.node and found is not shape.node:
                source = self._by_node[found]
                box.edges.append(Edge("needs", source, source, shape))


def _shape(number: int, node: Node, parent: Shape | None) -> Shape:
    step, plan = node.step, node.holder
    mode = _mode(node.holder)
    name = plan.goal or plan.name or "plan" if isinstance(plan, Plan) and step is None else node.id
    return Shape(
        number=number,
        node=node,
        parent=parent,
        kind=words.kind(step) if step is not None else "plan",
        mode=mode,
        id=visible(name, LONGEST),
        title=visible(step.title, LONGEST) if step is not None else "",
        label=visible(words.label(step, mode) if step is not None else mode or "", LONGEST),
        badges=tuple(visible(badge, LONGEST) for badge in words.badges(step, node.holder)),
        needs=step.needs if step is not None else (),
    )


def _mode(holder: Holder | None) -> Mode | None:
    if holder is None or holder.mode == "serial":
        return None if holder is None else "serial"
    return "graph" if any(step.needs for step in holder.steps) else "parallel"


def _worth_saying(node: Node, by_target: dict[str, list[str]]) -> Iterable[tuple[str, str]]:
    written = node.step.on if isinstance(node.step, Leading) else {}
    for target, exits in by_target.items():
        said = [exit_ for exit_ in exits if exit_ in written or target not in ("next", "recover")]
        if said:
            yield ", ".join(said), target
