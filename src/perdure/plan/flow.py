"""Where steps lead: the exits a step can have, and the target each exit is mapped to.

Checks, pictures and measures all ask the same questions; the answers are here, once.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

from perdure.plan.index import Index, Node
from perdure.plan.model.steps import (
    AnyStep,
    AskStep,
    DecideStep,
    DoneStep,
    FailStep,
    Leading,
    WaitStep,
    Working,
)

STANDARD_EXITS: Final = ("success", "failure", "cancelled", "skipped", "exhausted")
"""Words any step may end with."""
GOES_ON: Final = frozenset({"success", "approved", "elapsed", "skipped"})
"""Exits that lead to `next` when nothing is written."""


NEVER_CHOICES: Final = frozenset({*STANDARD_EXITS, "expired"})
UNVISITED: Final = frozenset({"exhausted", "skipped"})
"""Exits of a step that was not entered."""


def own_exits(step: AnyStep) -> tuple[str, ...]:
    """The exits a step's own work can have, without those that every step shares."""
    match step:
        case DoneStep() | FailStep():
            return ()
        case DecideStep():
            return (*step.choices, "failure")
        case AskStep():
            return _answers(step)
        case WaitStep():
            return _wakings(step)
        case _:
            return ("success", *step.verdicts, "failure") if isinstance(step, Working) else ("success",)


def _wakings(step: WaitStep) -> tuple[str, ...]:
    timed = step.wait.for_ is not None or step.wait.until is not None
    return (*(("success",) if step.wait.signal else ()), *(("elapsed",) if timed else ()))


def _answers(step: AskStep) -> tuple[str, ...]:
    answers = {"approval": ("approved", "rejected"), "choice": step.choices}.get(step.answer, ("success",))
    return (*answers, *(("expired",) if step.deadline is not None and step.default is None else ()))


def exits(step: AnyStep) -> tuple[str, ...]:
    """All exits a step can have."""
    found = own_exits(step)
    if step.when is not None:
        found += ("skipped",)
    if isinstance(step, Leading) and step.max_visits is not None:
        found += ("exhausted",)
    return found


def known_exits(step: AnyStep) -> frozenset[str]:
    """The words that make sense in a step's `on`. A condition that cannot be read makes any step fail."""
    extra = ("expired",) if isinstance(step, AskStep) else ()
    verdicts = step.verdicts if isinstance(step, Working) else ()
    shared = (exit_ for exit_ in STANDARD_EXITS if exit_ != "success")
    return frozenset({*own_exits(step), *shared, *verdicts, *extra})


def choices_of(step: AnyStep) -> tuple[str, ...]:
    """The declared choices of a step."""
    return step.choices if isinstance(step, (DecideStep, AskStep)) else ()


def may_jump(node: Node) -> bool:
    """Whether a step itself may lead elsewhere than to the one that follows, or nowhere."""
    own = vars(node.step) if node.step else {}
    return bool(own.get("on") or own.get("choices"))


def aimed_at(node: Node, target: str, index: Index) -> Node | None:
    """The step a jump from this node goes to: a child of a serial group around it, in the same scope."""
    found = index.by_id.get(target)
    if found is None or found.parent is None or not found.parent.serial:
        return None
    for group in node.around:
        if group is found.parent:
            return found
        if group.is_scope:
            return None
    return None


def target_of(node: Node, exit_: str, index: Index) -> str:
    """Where an exit leads: what is written, or else the default."""
    step = node.step
    written = step.on.get(exit_) if isinstance(step, Leading) else None
    if written is not None:
        return written
    if isinstance(step, (DecideStep, AskStep)) and step.choices and exit_ not in NEVER_CHOICES:
        is_value = node.parent is not None and not node.parent.serial  # in a graph a choice is only a value
        return exit_ if not is_value and aimed_at(node, exit_, index) else "next"
    return "next" if exit_ in GOES_ON else "recover"


def leads(node: Node, index: Index) -> Iterator[tuple[str, str]]:
    """Every exit of a step with its target."""
    if node.step is None:
        return
    seen: set[str] = set()
    for exit_ in exits(node.step):
        if exit_ not in seen:
            seen.add(exit_)
            yield exit_, target_of(node, exit_, index)
    for exit_, target in node.step.on.items() if isinstance(node.step, Leading) else ():
        if exit_ not in seen:
            yield exit_, target


def _may_go_on(nodes: Iterable[Node], index: Index) -> bool:
    """Whether a recovery table, of the plan or of these steps, may let a step that failed go on with what it has."""
    tables = [index.plan.recovery]
    tables += [each.step.recovery for each in nodes if isinstance(each.step, Working) and each.step.recovery]
    return any("continue" in rungs for table in tables for rungs in table.values())


def _no_edges(groups: Iterable[Node]) -> "Edges":
    return {group: [set() for _ in group.children] for group in groups}


Edges = dict[Node, list[set[int]]]
"""For each group, and each child in it, the children that can follow it."""


class SerialFlow:
    """For each serial group: which child can follow which. Numbers are positions in the group."""

    def __init__(self, index: Index) -> None:
        self.index = index

    @property
    def edges(self) -> Edges:
        """For each child those that can follow it; worked out when somebody asks."""
        return self._both[0]

    @property
    def unvisited(self) -> Edges:
        """Those of the edges that are taken without entering the child they lead away from."""
        return self._both[1]

    @cached_property
    def _both(self) -> tuple[Edges, Edges]:
        groups = [group for group in self.index.groups if group.serial]
        edges, unvisited = _no_edges(groups), _no_edges(groups)
        for node in self.index.nodes:
            self._follow(node, edges, unvisited)
        return edges, unvisited

    def _follow(self, node: Node, edges: Edges, unvisited: Edges) -> None:
        for exit_, target in leads(node, self.index):
            following = self._following(node, target)
            if following is None or following.parent is None:
                continue
            here = _child_of(following.parent, node)
            edges[following.parent][here.position].add(following.position)
            if here is node and exit_ in UNVISITED:
                unvisited[following.parent][here.position].add(following.position)

    def _following(self, node: Node, target: str) -> Node | None:
        if target == "next" or (target == "recover" and self._goes_on(node)):
            siblings = node.parent.children if node.parent and node.parent.serial else []
            return siblings[node.position + 1] if node.position + 1 < len(siblings) else None
        return aimed_at(node, target, self.index)

    @cached_property
    def _some_go_on(self) -> bool:
        return _may_go_on(self.index.nodes, self.index)

    def _goes_on(self, node: Node) -> bool:
        return self._some_go_on and _may_go_on((node, *node.around), self.index)

    def reachable(self, group: Node) -> set[int]:
        """The children that can be entered at all."""
        edges = self.edges[group]
        seen = {0} if edges else set[int]()
        stack = list(seen)
        while stack:
            for following in edges[stack.pop()]:
                if following not in seen:
                    seen.add(following)
                    stack.append(following)
        return seen


def _child_of(group: Node, node: Node) -> Node:
    """The child of a group that a node is, or is in."""
    while node.parent is not group and node.parent is not None:
        node = node.parent
    return node


def needed_by(group: Node) -> list[list[int]]:
    """For each child of a graph the children that need it, by position."""
    positions = {child.id: child.position for child in group.children}
    edges: list[list[int]] = [[] for _ in group.children]
    for child in group.children:
        needs = child.step.needs if child.step else ()
        for need in needs if len(needs) < 2 else dict.fromkeys(needs):  # noqa: PLR2004  else one may be named twice
            if need in positions:
                edges[positions[need]].append(child.position)
    return edges
