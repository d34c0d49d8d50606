"""How visits end: where an exit leads, and what a group hands on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.cells import Body, Cell, Work
from perdure.core.deciding import Deciding
from perdure.core.seeing import as_data, evaluate, evaluate_within, filled, filled_call, outcome_of
from perdure.core.values import Value
from perdure.plan.conforming import flaws
from perdure.plan.expr import ExpressionError
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import Criterion
from perdure.plan.model.steps import AnyStep, Grouping, SubplanStep, Working

# ------------------------------------------------------------------------------- where it leads


@dataclass(frozen=True, slots=True)
class Ending:
    """What a visit ends with."""

    exit: str = "success"
    output: Value | None = None
    """None: what follows from the body."""
    failure: Failure | None = None
    cause: str = ""
    """The step inside whose failure it is."""
    to: str = ""
    """Where it leads; empty: where the exit does."""

    @classmethod
    def failed(cls, kind: str, message: str) -> "Ending":
        """The end of something that did not work."""
        return cls("failure", failure=Failure(kind, message))

    @classmethod
    def of(cls, leaving: e.StepStopping) -> "Ending":
        """What was said when the visit began to stop."""
        return cls(leaving.exit, leaving.output, leaving.failure, leaving.cause, leaving.to)


def leads_to(cell: Cell, exit_: str, failure: Failure | None) -> tuple[str, bool]:
    """The target of an exit, and whether the plan goes on in spite of a failure."""
    if cell.parent is None or cell.parent.kind == "map":
        return ("next" if exit_ != "failure" else "recover"), False
    target = cell.scope.outline.target(cell.node, exit_)
    if target == "recover" and failure is not None and _goes_on(cell, failure.kind):
        return "next", True
    return target, False


def _goes_on(cell: Cell, kind: str) -> bool:
    """Whether the nearest table that knows the kind of failure says `continue`, and nothing that comes before it."""
    tables = [each.step.recovery for each in (cell, *cell.around) if isinstance(each.step, Working)]
    tables.append(cell.scope.outline.plan.recovery)
    for table in tables:
        named = cast("Mapping[str, tuple[str, ...]]", table)
        rungs = named.get(kind, named.get("other"))
        if rungs is not None:
            return "continue" in rungs
    return False


def end(turn: Deciding, cell: Cell, how: Ending) -> None:
    """Record that a visit is over."""
    to, partial = (how.to, False) if how.to else leads_to(cell, how.exit, how.failure)
    event = e.StepEnded(
        step=cell.key, visit=cell.visit, exit=how.exit, to=to, failure=how.failure, cause=how.cause, partial=partial,
        output=how.output, undo=_undo_of(turn, cell, how.exit, how.output),
    )  # fmt: skip
    turn.record(event)
    turn.look_at(cell.parent)


def _undo_of(turn: Deciding, cell: Cell, exit_: str, output: Value | None) -> dict[str, Any] | None:
    """The call that would take the effect back, with its arguments as they are now."""
    step = cell.step
    if not isinstance(step, Working) or step.undo is None or exit_ in {"failure", "cancelled"}:
        return None
    if output is None and isinstance(cell.body, Work) and cell.body.outcome is not None:
        output = cell.body.outcome.output
    given = output.load(turn.read) if output else outcome_of(turn.state, cell, cell.body)
    try:
        return as_data(filled_call(turn.state, cell.scope, step.undo, output=given, exit=exit_))
    except ExpressionError as error:
        return {"error": error.message}


def fail(turn: Deciding, cell: Cell, kind: str, message: str) -> None:
    """Record that a visit failed."""
    end(turn, cell, Ending.failed(kind, message))


# ------------------------------------------------------------------------------- groups


def end_group(turn: Deciding, cell: Cell, how: Ending) -> None:
    """Record that a group is over; after success, its own say and its criteria decide."""
    if cell.parent is None:
        end_run(turn, cell, how)
        return
    if how.exit != "success" or how.to or how.output is not None:
        end(turn, cell, how)
        return
    try:
        _end_well(turn, cell)
    except (ExpressionError, ValueError) as error:
        fail(turn, cell, "invalid", told(error))


def told(error: Exception) -> str:
    """What went wrong, without the name of its class."""
    return error.message if isinstance(error, ExpressionError) else str(error)


def _end_well(turn: Deciding, cell: Cell) -> None:
    step = cell.step
    if isinstance(cell.parent, Cell) and cell.parent.kind == "map":
        end(turn, cell, Ending())
        return
    plan = _plan_of(cell)
    exit_source = plan.exit if plan else step.exit if isinstance(step, Grouping) else None
    exit_ = "success" if exit_source is None else evaluate_within(turn.state, cell, exit_source)
    if not isinstance(exit_, str) or exit_ not in _words(step):
        fail(turn, cell, "invalid", f"{exit_!r} is not among the words it may end with: {', '.join(_words(step))}")
        return
    output = turn.keep(filled(turn.state, cell.within, plan.output)) if plan and plan.output is not None else None
    unmet = unmet_of(turn, cell, output)
    end(turn, cell, Ending(exit_, output) if unmet is None else Ending("failure", failure=unmet))


def _plan_of(cell: Cell) -> Plan | None:
    step = cell.step
    if not isinstance(step, SubplanStep):
        return None
    return step.plan if isinstance(step.plan, Plan) else cell.within.outline.plan


def _words(step: AnyStep | None) -> tuple[str, ...]:
    return ("success", *(step.verdicts if isinstance(step, Working) else ()), "failure")


_STATUSES: Final = {"success": "succeeded", "cancelled": "cancelled", "rolled_back": "rolled_back"}


def end_run(turn: Deciding, root: Cell, how: Ending) -> None:
    """Record that the run is over."""
    if how.exit == "success":
        how = _own_say(turn, root)
    for question in tuple(turn.state.questions):
        turn.record(e.QuestionClosed(question=question))
    status = _STATUSES.get(how.exit, "failed")
    turn.record(e.RunEnded(status=status, output=how.output, failure=how.failure, cause=how.cause))


def _own_say(turn: Deciding, root: Cell) -> Ending:
    """What a plan says about a run of it that went well."""
    plan = root.scope.outline.plan
    try:
        exit_ = "success" if plan.exit is None else evaluate_within(turn.state, root, plan.exit)
        if exit_ != "success":
            return Ending.failed("unmet", f"the plan ended with {exit_!r}")
        return Ending(output=None if plan.output is None else turn.keep(filled(turn.state, root.within, plan.output)))
    except (ExpressionError, ValueError) as error:
        return Ending.failed("invalid", f"output: {told(error)}")


# ------------------------------------------------------------------------------- criteria


def unmet_of(turn: Deciding, cell: Cell, output: Value | None) -> Failure | None:
    """What a result does not fulfil. Without an output, it is what follows from the body."""
    step = cell.step
    if not isinstance(step, Working) or not (step.accept or step.ensures):
        return None
    value = output.load(turn.read) if output else outcome_of(turn.state, cell, cell.body)
    within = isinstance(cell.body, Body)
    ask = evaluate_within if within else evaluate
    for source in step.ensures:
        if ask(turn.state, cell, source, output=value, exit="success") is not True:
            return Failure("unmet", f"it does not ensure: {source}")
    for criterion in step.accept:
        if reason := _unfulfilled(turn, cell, criterion, value, ask):
            return Failure("unmet", reason)
    return None


def _unfulfilled(turn: Deciding, cell: Cell, criterion: Criterion, value: Any, ask: Any) -> str:
    named = criterion.title or criterion.expr or "its schema"
    if criterion.expr is not None:
        holds = ask(turn.state, cell, criterion.expr, output=value, exit="success") is True
        return "" if holds else f"not met: {named}"
    if criterion.schema_ is not None:
        found = flaws(value, criterion.schema_)
        return f"not met: {named}: {'; '.join(found)}" if found else ""
    return f"not met: {named}: judging by a tool or an agent is not possible yet"
