"""Going another way after a failure: the next one that there is, and whether it may be gone.

A step's own ways come first. A step that says which skills it takes may also get a tool that it did not name, if the
engine knows one that has them and does no more to the world. Which one is a fact, so no replay looks for it again.

A group is left, or done again, only if nothing of what was done in it stays: what can be taken back is, before.
"""

from collections.abc import Iterator
from itertools import islice, takewhile
from typing import Any, Final

from perdure.core import events as e
from perdure.core.allowing import layers_around
from perdure.core.calls import Failure
from perdure.core.cells import Body, Cell, Effect, Work
from perdure.core.contracts import rejection, unmet_of
from perdure.core.deciding import Deciding
from perdure.core.ending import Ending, close_questions, end
from perdure.core.entering import agent_terms, is_too_deep
from perdure.core.ladder import WITHIN, has_tries, ladder_of
from perdure.core.outline import Traits
from perdure.core.seeing import call_of_usual
from perdure.core.state import State
from perdure.core.trying import again, pause_after
from perdure.core.undoing import effects_in
from perdure.core.ways import declared
from perdure.plan.expr import ExpressionError
from perdure.plan.index import within
from perdure.plan.model.parts import AgentCall, ToolCall
from perdure.plan.model.steps import AgentStep, AnyStep, SubplanStep, Working

MOST_TOLD: Final = 20
"""So many steps are named that hold a group back."""


def divert(turn: Deciding, cell: Cell, failure: Failure, rung: str) -> bool:
    """Go on in the next way that a rung leads to; whether there is one."""
    terms = _terms(turn, cell, rung)
    if terms is None:
        return False
    turn.entered.pop(cell, None)  # the visit began before that, and has to be said so
    close_questions(turn, cell)
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "rejected": rejection(cell, failure)}
    turn.record(e.RungTaken(**about, rung=rung, kind=failure.kind, **terms))
    if cell.kind == "work":
        again(turn, cell)
    else:
        turn.look_at(cell)
    return True


def offers(cell: Cell, kind: str, rung: str) -> bool:
    """Whether a step may be tried once more after a failure, or has declared a way that was not gone yet."""
    if rung == "retry":
        return has_tries(cell, kind)
    return rung in {"simplify", "alternate"} and declared(cell.traits.working, cell.ways, rung) is not None


def _terms(turn: Deciding, cell: Cell, rung: str) -> dict[str, Any] | None:
    """What is to be said about the next way; None if there is none."""
    call = declared(cell.traits.working, cell.ways, rung)
    if isinstance(call, AgentCall):
        return None if is_too_deep(cell) else _agent_terms(turn, cell, call)
    if call is not None:
        return {}
    tool = _found(turn.state, cell) if rung == "alternate" else ""
    return {"tool": tool} if tool else None


def _agent_terms(turn: Deciding, cell: Cell, call: AgentCall) -> dict[str, Any] | None:
    try:
        return agent_terms(turn, cell, call)
    except ValueError:  # a way that cannot be gone is none
        return None


# ------------------------------------------------------------------------------- tools that were not named


def _found(state: State, cell: Cell) -> str:
    """A tool with the skills of a step that was not tried; empty: there is none. No secret is handed to a stranger."""
    step, usual = cell.traits.working, cell.traits.usual or cell.traits
    if step is None or not step.skills or not usual.tool or usual.wants_secrets:
        return ""
    try:
        call = call_of_usual(state, cell)
    except ExpressionError:
        return ""
    tried = {usual.tool, *_named(step), *(way.partition(":")[2] for way in cell.ways)}
    found = state.rules.skilled(call, step.skills, layers_around(cell, ()))
    return next((name for name in found if name not in tried), "")


def _named(step: Working) -> Iterator[str]:
    return (each.tool for each in (step.simpler, *step.alternates) if isinstance(each, ToolCall))


# ------------------------------------------------------------------------------- groups


def divert_group(turn: Deciding, cell: Cell, how: Ending, failure: Failure, rung: str) -> bool:
    """As `divert`, of a group that failed: once all that was done in it is taken back."""
    if _terms(turn, cell, rung) is None or any(_staying(turn.state, cell)):
        return False
    return _take_back_first(turn, cell, how, failure) or divert(turn, cell, failure, rung)


def repeat_group(turn: Deciding, cell: Cell, how: Ending, failure: Failure) -> bool:
    """Do a group again from the start, after a pause: once all that was done in it is taken back."""
    body = cell.body
    assert isinstance(body, Body)  # noqa: S101  asked of groups alone
    pause = pause_after(turn, cell, failure, body.tries, body.first)
    if pause is None or any(_staying(turn.state, cell)):
        return False
    if not _take_back_first(turn, cell, how, failure):
        close_questions(turn, cell)
        about: dict[str, Any] = {"step": cell.key, "visit": cell.visit}
        turn.record(e.RungTaken(**about, rung="retry", kind=failure.kind, rejected=failure))
        turn.record(e.RetryPlanned(**about, attempt=body.tries, due=turn.now + pause))
        turn.look_at(cell)
    return True


def _take_back_first(turn: Deciding, cell: Cell, how: Ending, failure: Failure) -> bool:
    """Stop a group in which something is to be taken back; it is asked again what to do when that is done."""
    if all(effect.over for effect in effects_in(turn.state, cell)):
        return False
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "exit": how.exit, "output": how.output}
    turn.record(e.StepStopping(**about, failure=failure, cause=how.cause, undo=(cell.key,)))
    turn.look_at(cell)
    return True


def relax_group(turn: Deciding, cell: Cell, how: Ending, failure: Failure) -> bool:
    """Whether what a group gave will do after all. Looser criteria help against nothing but stricter ones."""
    step = cell.traits.working
    if step is None or not step.relaxed or failure != unmet_of(turn, cell, "success", how.output):
        return False
    if failure.kind != "unmet" or unmet_of(turn, cell, "success", how.output, relaxed=True) is not None:
        return False
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "rejected": failure}
    turn.record(e.RungTaken(**about, rung="relax", kind=failure.kind))
    end(turn, cell, Ending("success", how.output))
    return True


def held_back(turn: Deciding, cell: Cell, failure: Failure) -> tuple[str, ...]:
    """The steps for which a group was not done again, or in another way that it has; nothing if it has none."""
    rungs = takewhile(WITHIN.__contains__, ladder_of(cell, failure.kind))
    is_offered = any(offers(cell, failure.kind, rung) for rung in rungs)
    return tuple(islice(dict.fromkeys(_staying(turn.state, cell)), MOST_TOLD)) if is_offered else ()


def _staying(state: State, cell: Cell) -> Iterator[str]:
    """What was done in a group, or may have been, and cannot be taken back, as far as is known: by whom."""
    yield from (effect.cell.key for effect in effects_in(state, cell) if _is_kept(effect))
    yield from (each.key for each in _inside(cell) if _is_lasting(state, each))


def _is_kept(effect: Effect) -> bool:
    if effect.over:
        return effect.failure is not None
    return bool(effect.of) or "error" in effect.call


def _is_lasting(state: State, cell: Cell) -> bool:
    """Whether a step has done something that nothing takes back, or nobody knows."""
    result = cell.result
    if cell.laps > 1 and _may_have_lasted(state, cell):
        return True
    if result is None or not isinstance(result.body, Work) or (cell.key, cell.visit) in state.effects:
        return False
    if result.failure is not None and result.failure.kind == "in_doubt":
        return True
    outcome = result.body.outcome
    is_done = result.failure is None or (outcome is not None and outcome.failure is None and outcome.approval is None)
    return is_done and bool(cell.traits.tool) and state.rules.lasts(cell.traits.tool)


def _may_have_lasted(state: State, cell: Cell) -> bool:
    """Whether earlier visits of a step may have left something: of what they did, only what has an undo is known."""
    if cell.strategy or cell.tree is not cell.node:
        return True  # what an agent or a plan that came by name did then is forgotten
    inside = list(within(cell.node))
    traits = [cell.within.outline.traits(node) for node in (cell.node, *inside)]
    return any(_lasts(state, each) for each in traits) or any(_is_unforeseen(node.step) for node in inside)


def _lasts(state: State, traits: Traits) -> bool:
    return bool(traits.tool) and traits.undo is None and state.rules.lasts(traits.tool)


def _is_unforeseen(step: AnyStep | None) -> bool:
    """Whether the plan does not tell what is done in a step."""
    return isinstance(step, AgentStep) or (isinstance(step, SubplanStep) and isinstance(step.plan, str))


def _inside(cell: Cell) -> Iterator[Cell]:
    """Every step in a group, as it stands."""
    stack = [cell]
    while stack:
        body = stack.pop().body
        inside = list(body.children.values()) if isinstance(body, Body) else []
        yield from inside
        stack += inside
