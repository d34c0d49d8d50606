"""Where the values of a call came from: the steps behind each argument that have read something outside.

A value comes from a step if an expression names what the step gave, or if a model or an agent was shown it as context,
through any number of steps between. What an agent has chosen may come from all that it has seen. Which way a run took
because of a value is not followed.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from perdure.core.calls import Approval
from perdure.core.cells import Body, Cell, Grown, Scope
from perdure.core.context import earlier
from perdure.plan.expr import Reference
from perdure.plan.model.parts import AgentCall, Call, ModelCall, NoResult, ToolCall
from perdure.plan.model.steps import DoneStep, MapStep, SubplanStep, Working

Outside = Callable[[str], str]
"""What a tool reads outside of the run, in words; empty: nothing."""
FEW: Final = 3
"""Steps that a line names."""
MOST: Final = 10
"""Lines."""
_CONTROL: Final = frozenset({"exit", "visits"})
"""Parts of a result that hold nothing of what was read."""


class Origin(NamedTuple):
    """A step that has read something, which may have come into an argument."""

    argument: str
    """Empty: an agent has chosen the whole call."""
    step: str
    tool: str
    outside: str


def explained(approval: Approval, cell: Cell, outside: Outside) -> Approval:
    """An approval whose text says what in the call came from outside."""
    lines = told(origins(cell, outside))
    return replace(approval, text="\n".join([approval.text, "", *lines])) if lines else approval


def origins(cell: Cell, outside: Outside) -> list[Origin]:
    """What came from outside into the call that a step is about to make."""
    return [
        Origin(argument, each.key, each.traits.tool, what)
        for argument, named in _arguments(cell)
        for each in _behind(cell, named)
        if (what := outside(each.traits.tool))
    ]


def told(found: Iterable[Origin]) -> list[str]:
    """A line for each argument."""
    lines = [_line(argument, list(each)) for argument, each in groupby(found, lambda origin: origin.argument)]
    return lines if len(lines) <= MOST else [*lines[:MOST], f"and {len(lines) - MOST} more arguments from outside"]


def _line(argument: str, found: list[Origin]) -> str:
    steps = ", ".join(f"{each.step} ({each.tool} read {each.outside})" for each in found[:FEW])
    more = f", and {len(found) - FEW} more" if len(found) > FEW else ""
    return (f"{argument} comes from " if argument else "chosen by an agent that saw ") + steps + more


# ------------------------------------------------------------------------------- one step back


def _arguments(cell: Cell) -> Iterator[tuple[str, list[Cell]]]:
    values = {name: value for call in _calls(cell) for name, value in _given(call)}
    for name, value in values.items():
        if named := list(_named(cell.scope, value)):
            yield name, named
    if shown := list(_shown(cell)):
        yield "context", shown
    if seen := list(_seen_by_agents(cell)):
        yield "", seen


def _behind(cell: Cell, first: Iterable[Cell]) -> Iterator[Cell]:
    """All cells from which something can have come that these have given, nearest first."""
    seen, line = {cell}, [*first]
    for each in line:
        if each in seen:
            continue
        seen.add(each)
        line.extend(_sources(each))
        yield each


def _sources(cell: Cell) -> Iterator[Cell]:
    yield from _handed_to(cell)
    body = cell.result.body if cell.result else cell.body
    yield from body.children.values() if isinstance(body, Body) else ()
    yield from _seen_by_agents(cell)


def _seen_by_agents(cell: Cell) -> Iterator[Cell]:
    """What was seen by whoever chose a step: by agents around it, and by whoever has added it to the plan."""
    yield from _chosen_after(cell)
    scope: Scope | None = cell.scope
    while scope is not None:
        grown = scope.holder if scope.kind == "grown" else None
        if grown is not None and grown.parent is not None and isinstance(grown.parent.body, Grown):
            earlier = (each for n, each in grown.parent.body.children.items() if n < grown.position)
            yield from (each for each in earlier if each.result is not None)
            yield from _handed_to(grown.parent)
            yield from _chosen_after(grown.parent)
        scope = scope.outer


def _chosen_after(cell: Cell) -> Iterator[Cell]:
    """The steps because of whose results a step, or one around it, is in the plan."""
    chosen, scope = cell.scope.outline.chosen, cell.scope
    while chosen and scope.outer is not None:
        scope = scope.outer
    for node in (cell.node, *cell.node.around) if chosen else ():
        found = scope.find(chosen[node.id]) if node.id in chosen else None
        if found is not None:
            yield found


def _handed_to(cell: Cell) -> Iterator[Cell]:
    """The steps whose results a step's own values name, or that it is shown."""
    values = [value for call in _calls(cell) for _, value in _given(call)]
    if isinstance(cell.step, MapStep):
        values.append(cell.step.map)
    if isinstance(cell.step, DoneStep):
        values.append(cell.step.done)
    for value in values:
        yield from _named(cell.scope, value)
    yield from _heard(cell)
    yield from _shown(cell)


def _shown(cell: Cell) -> Iterator[Cell]:
    """The steps that a model or an agent may be shown as context, however little of them fits."""
    wanted = cell.traits.working.context if cell.traits.working else None
    if wanted is not None and any(not isinstance(call, ToolCall) for call in _calls(cell)):
        yield from earlier(cell, wanted)


def _calls(cell: Cell) -> Iterator[Call]:
    """The call of a step, and those that may stand in for it; an expression that decides calls nobody."""
    if isinstance(cell.traits.call, (ToolCall, ModelCall, AgentCall)):
        yield cell.traits.call
    if isinstance(cell.step, Working):
        yield from (each for each in (cell.step.simpler, *cell.step.alternates) if each is not None)


def _given(call: Call) -> Iterator[tuple[str, Any]]:
    """The arguments of a call, as the plan has them."""
    if isinstance(call, ModelCall):
        yield "prompt", call.prompt
        yield "instructions", call.instructions
        yield from ((f"results[{n}]", each.error) for n, each in enumerate(call.results) if isinstance(each, NoResult))
        return
    if isinstance(call, AgentCall):
        yield "task", call.task
    yield from call.with_.items()


def _heard(cell: Cell) -> Iterator[Cell]:
    """What a model hears besides what it is asked: the conversation before, and what its calls came to."""
    for call in _calls(cell):
        if isinstance(call, ModelCall):
            names = [each for each in (call.after, *call.results) if isinstance(each, str)]
            yield from (found for each in names if (found := cell.scope.find(each)) is not None)


# ------------------------------------------------------------------------------- what an expression names


def _named(scope: Scope, value: Any) -> Iterator[Cell]:
    """The steps whose results a value of the plan names, directly or as inputs or items."""
    for reference in scope.outline.form(value).references:
        match reference.root:
            case "steps":
                yield from _steps(scope, reference)
            case "inputs":
                yield from _inputs(scope, str(reference.parts[0]) if reference.parts else "")
            case "item":
                yield from _items(scope)
            case _:
                pass


def _steps(scope: Scope, reference: Reference) -> Iterator[Cell]:
    id_, part = (*map(str, reference.parts[:2]), "", "")[:2]
    if part not in _CONTROL:
        found = (scope.find(each) for each in ([id_] if id_ else scope.outline.index.by_id))
        yield from (each for each in found if each is not None)


def _items(scope: Scope) -> Iterator[Cell]:
    step = scope.holder.step if scope.holder else None
    return _named(scope.outer or scope, step.map if isinstance(step, MapStep) else None)


def _inputs(scope: Scope, name: str) -> Iterator[Cell]:
    """Those behind an input of an inner plan, of items, or of an agent. What the run itself was given is its user's."""
    step, call = (scope.holder.step, scope.holder.traits.call) if scope.holder else (None, None)
    if scope.outer is None:
        return
    given: Any = None
    if scope.kind == "agent" and isinstance(call, AgentCall):
        given = {"task": call.task, **call.with_}
        yield from _shown(scope.holder) if scope.holder and name in {"context", ""} else ()
    elif (scope.kind, type(step)) in _HANDING_IN:
        given = getattr(step, "with_", None)
    if given is None:
        yield from _inputs(scope.outer, name)
    else:
        for value in [given.get(name)] if name else given.values():
            yield from _named(scope.outer, value)


_HANDING_IN: Final = frozenset({("plan", SubplanStep), ("item", MapStep)})
