"""Every step of a plan by id, with the groups around it. One walk, no recursion."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from perdure.plan.model.document import Plan
from perdure.plan.model.steps import AnyStep, GroupStep, MapStep, SubplanStep
from perdure.plan.problems import Path, Segment

Holder = Plan | GroupStep | MapStep
"""What has `steps` and a `mode`."""


class Node:
    """One step in its place. The plan itself is the root node, without a step."""

    __slots__ = ("_scope", "children", "depth", "holder", "id", "parent", "position", "step")

    def __init__(
        self, step: AnyStep | None, holder: Holder | None, parent: "Node | None", position: int, depth: int
    ) -> None:
        self.step = step
        self.id: Final = step.id if step else ""
        """The step's id; the root has none. Edits put other nodes in, or leave the id as it is."""
        self.holder = holder
        """What holds this node's children; for a sub-plan, the inline plan."""
        self.parent, self.position, self.depth = parent, position, depth
        self.children: list[Node] = []
        self._scope: Node | None = None

    @property
    def path(self) -> Path:
        """Where it stands in the document. A plan may be edited in its place, so nobody notes it."""
        found: list[Segment] = []
        node = self
        while node.parent is not None:
            inside = ("plan", "steps") if isinstance(node.parent.step, SubplanStep) else ("steps",)
            found[:0] = (*inside, node.position)
            node = node.parent
        return tuple(found)

    @property
    def is_scope(self) -> bool:
        """Whether steps inside see only each other: the plan, a sub-plan, the body of a map."""
        return self.parent is None or isinstance(self.step, (MapStep, SubplanStep))

    @property
    def serial(self) -> bool:
        """Whether the children follow one another."""
        return self.holder is not None and self.holder.mode == "serial"

    @property
    def scope(self) -> "Node":
        """The nearest scope around this node's step."""
        if self._scope is None:
            node = self.parent or self
            while not node.is_scope:
                node = node.parent or node
            self._scope = node
        return self._scope

    @property
    def around(self) -> Iterator["Node"]:
        """The groups around this step, innermost first, the root last."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


class Index:
    """The tree of a plan, made once and asked often."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.root = Node(None, plan, None, 0, 0)
        self.by_id: dict[str, Node] = {}
        self.nodes = list(grown(self.root))
        for node in self.nodes:
            self.by_id.setdefault(node.id, node)

    @cached_property
    def nodes(self) -> list[Node]:
        """Every step, in the order of the document; who edits the tree forgets it."""
        return list(within(self.root))

    @property
    def groups(self) -> Sequence[Node]:
        """The plan itself, and every step."""
        return (self.root, *self.nodes)

    def copy(self) -> "Index":
        """The same tree in nodes of its own, to be edited."""
        copied = object.__new__(Index)
        copied.plan, copied.root = self.plan, _copied(self.root, None)
        copied.by_id = {node.id: node for node in copied.nodes}
        return copied


class Section(Index):
    """Some steps of a tree, to be looked at alone; the rest is there to be referred to."""

    def __init__(self, index: Index, nodes: list[Node], groups: list[Node], *, jumps: bool) -> None:
        self.plan, self.root, self.by_id = index.plan, index.root, index.by_id
        self.nodes = nodes
        self._groups = groups
        self.jumps = jumps
        """Whether some of it may lead elsewhere than to the step that follows."""
        self._known = set(nodes)

    def looked_at(self, group: Node) -> Sequence[Node]:
        """The children of a group that are to be looked at: all of a new one."""
        return group.children if group in self._known else [node for node in self.nodes if node.parent is group]

    @property
    def groups(self) -> Sequence[Node]:
        """Those whose order, and those whose own words are to be looked at."""
        return self._groups


def grown(top: Node) -> Iterator[Node]:
    """All that stands inside a node, made as it is walked, in the order of the document."""
    stack = [top]
    while stack:
        node = stack.pop()
        if node is not top:
            yield node
        for position, step in enumerate(node.holder.steps if node.holder else ()):
            node.children.append(Node(step, held_by(step), node, position, node.depth + 1))
        stack.extend(reversed(node.children))


def within(top: Node) -> Iterator[Node]:
    """All that stands inside a node, in the order of the document."""
    stack = [top]
    while stack:
        node = stack.pop()
        if node is not top:
            yield node
        if node.children:
            stack.extend(reversed(node.children))


def _copied(top: Node, parent: Node | None) -> Node:
    """A node with all that is in it."""
    made = Node(top.step, top.holder, parent, top.position, top.depth)
    stack = [(top, made)]
    while stack:
        node, copy = stack.pop()
        copy.children = [Node(each.step, each.holder, copy, each.position, each.depth) for each in node.children]
        stack.extend(pair for pair in zip(node.children, copy.children, strict=True) if pair[0].children)
    return made


def held_by(step: AnyStep) -> Holder | None:
    """What holds the steps inside a step."""
    if isinstance(step, (GroupStep, MapStep)):
        return step
    if isinstance(step, SubplanStep) and isinstance(step.plan, Plan):
        return step.plan
    return None


def meeting(one: Node, other: Node) -> tuple[Node, Node, Node]:
    """The nearest node around both, and its children that hold (or are) the two."""
    a, b = one, other
    while a.depth > b.depth and a.parent is not None:
        a = a.parent
    while b.depth > a.depth and b.parent is not None:
        b = b.parent
    while a.parent is not b.parent and a.parent is not None and b.parent is not None:
        a, b = a.parent, b.parent
    return (a.parent or a), a, b
