"""What stays when somebody at work changes the plan: what people are asked, and what steps may touch and spend.

A model may have read anything. So a question is not taken away: neither by an edit of the step that asks or of a group
around it, nor by a way that leads past it. Policies and budgets of steps are not lifted. What follows from a wish by
itself, that others take their results elsewhere, may change texts of a question, and never whether it is asked. All of
that holds for plans that are called by name, as if they stood where they are called.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from perdure.plan.flow import choices_of
from perdure.plan.index import Index, Node, within
from perdure.plan.model.document import Plan
from perdure.plan.model.edits import Amend, AnyEdit, Insert, Remove, Replace
from perdure.plan.model.parts import Quorum
from perdure.plan.model.steps import AnyStep, AskStep, DoneStep, FailStep, SubplanStep
from perdure.plan.raw import Raw, is_mapping

LIMITS: Final = frozenset({"policy", "budget"})
CRITERIA: Final = frozenset({"accept", "ensures"})
"""What a result must fulfil: no amendment lifts it. A step in the place of another says it for itself."""
PATHS: Final = frozenset({"when", "on", "exit"})
"""What says whether a step is done, and what comes after it."""
WAY: Final = ("kind", *sorted(PATHS), "decide", "choices", "verdicts", "max_visits", "done", "fail")
Named = Callable[[str], Index | None]
"""A plan by its name; None: there is none here."""


@dataclass(frozen=True, slots=True)
class Staying:
    """A plan, of which something stays whoever changes it."""

    index: Index
    named: Named
    asks: Mapping[Node, str]
    """The steps that ask a person, or call a plan that does, each in words."""
    asking: frozenset[Node]
    """These, and all that is around them."""

    @classmethod
    def of(cls, index: Index, named: Named) -> "Staying":
        """Find out who asks."""
        asks = {node: told for node in index.nodes if (told := asks_of(node, named))}
        return cls(index, named, asks, frozenset(each for node in asks for each in (node, *node.around)))

    def look_through(self, wished: Sequence[AnyEdit], follows: Sequence[AnyEdit]) -> None:
        """`ValueError` if a question, a policy or a budget would be lost."""
        _refuse_again(wished)
        homes = dict[str, Node | None]()
        for edit in wished:
            homes |= self._home(edit, homes)
            self._look_at(edit, homes, wished=True)
        for edit in follows:
            self._look_at(edit, homes, wished=False)

    def _home(self, edit: AnyEdit, homes: Mapping[str, Node | None]) -> dict[str, Node | None]:
        """The group of the plan that a new step comes into; None: that is new as well."""
        if isinstance(edit, Replace):
            return {edit.step.id: self._beside(edit.replace, homes)}
        if not isinstance(edit, Insert):
            return {}
        if edit.into is not None:
            return {edit.insert.id: self.index.by_id.get(edit.into) if edit.into else self.index.root}
        return {edit.insert.id: self._beside(edit.after or edit.before or "", homes)}

    def _beside(self, name: str, homes: Mapping[str, Node | None]) -> Node | None:
        node = self.index.by_id.get(name)
        return node.parent if node else homes.get(name)

    def _look_at(self, edit: AnyEdit, homes: Mapping[str, Node | None], *, wished: bool) -> None:
        if isinstance(edit, Amend) and not edit.amend:
            return _keep_plan(edit, wished=wished)
        node = self.index.by_id.get(about(edit))
        if node is not None:
            self._keep_limits(edit, node, wished=wished)
            self._keep_question(edit, node, wished=wished)
        home = homes.get(edit.insert.id) if isinstance(edit, Insert) else node.parent if node else None
        if self.asking:
            _keep_ways(edit, node, wished=wished)
        if home in self.asking and not home.serial:
            _keep_order(edit, node, home, wished=wished)
        return None

    def _keep_question(self, edit: AnyEdit, node: Node, *, wished: bool) -> None:
        """Who asks stays, and so does all around it but titles. What only follows leaves alone what leads there."""
        if node not in self.asking:
            return
        other = edit.fields.keys() if isinstance(edit, Amend) else PATHS
        may = other.isdisjoint(PATHS) if not wished else other <= {"title"} and bool(node.children)
        if not may:
            told = next(self.asks[each] for each in (node, *within(node)) if each in self.asks)
            raise ValueError(f"{told}, and that is not for an agent to change")

    def _keep_limits(self, edit: AnyEdit, node: Node, *, wished: bool) -> None:
        if isinstance(edit, Amend):
            _keep_limits_said(edit, node, wished=wished)
        elif limited := next((each for each in inside(node, self.named) if any(limits_of(each))), None):
            whose = f'"{limited.id}"' if limited.id else "the plan that it calls"
            told = f'so "{node.id}" stays' + ("; edit what is inside" if node.children else "")
            raise ValueError(f"{whose} has a policy or a budget of its own, {told}")
        elif any(limits_of(node)):
            _keep_limits_of(node, _put_in(edit))


def about(edit: AnyEdit) -> str:
    """The step that an edit changes; empty for the plan itself, and for none."""
    match edit:
        case Replace():
            return edit.replace
        case Remove():
            return edit.remove
        case Amend():
            return edit.amend
        case _:  # what is put in was not there
            return ""


def _refuse_again(edits: Sequence[AnyEdit]) -> None:
    """What one edit has made is not for the next one to change: each is looked at by itself."""
    seen = set[str]()
    for edit in edits:
        if (name := about(edit)) in seen:
            raise ValueError(f'"{name}" would be changed twice; write it at once as it is to be')
        seen |= {name, *(node.id for node in _put_in(edit))} - {""}


def _put_in(edit: AnyEdit) -> Sequence[Node]:
    step = edit.insert if isinstance(edit, Insert) else edit.step if isinstance(edit, Replace) else None
    return Index(Plan.model_construct(steps=(step,))).nodes if step else ()


# ------------------------------------------------------------------------------- plans that are called by name


def inside(node: Node, named: Named) -> Iterator[Node]:
    """All that stands inside a step, and in the plans that are called there: each plan once, with a node of its own."""
    seen, stack = set[str](), [node]
    while stack:
        for each in ((top := stack.pop()), *within(top)):
            if each is not node:
                yield each
            name = _named_by(each)
            if name and name not in seen and (plan := named(name)) is not None:
                stack.append(plan.root)
            seen.add(name)


def asks_of(node: Node, named: Named) -> str:
    """Whether a person is asked there, in words: by the step itself, or in the plans that it calls."""
    name = _named_by(node)
    if not name or named(name) is None:
        return _asks_itself(node, named)
    told = next((told for each in inside(node, named) if (told := _asks_itself(each, named))), "")
    return told and f'"{node.id}" calls the plan "{name}", where {told}'


def _asks_itself(node: Node, named: Named) -> str:
    """The same of one step. Of a plan that is not here, nobody knows whether it asks."""
    if isinstance(node.step, AskStep):
        return f'"{node.id}" asks a person'
    name = _named_by(node)
    return f'"{node.id}" calls the plan "{name}", which is not here' if name and named(name) is None else ""


def _named_by(node: Node) -> str:
    return node.step.plan if isinstance(node.step, SubplanStep) and isinstance(node.step.plan, str) else ""


# ------------------------------------------------------------------------------- the plan, policies and budgets


def _keep_plan(edit: Amend, *, wished: bool) -> None:
    if edit.fields.keys() - ({"output"} if wished else {"output", "meta"}):
        raise ValueError("of the plan itself, an agent can amend nothing but `output`")


def _keep_limits_said(edit: Amend, node: Node, *, wished: bool) -> None:
    if lifted := sorted(edit.fields.keys() & (LIMITS | CRITERIA if wished else LIMITS)):
        raise ValueError(f'{", ".join(lifted)} of "{node.id}" is not for an agent to change')


def _keep_limits_of(node: Node, new: Sequence[Node]) -> None:
    if not (new and limits_of(new[0]) == limits_of(node)):
        told = "so it stays, or another step has the same; to leave it out, name it in `failed_steps`"
        raise ValueError(f'"{node.id}" has a policy or a budget of its own, {told}')


def limits_of(node: Node) -> tuple[Any, ...]:
    """What a step itself may touch and spend, and a plan that stands in it."""
    parts = (node.step, node.holder if isinstance(node.holder, Plan) else None)
    return tuple(getattr(part, word, None) for part in parts for word in sorted(LIMITS))


# ------------------------------------------------------------------------------- ways past a question


def _keep_ways(edit: AnyEdit, node: Node | None, *, wished: bool) -> None:
    """Where people are asked, what leads elsewhere than to the next step stays, and nothing new does."""
    old = _ways((node, *within(node))) if node else {}
    if isinstance(edit, Amend):
        leads = "" in old or bool(_elsewhere(edit.fields.get("on")))
        changed = leads and not edit.fields.keys().isdisjoint(WAY if wished else PATHS)
    else:
        changed = wished and old != _ways(_put_in(edit))
    if changed:
        name = edit.insert.id if isinstance(edit, Insert) else about(edit)
        told = "a person is asked in this plan, so whatever leads elsewhere than to the next step stays as it is"
        raise ValueError(f'"{name}" would change the way: {told}')


def _ways(nodes: Sequence[Node]) -> dict[str, Mapping[str, Any]]:
    """Who leads out of some steps, and how; the one around them has an empty name."""
    inside = {node.id for node in nodes}
    ends = {"done", "fail"}  # inside, they end what is inside
    found = {node.id: _elsewhere_of(node.step) - inside - ends for node in nodes[1:]}
    found |= {"": _elsewhere_of(nodes[0].step) - inside} if nodes else {}
    steps = {"" if node is nodes[0] else node.id: vars(node.step) for node in nodes}
    return {name: {word: steps[name].get(word) for word in WAY} for name, out in found.items() if out}


def _elsewhere_of(step: AnyStep | None) -> set[str]:
    if isinstance(step, (DoneStep, FailStep)):
        return {step.kind}
    return {*_elsewhere(getattr(step, "on", {})), *(choices_of(step) if step else ())}


def _elsewhere(on: Raw) -> set[str]:
    return {str(each) for each in on.values()} - {"next", "recover"} if is_mapping(on) else set()


def _keep_order(edit: AnyEdit, node: Node | None, group: Node, *, wished: bool) -> None:
    """In a graph, who needs only what is skipped is skipped, and the first may end it: neither comes about here."""
    if isinstance(edit, Insert):
        first = _is_won_by_the_first(group)
        changed = edit.insert.when is not None or first
    elif isinstance(edit, Replace):
        changed = node is not None and _order(edit.step) != _order(node.step)
    else:
        order = {"when", "needs"} if wished else {"when"}
        changed = isinstance(edit, Amend) and not order.isdisjoint(edit.fields)
    if changed:
        told = "so `when` and `needs` of the steps beside it stay as they are, and nobody new may be first"
        raise ValueError(f'a person is asked in "{group.id or "the plan"}", which is a graph, {told}')


def _is_won_by_the_first(group: Node) -> bool:
    return group.holder is not None and (group.holder.join == "any" or isinstance(group.holder.join, Quorum))


def _order(step: AnyStep | None) -> tuple[Any, ...]:
    return (step.when, step.needs) if step else ()
