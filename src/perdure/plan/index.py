"""Every step of a plan by id, with the groups around it. One walk, no recursion."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from perdure.plan.model.document import Plan
from perdure.plan.model.steps import AnyStep, GroupStep, MapStep, SubplanStep
from perdure.plan.problems import Path

Holder = Plan | GroupStep | MapStep
"""What has `steps` and a `mode`."""


@dataclass(eq=False)
class Node:
    """One step in its place. The plan itself is the root node, without a step."""

    step: AnyStep | None
    holder: Holder | None
    """What holds this node's children; for a sub-plan, the inline plan."""
    path: Path
    parent: "Node | None"
    position: int
    depth: int
    children: list["Node"] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The step's id; the root has none."""
        return self.step.id if self.step else ""

    @property
    def is_scope(self) -> bool:
        """Whether steps inside see only each other: the plan, a sub-plan, the body of a map."""
        return self.parent is None or isinstance(self.step, (MapStep, SubplanStep))

    @property
    def serial(self) -> bool:
        """Whether the children follow one another."""
        return self.holder is not None and self.holder.mode == "serial"

    @cached_property
    def scope(self) -> "Node":
        """The nearest scope around this node's step."""
        node = self.parent or self
        while not node.is_scope:
            node = node.parent or node
        return node

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
        self.root = Node(None, plan, (), None, 0, 0)
        self.nodes: list[Node] = []
        self.by_id: dict[str, Node] = {}
        self._walk()

    def _walk(self) -> None:
        stack = [self.root]
        while stack:
            node = stack.pop()
            if node.step is not None:
                self.nodes.append(node)
                self.by_id.setdefault(node.id, node)
            self._open(node)
            stack.extend(reversed(node.children))

    def _open(self, node: Node) -> None:
        if node.holder is None:
            return
        inside = (*node.path, "plan", "steps") if isinstance(node.step, SubplanStep) else (*node.path, "steps")
        for position, step in enumerate(node.holder.steps):
            holder = _held_by(step)
            node.children.append(Node(step, holder, (*inside, position), node, position, node.depth + 1))


def _held_by(step: AnyStep) -> Holder | None:
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
