"""What a run can still call: by the words of its plan, for every step that is under way or may yet come.

It is told once, when somebody is about to carry the run on, and costs what is left of the plan. Where it cannot be told
for sure whether a step comes (a condition, a jump forward), it counts as one that does.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from perdure.core.cells import Body, Cell, Graph, Grown, Serial, Work
from perdure.core.ending import is_item
from perdure.core.outline import Outline
from perdure.core.state import State
from perdure.plan.flow import SerialFlow
from perdure.plan.index import Node, within
from perdure.plan.model.parts import AgentCall, Call, Criterion, ToolCall
from perdure.plan.model.steps import SubplanStep, ToolStep
from perdure.plan.uses import calls_in

Kind = Literal["tool", "undo", "strategy", "plan"]


class Called(NamedTuple):
    """Something that may still be called."""

    kind: Kind
    """`undo`: what a tool has done is to be taken back in its own way. `strategy`: the group has grown by it."""
    name: str
    """The word of the plan."""
    step: str
    """Who calls it."""
    given: Mapping[str, Any] | None = None
    """What it is given, as it is written; None: that is settled already. Of a strategy, what it has noted."""
    agent: str = ""
    """Whose strategy it is, if the step is not under way."""


def still_called(state: State) -> Iterator[Called]:
    """All that may still be called, perhaps more than once."""
    if state.ended is None:
        yield from _Ahead(state).found()
    yield from effects_of(state)


def effects_of(state: State) -> Iterator[Called]:
    """What takes back what was done, as far as that is for this run to do."""
    for effect in state.effects.values():
        if effect.over or effect.of:
            continue
        call = effect.call
        if "own" in call:
            yield Called("undo", call["own"], effect.cell.key, call["with"])
        elif "tool" in call:
            yield Called("tool", call["tool"], effect.cell.key, call["with"])


class _Ahead:
    """One walk through what is under way, and what may come after it."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._flows: dict[Outline, SerialFlow] = {}
        self._plans: set[str] = set()
        """Plans by name that were looked at."""

    def found(self) -> Iterator[Called]:
        stack = [self._state.cells[""]]
        while stack:
            cell = stack.pop()
            if isinstance(cell.body, Work):
                yield from _as_wished(_at_work(cell)) if _is_grown(cell) else _at_work(cell)
            elif cell.status == "active":
                yield from self._of_group(cell)
            elif cell.question:  # somebody may say that it begins again
                yield from self._to_come(cell.node)
            if isinstance(cell.body, Body):
                stack.extend(cell.body.live.values())

    # ------------------------------------------------------------ under way

    def _of_group(self, cell: Cell) -> Iterator[Called]:
        yield from () if is_item(cell) else _written(cell.node, cell.key)
        if cell.strategy:
            yield Called("strategy", cell.strategy, cell.key, _memo_of(cell))
        for node in self._children(cell):
            yield from _as_wished(self._to_come(node)) if isinstance(cell.body, Grown) else self._to_come(node)

    def _children(self, cell: Cell) -> Iterator[Node]:
        """The steps inside that were not begun, or may be entered anew."""
        body = cell.body
        if isinstance(body, Serial):
            again = [body.cursor] if body.cursor >= 0 and _is_to_come(body, body.cursor) else []
            yield from (cell.tree.children[each] for each in (*again, *self._following(cell, body)))
        elif isinstance(body, Grown):
            yield from (node for place, (node, _) in enumerate(body.added) if _is_to_come(body, place))
        elif isinstance(body, Graph) and cell.kind == "map":
            yield from cell.tree.children if not body.grown or len(body.children) < body.total else ()
        elif isinstance(body, Graph):
            yield from (node for node in cell.tree.children if _is_to_come(body, node.position))

    def _following(self, cell: Cell, body: Serial) -> Iterator[int]:
        outline, here = cell.within.outline, body.cursor
        if here < 0 or not outline.loops(cell.tree):
            yield from range(here + 1, len(cell.tree.children))
            return
        edges = self._flow(outline).edges[cell.tree]
        found, stack = set[int](), [here]
        while stack:
            for each in edges[stack.pop()] - found:
                found.add(each)
                stack.append(each)
                yield each

    def _flow(self, outline: Outline) -> SerialFlow:
        if outline not in self._flows:
            self._flows[outline] = SerialFlow(outline.index)
        return self._flows[outline]

    # ------------------------------------------------------------ to come

    def _to_come(self, top: Node) -> Iterator[Called]:
        for node in (top, *within(top)):
            step = node.step
            if type(step) is ToolStep and not _has_more(step):  # most are like this
                yield Called("tool", step.tool, node.id, step.with_)
                continue
            yield from _written(node, node.id)
            if isinstance(step, AgentCall) and step.strategy is not None:
                yield Called("strategy", step.strategy, node.id, agent=step.agent)
            if isinstance(step, SubplanStep) and isinstance(step.plan, str):
                yield Called("plan", step.plan, node.id)
                yield from self._in_plan(step.plan)

    def _in_plan(self, name: str) -> Iterator[Called]:
        """What a plan calls that is called by name, as it is today."""
        digest = self._state.rules.plans.get(name)
        if digest is not None and name not in self._plans:
            self._plans.add(name)
            for child in self._state.rules.outline(digest).index.root.children:
                yield from self._to_come(child)


def _is_grown(cell: Cell) -> bool:
    return cell.parent is not None and isinstance(cell.parent.body, Grown)


def _as_wished(called: Iterable[Called]) -> Iterator[Called]:
    """What an agent wants, which may be wrong: the tool says so when it is called, and whoever wanted it hears it."""
    return (each._replace(given=None) if each.kind == "tool" else each for each in called)


def _memo_of(cell: Cell) -> Mapping[str, Any] | None:
    """What the strategy of a group has noted."""
    memo = cell.body.memo if isinstance(cell.body, Grown) else None
    return memo if isinstance(memo, Mapping) else None  # pyright: ignore[reportUnknownVariableType]


def _has_more(step: ToolStep) -> bool:
    """Whether it may call something else than its tool."""
    return bool(step.alternates or step.undo or step.simpler or step.accept or step.relaxed)


def _is_to_come(body: Body, position: int) -> bool:
    cell = body.children.get(position)
    return cell is None or cell.status == "idle"


def _at_work(cell: Cell) -> Iterator[Called]:
    """A visit: what it does now, and what it has left to try. One that stops may have done something all the same."""
    work, step = cell.work, cell.traits.working
    if cell.status == "stopping" and cell.traits.tool and work.attempt:
        yield Called("tool", cell.traits.tool, cell.key)
    elif cell.status == "active":
        yield from _named(cell.traits.call, cell.key)
        for call in _left(cell) if step else ():
            yield from _named(call, cell.key)


def _left(cell: Cell) -> list[Call | Criterion]:
    """What else a visit may call."""
    step = cell.traits.working
    assert step is not None  # noqa: S101  asked of those alone
    simpler = step.simpler if "simplify" not in cell.ways else None
    undo = [each for each in (simpler, step.undo) if each is not None]
    return [*step.alternates[cell.ways.count("alternate") :], *undo, *step.accept, *step.relaxed]


def _written(node: Node, step: str) -> Iterator[Called]:
    for call, _ in calls_in(node.step) if node.step else ():
        yield from _named(call, step)


def _named(call: Any, step: str) -> Iterator[Called]:
    if isinstance(call, (ToolCall, Criterion)) and call.tool is not None:
        yield Called("tool", call.tool, step, call.with_)
