"""A plan made ready for running: what is asked at every turn, worked out once and shared by all runs of the plan."""

from functools import cached_property
from typing import Any, cast

from perdure.plan.expr import template, texts_in
from perdure.plan.flow import needed_by, target_of
from perdure.plan.index import Index, Node
from perdure.plan.model.document import Plan
from perdure.plan.model.steps import Working


class Wiring:
    """What the needs in a graph come to. Children are named by their positions."""

    def __init__(self, group: Node) -> None:
        self.dependents = needed_by(group)
        """Those who need each child."""
        self.needs = [0] * len(group.children)
        """How many others each child needs."""
        for dependents in self.dependents:
            for position in dependents:
                self.needs[position] += 1
        free = [child for child in group.children if not self.needs[child.position]]
        self.free = sorted((-priority_of(child), child.position) for child in free)
        """Those who need nobody, as a heap: by priority, then as written."""


def priority_of(node: Node) -> int:
    """What a step says about its own importance."""
    return node.step.priority if isinstance(node.step, Working) else 0


def _is_plain(value: Any) -> bool:
    """Whether it is an object of plain values without `${`: most arguments are."""
    if type(value) is not dict:
        return False
    inside = cast("dict[str, Any]", value).values()
    return all(type(each) is int or (type(each) is str and "${" not in each) for each in inside)


class Form:
    """A JSON value with `${…}` in it, and every value that it names."""

    __slots__ = ("is_literal", "references", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        templates = [] if _is_plain(value) else [template(text) for _, text in texts_in(value)]
        self.is_literal = not templates
        self.references = tuple(
            reference for each in templates for expression, _ in each.expressions for reference in expression.references
        )


class Outline:
    """A plan with its tree."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._targets: dict[tuple[Node, str], str] = {}
        self._wirings: dict[Node, Wiring] = {}
        self._forms: dict[int, Form] = {}

    @cached_property
    def index(self) -> Index:
        """Every step in its place."""
        return Index(self.plan)

    @cached_property
    def data(self) -> bytes:
        """The plan in its canonical form."""
        return self.plan.canonical_json()

    @cached_property
    def digest(self) -> str:
        """The name under which the plan is kept: the SHA-256 of its canonical form."""
        return self.plan.hash.rpartition(":")[2]

    def wiring(self, group: Node) -> Wiring:
        """The needs in a graph."""
        found = self._wirings.get(group)
        if found is None:
            found = self._wirings[group] = Wiring(group)
        return found

    def target(self, node: Node, exit_: str) -> str:
        """Where an exit of a step leads."""
        found = self._targets.get((node, exit_))
        if found is None:
            found = self._targets[node, exit_] = target_of(node, exit_, self.index)
        return found

    def form(self, value: Any) -> Form:
        """A value of the plan, ready to be filled. Only what the plan itself holds may be asked for."""
        found = self._forms.get(id(value))
        if found is None or found.value is not value:
            found = self._forms[id(value)] = Form(value)
        return found
