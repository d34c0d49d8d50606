"""How a step is entered, or passed by: its condition, its visits, the time it has."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.cells import Cell
from perdure.core.contracts import broken_requirement
from perdure.core.deciding import Deciding
from perdure.core.delegating import is_delegating
from perdure.core.ending import leads_to, told
from perdure.core.seeing import evaluate, filled
from perdure.plan.conforming import flaws
from perdure.plan.expr import ExpressionError
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import AgentCall, seconds_of
from perdure.plan.model.steps import AgentStep, AskStep, GroupStep, Leading, MapStep, SubplanStep, WaitStep

DEEPEST: Final = 200
"""Groups within groups, where plans call plans and agents grow agents."""
MOST_AGENTS: Final = 8
"""Agents within agents. Who only hands work on does not count."""


def enter(turn: Deciding, parent: Cell, position: int) -> None:
    """Enter a child, or pass it by."""
    cell = turn.state.child(parent, position)
    if parent.kind == "map" or (cell.traits.is_plain and not cell.traits.is_guarded):
        _record_entry(turn, cell, {})
    else:
        _enter_if_it_may(turn, cell)


def _enter_if_it_may(turn: Deciding, cell: Cell) -> None:
    step = cell.step
    try:
        if step is not None and step.when is not None and not _holds(turn, cell, step.when):
            pass_by(turn, cell, "skipped")
        elif is_exhausted(cell):
            pass_by(turn, cell, "exhausted", Failure("stalled", f"it had its {cell.laps} visits"))
        elif broken := broken_requirement(turn, cell):
            pass_by(turn, cell, "failure", broken)
        else:
            _record_entry(turn, cell, {} if cell.traits.is_plain else _terms(turn, cell))
    except (ExpressionError, ValueError) as error:
        exit_ = "exhausted" if is_exhausted(cell) else "failure"
        pass_by(turn, cell, exit_, Failure("invalid", told(error)))


def is_exhausted(cell: Cell) -> bool:
    """Whether it has had all its visits."""
    return isinstance(cell.step, Leading) and cell.step.max_visits is not None and cell.laps >= cell.step.max_visits


def _holds(turn: Deciding, cell: Cell, source: str) -> bool:
    value = evaluate(turn.state, cell.scope, source)
    if not isinstance(value, bool):
        raise ValueError(f"`when` gives {value!r}, which is neither true nor false")  # noqa: TRY004  the plan's, not ours
    return value


def pass_by(turn: Deciding, cell: Cell, exit_: str, failure: Failure | None = None) -> None:
    """Record that a step is not entered."""
    to, _ = leads_to(cell, exit_, failure)
    turn.record(e.StepPassed(step=cell.key, exit=exit_, to=to, failure=failure))
    turn.look_at(cell.parent)


def _record_entry(turn: Deciding, cell: Cell, terms: dict[str, Any]) -> None:
    visit = turn.state.visits.get(cell.key, 0) + 1
    turn.record_entry(cell, e.StepEntered(step=cell.key, visit=visit, **terms))
    if not cell.traits.is_plain:  # which waits for its attempt
        turn.look_at(cell)


# ------------------------------------------------------------------------------- the terms of a visit


def _terms(turn: Deciding, cell: Cell) -> dict[str, Any]:
    """When it is due, and what it is grown by."""
    match cell.step:
        case WaitStep() as step:
            return _wake(turn, cell, step)
        case AskStep(deadline=float() | int() as seconds):
            return {"due": turn.now + _milliseconds(seconds)}
        case GroupStep() | MapStep() as step if step.timeout is not None:
            return {"due": turn.now + _milliseconds(step.timeout)}
        case SubplanStep() as step:
            return _plan_terms(turn, cell, step)
        case AgentStep() as step:
            return _grown_terms(turn, cell, step)
        case _:
            return {}


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _wake(turn: Deciding, cell: Cell, step: WaitStep) -> dict[str, Any]:
    if step.wait.for_ is not None:
        return {"due": turn.now + _milliseconds(_lapse(filled(turn.state, cell.scope, step.wait.for_)))}
    if step.wait.until is not None:
        return {"due": _moment(filled(turn.state, cell.scope, step.wait.until)), "fixed": True}
    return {}


def _lapse(value: Any) -> float:
    try:
        seconds = seconds_of(value)
    except ValueError as error:
        raise ValueError(f"`wait`: {error}") from None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or seconds < 0:
        raise ValueError(f"`wait` gives {value!r}, which is no length of time")
    return seconds


def _moment(value: Any) -> int:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError(f"`until` gives {value!r}, which is no moment") from None
    if moment.tzinfo is None:
        raise ValueError(f"`until` gives {value!r}, which has no zone")
    return int(moment.timestamp() * 1000)


def _plan_terms(turn: Deciding, cell: Cell, step: SubplanStep) -> dict[str, Any]:
    terms: dict[str, Any] = {}
    inner = step.plan if isinstance(step.plan, Plan) else None
    if inner is None:
        digest = turn.state.rules.plans.get(str(step.plan))
        if digest is None:
            raise ValueError(f"there is no plan named {step.plan!r}")
        _refuse_depth(cell)
        terms["plan"] = digest
        inner = turn.state.rules.outline(digest).plan
    _refuse_inputs(inner, filled(turn.state, cell.scope, step.with_))
    timeouts = [each for each in (step.timeout, inner.timeout) if each is not None]
    if timeouts:
        terms["due"] = turn.now + _milliseconds(min(timeouts))
    return terms


def _refuse_inputs(plan: Plan, given: Mapping[str, Any]) -> None:
    required = [name for name, schema in plan.inputs.items() if "default" not in schema]
    found = flaws(given, {"type": "object", "properties": plan.inputs, "required": required})
    if found:
        raise ValueError(f"the inputs of the sub-plan do not fit: {'; '.join(found)}")


def is_too_deep(cell: Cell) -> bool:
    """Whether no more steps may stand within a step."""
    return sum(1 for _ in cell.around) > DEEPEST


def _refuse_depth(cell: Cell) -> None:
    if is_too_deep(cell):
        raise ValueError(f"there are more than {DEEPEST} groups around it; does it call itself without an end?")


def _agents_around(cell: Cell) -> int:
    return sum(1 for each in cell.around if each.kind == "agent" and not is_delegating(each))


def _grown_terms(turn: Deciding, cell: Cell, step: AgentStep) -> dict[str, Any]:
    terms = agent_terms(turn, cell, step)
    if terms:
        _refuse_depth(cell)
    return terms


def agent_terms(turn: Deciding, cell: Cell, call: AgentCall) -> dict[str, Any]:
    """What an agent is grown by, and until when; nothing if it is performed as a whole.

    `ValueError` if an agent that is known here is to work in a way that is not, or is one too many within others.
    """
    strategies = turn.state.rules.strategies
    name = call.strategy if call.strategy in strategies else f"agent:{call.agent}"
    if name not in strategies:
        return {}
    if call.strategy not in (None, name):
        raise ValueError(f"there is no strategy {call.strategy!r}")
    if _agents_around(cell) >= MOST_AGENTS:
        raise ValueError(f"there are {MOST_AGENTS} agents around it; do they give each other work without an end?")
    seconds = cell.traits.working.timeout if cell.traits.working else None
    due = {} if seconds is None else {"due": turn.now + _milliseconds(seconds)}
    return {"strategy": name, **due}
