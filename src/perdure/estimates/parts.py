"""A plan made ready to be simulated: what each step takes, what it waits for, and where its exits lead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from perdure.core.ladder import OWN, PATIENT
from perdure.core.outline import Outline, Traits
from perdure.core.wiring import Rank
from perdure.estimates.history import History
from perdure.estimates.sources import AnyCall, Drawn, Means, Source, Sources
from perdure.plan.index import Node
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import AgentCall, Join, ModelCall, Retry, ToolCall
from perdure.plan.model.steps import (
    AskStep,
    DecideStep,
    Grouping,
    Leading,
    MapStep,
    SubplanStep,
    WaitStep,
    Working,
)
from perdure.plan.raw import is_list

SECOND: Final = 1_000_000
DEEPEST: Final = 8
"""Plans within plans that are looked into."""


@dataclass(slots=True, eq=False)
class Part:
    """One step, or the plan as a whole."""

    node: Node
    outline: Outline
    kind: str
    """`work`, `ask`, `wait`, `mark`, `serial`, `graph`, `map`."""
    number: int = 0
    """Its place among those that draw."""
    ways: tuple[tuple[str, Source], ...] = ()
    """How it can be done: the rung that leads there, and what it takes."""
    children: "list[Part]" = field(default_factory=list["Part"])
    places: dict[str, int] = field(default_factory=dict[str, int])
    """Children by id."""
    ranks: Sequence[Rank] = ()
    dependents: Sequence[Sequence[int]] = ()
    needs: Sequence[int] = ()
    limit: int | None = None
    join: Join = "all"
    item: "Part | None" = None
    """What a map does for each item."""
    items: Sequence[int] = (1,)
    """How many items it may have."""
    is_open: bool = False
    """Whether nobody knows how many."""
    rank: int = 0
    tool: str = ""
    locks: tuple[str, ...] = ()
    max_visits: int | None = None
    passed: float = 0.0
    """How often it is passed by."""
    lasts: int = 0
    """How long a wait takes, in millionths of a second."""
    megabytes: float = 0.0
    targets: dict[str, str] = field(default_factory=dict[str, str])
    retry: Retry | None = None

    @property
    def id(self) -> str:
        """The step's id."""
        return self.node.id

    def target(self, exit_: str) -> str:
        """Where an exit leads."""
        found = self.targets.get(exit_)
        if found is None:
            found = self.targets[exit_] = "next" if self.node.step is None else self.outline.target(self.node, exit_)
        return found

    def patience(self, kind: str) -> Retry | None:
        """How it is tried again after a failure of a kind; None: it is not."""
        return (self.retry or PATIENT.get(kind)) if "retry" in OWN.get(kind, ()) else None

    def goes_on(self, kind: str) -> bool:
        """Whether the plan goes on after a failure that nothing else is for."""
        for node in (self.node, *self.node.around):
            for table in (getattr(node.step, "recovery", {}), getattr(node.holder, "recovery", {})):
                rungs = table.get(kind, table.get("other"))
                if rungs is not None:
                    return "continue" in rungs
        return False


class Layout:
    """All parts of a plan."""

    def __init__(
        self,
        plan: Plan | Outline,
        history: History,
        means: Means | None = None,
        inputs: Mapping[str, Any] | None = None,
        plans: Mapping[str, Plan] | None = None,
    ) -> None:
        self.means = means or Means()
        self.history = history
        self.drawers: list[Part] = []
        """Parts that take something, in the order of the plan."""
        self._inputs, self._plans = inputs or {}, plans or {}
        self._sources = Sources(history, self.means)
        outline = plan if isinstance(plan, Outline) else Outline(plan)
        self.plan = outline.plan
        self.identity = outline.plan.name or outline.digest
        self.parts: dict[Node, Part] = {}
        """The parts of the plan itself, by their nodes."""
        self.items = 0
        """Steps that the items of its maps have, at most."""
        self.root = self._tree(outline, outline.index.root, self.identity, 0, self.parts)

    def _tree(self, outline: Outline, top: Node, plan: str, depth: int, parts: dict[Node, Part]) -> Part:
        """The part of a node with all that is in it: the innermost first, so that nothing recurses over a plan."""
        declared = any(isinstance(node.step, Working) and node.step.estimate for node in outline.index.nodes)
        usual = outline.usual / SECOND if declared else None
        for node in reversed(outline.index.nodes):
            parts[node] = self._part(outline, node, plan, usual, depth, parts)
        parts[top] = self._group(Part(top, outline, "serial" if top.serial else "graph"), parts)
        for node in outline.index.nodes:
            if parts[node].ways:
                parts[node].number = len(self.drawers)
                self.drawers.append(parts[node])
        return parts[top]

    def _part(  # noqa: PLR0913, PLR0917  all that is known of where it stands
        self, outline: Outline, node: Node, plan: str, usual: float | None, depth: int, parts: dict[Node, Part]
    ) -> Part:
        traits, step = outline.traits(node), node.step
        kind = "mark" if traits.kind == "rollback" else "work" if traits.kind == "agent" else traits.kind
        part = Part(node, outline, kind, rank=traits.rank, tool=traits.tool, locks=traits.locks)
        part.max_visits = step.max_visits if isinstance(step, Leading) else None
        part.retry = step.retry if isinstance(step, Working) else None
        if step is not None and step.when is not None:
            part.passed = self.history.share_passed(plan, step.id) or 0.0
        if isinstance(step, SubplanStep) and isinstance(step.plan, str):
            return self._called(part, step, plan, depth)
        if node.holder is not None:
            return self._group(part, parts, plan)
        self._takes(part, traits, plan, usual)
        return part

    def _called(self, part: Part, step: SubplanStep, plan: str, depth: int) -> Part:
        """A plan that is called by name: what is in it, if that is known, else what it took."""
        found = self._plans.get(str(step.plan))
        if found is None or depth >= DEEPEST:
            part.kind, part.ways = "work", (("", self._sources.named(plan, step, f"plan {step.plan}")),)
            return part
        outline = Outline(found)
        inner = self._tree(outline, outline.index.root, found.name or outline.digest, depth + 1, {})
        part.kind, part.children, part.places = inner.kind, inner.children, inner.places
        part.ranks, part.dependents, part.needs = inner.ranks, inner.dependents, inner.needs
        part.limit, part.join = inner.limit, inner.join
        return part

    def _group(self, part: Part, parts: Mapping[Node, Part], plan: str = "") -> Part:
        node, holder = part.node, part.node.holder
        part.children = [parts[child] for child in node.children]
        part.places = {child.id: child.position for child in node.children}
        if not node.serial:
            wiring = part.outline.wiring(node)
            part.ranks, part.dependents, part.needs = wiring.ranks, wiring.dependents, wiring.needs
        step = node.step
        if isinstance(step, MapStep):
            part.item = Part(
                node, part.outline, "serial" if node.serial else "graph", children=part.children, places=part.places,
                ranks=part.ranks, dependents=part.dependents, needs=part.needs,
            )  # fmt: skip
            part.kind = "map"
            part.items, part.is_open = self._items(plan, step)
            self.items += max(part.items) * (len(part.children) + 1)
        if isinstance(holder, (Plan, Grouping)):
            part.limit, part.join = holder.limit, holder.join
        return part

    def _items(self, plan: str, step: MapStep) -> tuple[Sequence[int], bool]:
        if is_list(step.map):
            return (len(step.map),), False
        word = str(step.map).strip().removeprefix("${").removesuffix("}").strip()
        given = self._inputs.get(word.removeprefix("inputs.")) if word.startswith("inputs.") else None
        if is_list(given):
            return (len(given),), False
        seen = self.history.items(plan, step.id)
        return (seen, False) if seen else ((1,), True)

    def _takes(self, part: Part, traits: Traits, plan: str, usual: float | None) -> None:
        step, call = part.node.step, traits.call
        if isinstance(step, WaitStep):
            part.lasts = round(step.wait.for_ * SECOND) if isinstance(step.wait.for_, int | float) else 0
            if step.wait.signal:
                part.ways = (("", self._sources.named(plan, step, f"signal {step.wait.signal}")),)
        elif isinstance(step, AskStep):
            part.ways = (("", self._sources.named(plan, step, "people")),)
        elif part.kind == "work" and step is not None and isinstance(call, (ToolCall, ModelCall, AgentCall)):
            part.megabytes = self._sources.megabytes(step, call)
            part.ways = (("", self._sources.of(plan, step, call, usual)), *self._others(part, usual))
        elif isinstance(step, DecideStep):
            part.ways = (("", self._sources.named(plan, step, "choice")),)

    def _others(self, part: Part, usual: float | None) -> list[tuple[str, Source]]:
        step = part.node.step
        if not isinstance(step, Working):
            return []
        ways: list[tuple[str, AnyCall]] = [("simplify", step.simpler)] if step.simpler else []
        ways += [("alternate", each) for each in step.alternates]
        return [(rung, self._sources.way(step, call, usual)) for rung, call in ways]


def exit_of(part: Part, drawn: Drawn, chosen: float) -> str:
    """The word a step ends with: of a choice that was never seen, any of its words."""
    step = part.node.step
    if isinstance(step, DecideStep):
        known = drawn.exit in step.choices or drawn.exit == "failure"
        return drawn.exit if known else step.choices[int(chosen * len(step.choices))]
    if isinstance(step, AskStep) and drawn.exit == "success":
        if step.answer == "approval":
            return "approved"
        return step.choices[int(chosen * len(step.choices))] if step.choices else "success"
    return drawn.exit
