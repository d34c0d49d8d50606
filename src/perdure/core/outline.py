"""A plan made ready for running: what is asked at every turn, worked out once and shared by all runs of the plan."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from hashlib import sha256
from sys import intern
from typing import Any, Final, Literal, cast

from perdure.core.calls import Call
from perdure.core.durations import Durations, usual_in
from perdure.core.layers import layer_of
from perdure.core.policy import Layer
from perdure.core.values import digest_of
from perdure.core.wiring import Wiring, priority_of
from perdure.plan.expr import template, texts_in
from perdure.plan.flow import exits, may_jump, target_of
from perdure.plan.index import Index, Node, within
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import AgentCall, Budget, ModelCall, ToolCall
from perdure.plan.model.steps import (
    AgentStep,
    AnyStep,
    AskStep,
    DecideStep,
    GroupStep,
    Growing,
    Leading,
    MapStep,
    ModelStep,
    RollbackStep,
    SubplanStep,
    ToolStep,
    WaitStep,
    Working,
)
from perdure.plan.uses import words_of

AnyCall = ToolCall | ModelCall | AgentCall
"""A call as it stands in a plan."""
Asked = tuple[Call, str]
"""What a performer is asked to do, and the digest of that."""
Kind = Literal["work", "serial", "graph", "map", "agent", "ask", "wait", "rollback", "mark"]
"""`work` has attempts; `mark` is over as soon as it is entered; the others are what their names say."""
_KINDS: Final[dict[type[AnyStep], Kind]] = {
    ToolStep: "work",
    ModelStep: "work",
    AgentStep: "work",
    AskStep: "ask",
    WaitStep: "wait",
    RollbackStep: "rollback",
    MapStep: "map",
}
_CALLS: Final[dict[type[AnyStep], Callable[[Any], Any]]] = {
    ToolStep: lambda step: step,
    ModelStep: lambda step: step,
    AgentStep: lambda step: step,
    DecideStep: lambda step: step.decide,
}
"""Where the call of an acting step stands."""


def _call_in(step: AnyStep) -> Any:
    find = _CALLS.get(type(step))
    return find(step) if find is not None else None


def kind_of(node: Node) -> Kind:
    """What a step is to the core."""
    step = node.step
    if step is None or isinstance(step, (GroupStep, SubplanStep)):
        return "serial" if node.serial else "graph"
    if isinstance(step, DecideStep):
        return "mark" if isinstance(step.decide, str) else "work"
    return _KINDS.get(type(step), "mark")


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
        templates = [template(text) for _, text in texts_in(value)]
        self.is_literal = not templates
        self.references = tuple(
            reference for each in templates for expression, _ in each.expressions for reference in expression.references
        )


_NOTHING: Final = Form(None)


class Traits:
    """What a step is like, wherever it stands. Asking a model takes long; what every turn asks is worked out once."""

    __slots__ = (
        "_literal",
        "_outline",
        "asks",
        "budgets",
        "call",
        "estimate",
        "grows",
        "id",
        "inner_layer",
        "is_agent",
        "is_guarded",
        "is_judged",
        "is_plain",
        "judges",
        "kind",
        "layer",
        "locks",
        "rank",
        "shows",
        "step",
        "tool",
        "undo",
        "usual",
        "working",
    )  # fmt: skip

    def __init__(self, node: Node, outline: "Outline", call: Any = None) -> None:
        step = node.step
        self.step, self.id = step, node.id
        self.usual: Final = None if call is None else outline.traits(node)
        """What it is like otherwise, if this is another way to do it."""
        self.kind: Kind = "work" if call is not None else kind_of(node)
        self.working: Final = step if isinstance(step, Working) else None
        """The step, if it does something."""
        self.call: Final[Any] = call if call is not None or step is None else _call_in(step)
        """The call that an acting step makes."""
        self.tool: Final = self.call.tool if isinstance(self.call, ToolCall) else ""
        """What it waits in line for: its tool, or its turn alone."""
        is_told = self.working is not None and isinstance(self.call, (ModelCall, AgentCall))
        self.shows: Final = self.working.context if self.working is not None and is_told else None
        """Which earlier results its call is given, besides what the plan says; tools are given no more than that."""
        self.rank: Final = -priority_of(node)
        """Among those that could begin, lower goes first."""
        self.locks: Final = tuple(sorted(self.working.locks)) if self.working else ()
        self.undo: Final = self.working.undo if self.working else None
        self.layer: Final = _layer_of(self.working, f"step {node.id}")
        """What it says about what may be done in it."""
        self.inner_layer: Final = _layer_of(_plan_of(step), f"the plan in {node.id}")
        """What the plan that stands in it says about that."""
        self.is_plain: Final = kind_of(node) == "work" and type(step) is not AgentStep
        """Whether its visits have no terms of their own, and nothing inside."""
        self.is_guarded: Final = _is_guarded(step)
        """Whether something is to be looked at before it is entered."""
        self.is_judged: Final = self.working is not None and bool(self.working.accept or self.working.ensures)
        """Whether its result has to fulfil something."""
        accept = self.working.accept if self.working is not None and self.kind == "work" else ()
        self.judges: Final = tuple(each for each in accept if each.tool is not None or each.agent is not None)
        """Tools and agents that say whether its result is good."""
        self.grows: Final = step.grows if isinstance(step, Growing) else None
        """What its result may add to the plan."""
        self.budgets: Final = _budgets_of(node) if self.kind not in _UNSPENDING else ()
        """What it may spend: itself, and the plan that stands in it."""
        self.estimate: Final = _estimate_of(self.working)
        """What one visit is expected to take, as far as the plan says."""
        self.is_agent: Final = isinstance(self.call, AgentCall)
        self.asks: Final = int(isinstance(self.call, (ModelCall, AgentCall)))
        """How many calls of models it makes at least."""
        self._outline = outline
        """Where it was first asked for; trees of single runs are lent it."""
        self._literal: Asked | None = None

    @property
    def given(self) -> Form:
        """What its call is given."""
        return self._outline.form(self.call.with_) if isinstance(self.call, (ToolCall, AgentCall)) else _NOTHING

    @property
    def literal(self) -> Asked | None:
        """Its call and the digest of it, if they are the same at every visit."""
        if self._literal is None and isinstance(self.call, ToolCall) and self.given.is_literal:
            call = Call("tool", self.tool, self.call.with_)
            self._literal = (call, digest_of(call.data))
        return self._literal

    @property
    def wants_secrets(self) -> bool:
        """Whether its call wants values that must not be written down."""
        return any(reference.root == "secrets" for reference in self.given.references)


def _budgets_of(node: Node) -> tuple[Budget, ...]:
    """A step's own, then that of the plan inside it, or that of the plan as a whole."""
    own = node.step.budget if isinstance(node.step, Working) else None
    inner = node.holder.budget if isinstance(node.holder, Plan) else None
    return tuple(each for each in (own, inner) if each is not None)


def _estimate_of(step: Working | None) -> dict[str, float]:
    said = step.estimate if step is not None else None
    return {} if said is None else {word: most for word in _ESTIMATED if (most := getattr(said, word)) is not None}


_ESTIMATED: Final = ("seconds", "usd", "tokens", "calls")
_UNSPENDING: Final[frozenset[Kind]] = frozenset({"ask", "wait", "rollback", "mark"})


def _layer_of(part: Working | Plan | None, name: str) -> Layer | None:
    return None if part is None or part.policy is None else layer_of(part.policy, name)


def _plan_of(step: AnyStep | None) -> Plan | None:
    return step.plan if isinstance(step, SubplanStep) and isinstance(step.plan, Plan) else None


def _is_guarded(step: AnyStep | None) -> bool:
    if step is None:
        return False
    counted = isinstance(step, Leading) and step.max_visits is not None
    return counted or step.when is not None or (isinstance(step, Working) and bool(step.requires))


def _leads_back(node: Node, index: Index) -> bool:
    """Whether an exit of a step, or of one inside it, leads to it or to one before it in its group."""
    found = (index.by_id.get(target) for target in _targets_in(node, index))
    return any(each is not None and each.parent is node.parent and each.position <= node.position for each in found)


def _targets_in(node: Node, index: Index) -> Iterator[str]:
    for each in (node, *within(node)):
        if each.step is not None and may_jump(each):
            yield from (target_of(each, exit_, index) for exit_ in exits(each.step))


class Outline:
    """A plan with its tree."""

    def __init__(self, plan: Plan, data: bytes | None = None) -> None:
        self.plan = plan
        self._data = data
        self._traits: dict[str, Traits] = {}
        self._wirings: dict[Node, Wiring] = {}
        self._loops: dict[Node, bool] = {}
        self._forms: dict[int, Form] = {}
        self._other_ways: dict[tuple[Node, int], Traits] = {}
        self._found: dict[tuple[Node, str], ToolCall] = {}
        self._targets: dict[tuple[Node, str], str] = {}
        self._words: dict[str, list[str]] = {}
        self.chosen: dict[str, str] = {}
        """Steps that are there, or are as they are, because of what another step gave; and which one that is."""
        self.is_own = False
        """Whether it belongs to one run, and can be revised."""

    def own(self) -> "Outline":
        """The same for one run alone. What was worked out stays so."""
        copied = Outline(self.plan, self._data)
        copied.is_own, copied.index, copied.usual = True, self.index.copy(), self.usual
        copied._forms, copied._traits, copied._words = dict(self._forms), dict(self._traits), dict(self._words)
        copied.durations.take_over(self.durations)
        return copied

    def renew(self, nodes: Sequence[Node], groups: Iterable[Node], gone: Iterable[Node]) -> list[Node]:
        """Steps are others now, the innermost first, groups have others in them, and some are gone: forget what was so.

        What is told are the graphs in which others may go first now, because a step takes another time.
        """
        self.plan, self._data = self.index.plan, None
        for word in ("data", "digest", "layer"):
            self.__dict__.pop(word, None)
        left = tuple(gone)
        for node in (*nodes, *left):
            self._traits.pop(node.id, None)
            self._words.pop(node.id, None)
        for group in (*groups, *left):
            self._wirings.pop(group, None)
        for kept in (self._loops, self._other_ways, self._found, self._targets):
            kept.clear()
        return self._renew_durations(nodes, left)

    def _renew_durations(self, nodes: Iterable[Node], gone: Iterable[Node]) -> list[Node]:
        shifted: dict[Node, None] = {}
        for node in gone:
            self.durations.forget(node)
        for node in nodes:
            if self.durations.shifts(node) and node.parent is not None and not node.parent.serial:
                shifted[node.parent] = None
                self._wirings.pop(node.parent, None)
        return list(shifted)

    @cached_property
    def index(self) -> Index:
        """Every step in its place."""
        return Index(self.plan)

    @cached_property
    def usual(self) -> int:
        """How long a step takes that says nothing of it. It stays so when the plan is revised."""
        return usual_in(self.index.nodes)

    @cached_property
    def durations(self) -> Durations:
        """How long steps are expected to take."""
        return Durations(self.index, self.usual, self.wiring, self.target)

    @cached_property
    def data(self) -> bytes:
        """The plan in its canonical form; nobody writes it anew where it was read."""
        return self.plan.canonical_json() if self._data is None else self._data

    @cached_property
    def digest(self) -> str:
        """The name under which the plan is kept: the SHA-256 of its canonical form."""
        return sha256(self.data).hexdigest()

    @cached_property
    def layer(self) -> Layer | None:
        """What the plan says about what may be done in it."""
        return _layer_of(self.plan, "the plan")

    def make_ready(self) -> None:
        """Work out now what every run of the plan will ask."""
        for node in self.index.nodes:
            _ = self.traits(node).literal, self.target(node, "success")
        for group in reversed(self.index.groups):
            if group.holder is not None and not group.serial:
                self.wiring(group)

    def wiring(self, group: Node) -> Wiring:
        """The needs in a graph."""
        found = self._wirings.get(group)
        if found is None:
            found = self._wirings[group] = Wiring(group, self.durations.of)
        return found

    def loops(self, group: Node) -> bool:
        """Whether a step in a group may lead back, to itself or to one before it."""
        found = self._loops.get(group)
        if found is None:
            found = any(_leads_back(child, self.index) for child in group.children if child.children or may_jump(child))
            self._loops[group] = found
        return found

    def traits(self, node: Node) -> Traits:
        """A step of the plan, or the plan as a whole."""
        found = self._traits.get(node.id)
        if found is None:
            found = self._traits[node.id] = Traits(node, self)
        return found

    def naming(self, names: AbstractSet[str], new: AbstractSet[Node]) -> list[Node]:
        """The steps that may name one of some others, but for those that are looked at anyway because they are new."""
        nodes, words = self.index.nodes, self._words
        for node in nodes:
            if node.id not in words and node.step and node not in new:
                words[node.id] = words_of(node.step)
        return [node for node in nodes if node not in new and not names.isdisjoint(words[node.id])]

    def target(self, node: Node, exit_: str) -> str:
        """Where an exit of a step leads."""
        found = self._targets.get((node, exit_))
        if found is None:
            found = self._targets[node, exit_] = intern(target_of(node, exit_, self.index))
        return found

    def another_way(self, node: Node, call: AnyCall) -> Traits:
        """A step as it is done by another call than its own."""
        found = self._other_ways.get((node, id(call)))
        if found is None or found.call is not call:
            found = self._other_ways[node, id(call)] = Traits(node, self, call)
        return found

    def found_way(self, node: Node, tool: str) -> ToolCall:
        """The call of another tool than a step's own, with the same arguments."""
        found = self._found.get((node, tool))
        if found is None:
            own = self.traits(node).call
            assert isinstance(own, ToolCall)  # noqa: S101  for nothing else a tool is found
            found = self._found[node, tool] = ToolCall.model_construct(tool=tool, with_=own.with_)
        return found

    def form(self, value: Any) -> Form:
        """A value of the plan, ready to be filled. Only what the plan itself holds may be asked for."""
        found = self._forms.get(id(value))
        if found is None or found.value is not value:
            if _is_plain(value):
                return _NOTHING
            found = self._forms[id(value)] = Form(value)
        return found
