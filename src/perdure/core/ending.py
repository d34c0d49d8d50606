"""How visits end: where an exit leads, and what a group hands on."""

from sys import intern
from typing import Any, Final

import msgspec

from perdure.core import events as e
from perdure.core.calls import DOUBTFUL, Call, Failure
from perdure.core.cells import Cell, Work
from perdure.core.contracts import unmet_of
from perdure.core.deciding import Deciding
from perdure.core.ladder import goes_on, plan_in
from perdure.core.seeing import SECRETS, asked, call_for_later, evaluate, filled, outcome_of
from perdure.core.values import NULL, Value
from perdure.plan.expr import ExpressionError
from perdure.plan.model.document import Plan
from perdure.plan.model.steps import Grouping

# ------------------------------------------------------------------------------- where it leads


class Ending(msgspec.Struct, frozen=True):
    """What a visit ends with."""

    exit: str = "success"
    output: Value | None = None
    """None: what follows from the body."""
    failure: Failure | None = None
    cause: str = ""
    """The step inside whose failure it is."""
    to: str = ""
    """Where it leads; empty: where the exit does."""
    partial: bool = False
    """It is over with what there is."""
    goes_on: bool = False
    """It failed, and the plan goes on in spite of that."""
    stays: tuple[str, ...] = ()
    """Steps inside whose effects stay, and hold it back from being done again or in another way."""

    @classmethod
    def failed(cls, kind: str, message: str) -> "Ending":
        """The end of something that did not work."""
        return cls("failure", failure=Failure(kind, message))

    @classmethod
    def of(cls, leaving: e.StepStopping) -> "Ending":
        """What was said when the visit began to stop, perhaps before the run was loaded."""
        to = intern(leaving.to)
        return cls(intern(leaving.exit), leaving.output, leaving.failure, leaving.cause, to, leaving.partial)


def leads_to(cell: Cell, exit_: str, failure: Failure | None) -> tuple[str, bool]:
    """The target of an exit, and whether the plan goes on in spite of a failure."""
    if is_item(cell):
        return ("next" if exit_ != "failure" else "recover"), False
    target = cell.target(exit_)
    if target == "recover" and failure is not None and goes_on(cell, failure.kind):
        return "next", True
    return target, False


def end(turn: Deciding, cell: Cell, how: Ending) -> None:
    """Record that a visit is over."""
    to, partial = _where(cell, how)
    is_begun = not (how.partial and isinstance(cell.body, Work))
    undo = undo_of(turn, cell, how.exit, how.output) if is_begun else None
    close_questions(turn, cell)
    if undo is None and not partial and _was_heard(turn, cell, how):
        turn.record_end(cell, to)
    else:
        event = e.StepEnded(
            step=cell.key, visit=cell.visit, exit=how.exit, to=to, failure=how.failure, cause=how.cause,
            partial=partial, output=how.output, undo=undo, stays=how.stays,
        )  # fmt: skip
        turn.record(event)
    if turn.state.rules.planning:
        turn.over.append(cell)
    turn.look_at(cell.parent)


def _where(cell: Cell, how: Ending) -> tuple[str, bool]:
    """Where it leads, and whether something is missing."""
    if how.goes_on:
        return "next", True
    to, partial = (how.to, False) if how.to else leads_to(cell, how.exit, how.failure)
    return to, partial or how.partial


def close_questions(turn: Deciding, cell: Cell) -> None:
    """Nobody wants to know any more how much there is to spend, how to go on, or whether a judge may look."""
    if not turn.state.questions:
        return
    verdict = cell.body.verdict if isinstance(cell.body, Work) else None
    if verdict is not None and verdict.question in turn.state.questions:
        turn.record(e.QuestionClosed(question=verdict.question))
    if cell.ledger is not None and cell.ledger.question in turn.state.questions:
        turn.record(e.QuestionClosed(question=cell.ledger.question))
    if cell.question and cell.question in turn.state.questions:
        turn.record(e.QuestionClosed(question=cell.question))


def _was_heard(turn: Deciding, cell: Cell, how: Ending) -> bool:
    """Whether the visit ends just as its attempt did, and that is what this turn has heard of."""
    outcome = cell.body.outcome if type(cell.body) is Work else None
    if outcome is None or outcome.failure is not None or how.failure is not None or how.output is not None:
        return False
    return how.exit == outcome.exit and bool(turn.events) and turn.events[-1] is outcome


def undo_of(turn: Deciding, cell: Cell, exit_: str, output: Value | None) -> dict[str, Any] | None:
    """The call that would take the effect back, with its arguments as they are now, and its secrets as they will be."""
    call = cell.traits.undo
    own = turn.state.rules.undo(cell.traits.tool) if call is None else None
    if call is None and own is None:
        own = _stranger(turn, cell)
    if (call is None and own is None) or is_item(cell):
        return None
    if not (_was_done(cell, exit_) or (own is not None and _may_be_done(turn, cell))):
        return None
    if own is not None:
        return _own_undo(turn, cell, own)
    if output is None and isinstance(cell.body, Work) and cell.body.outcome is not None:
        output = cell.body.outcome.output
    given = output.load(turn.read) if output else outcome_of(turn.state, cell, cell.body)
    try:
        kept = turn.keep(call_for_later(turn.state, cell.scope, call, output=given, exit=exit_))
    except ExpressionError as error:
        return {"error": error.message}
    return {"sha256": kept.sha256} if kept.sha256 else kept.data


def _stranger(turn: Deciding, cell: Cell) -> tuple[str, ...] | None:
    """What a tool that is not known here may want to take itself back: all that it was given. None: it is known."""
    tool = cell.traits.tool
    if not tool or not _may_be_done(turn, cell) or turn.state.rules.knows(Call("tool", tool, {})):
        return None
    call = told_again(turn, cell)
    return () if call is None else tuple(call.arguments)


def _own_undo(turn: Deciding, cell: Cell, wanted: tuple[str, ...]) -> dict[str, Any]:
    """The tool's own way: by what it gave, and by those of its arguments that it wants for that."""
    call = told_again(turn, cell)
    if call is None:
        return {"error": "what it was given cannot be told any more"}
    has_secrets = cell.traits.wants_secrets
    told = call_for_later(turn.state, cell.scope, cell.traits.call) if has_secrets else call.data
    given = {name: told["with"][name] for name in wanted if name in told["with"]}
    kept = turn.keep({"own": call.name, "with": given, **({SECRETS: True} if has_secrets else {})})
    return {"sha256": kept.sha256} if kept.sha256 else kept.data


def told_again(turn: Deciding, cell: Cell) -> Call | None:
    """What the last try was asked to do; None if what that refers to has changed since: it would be another deed."""
    call = cell.work.call
    if call is None:
        try:
            call, digest = asked(turn.state, cell)
        except ExpressionError:
            return None
        call = call if digest == cell.work.digest else None
    return call


def _was_done(cell: Cell, exit_: str) -> bool:
    """Whether there is something to take back: also what was done, but not well enough."""
    if exit_ not in {"failure", "cancelled", "left"}:
        return True
    outcome = cell.body.outcome if isinstance(cell.body, Work) else None
    return outcome is not None and outcome.failure is None and outcome.approval is None


def _may_be_done(turn: Deciding, cell: Cell) -> bool:
    """Whether nobody saw what came of it, and no person has said. A tool's own way back looks before it acts."""
    work = cell.body
    if not isinstance(work, Work) or cell.question in turn.state.answers:
        return False
    failure = work.outcome.failure if work.outcome else None
    return work.lost or (failure is not None and failure.kind in DOUBTFUL)


def fail(turn: Deciding, cell: Cell, kind: str, message: str) -> None:
    """Record that a visit failed."""
    end(turn, cell, Ending.failed(kind, message))


# ------------------------------------------------------------------------------- groups


def end_group(turn: Deciding, cell: Cell, how: Ending) -> None:
    """Record that a group is over."""
    if cell.parent is None:
        end_run(turn, cell, how)
    elif how.partial:
        _end_partly(turn, cell, how)
    else:
        end(turn, cell, how)


def is_item(cell: Cell) -> bool:
    """Whether a cell stands for one item of a map; its step is the map's."""
    return cell.parent is not None and cell.parent.kind == "map"


def told(error: Exception) -> str:
    """What went wrong, without the name of its class."""
    return error.message if isinstance(error, ExpressionError) else str(error)


def own_say(turn: Deciding, cell: Cell, how: Ending) -> Ending:
    """What a group that went well says itself, and what its criteria say."""
    if how.exit != "success" or how.to or how.partial or how.output is not None:
        return how
    if cell.parent is None or is_item(cell):
        return how
    plan = plan_in(cell)
    source = plan.exit if plan else cell.step.exit if isinstance(cell.step, Grouping) else None
    try:
        exit_ = "success" if source is None else evaluate(turn.state, cell.within, source)
        output = None if plan is None or plan.output is None else filled(turn.state, cell.within, plan.output)
        return concluded(turn, cell, exit_, None if output is None else turn.keep(output))
    except (ExpressionError, ValueError) as error:
        return Ending.failed("invalid", told(error))


def _end_partly(turn: Deciding, cell: Cell, how: Ending) -> None:
    """A group that is over with what there is: nobody asks whether that is enough."""
    plan = plan_in(cell)
    end(turn, cell, how if plan is None else _given_so_far(turn, cell, plan, how))


def _given_so_far(turn: Deciding, cell: Cell, plan: Plan, how: Ending) -> Ending:
    """With what the plan says it gives, if that can be told already; else with what there is."""
    try:
        said = turn.keep(filled(turn.state, cell.within, plan.output))
    except (ExpressionError, ValueError):
        return how
    return how if said == NULL else msgspec.structs.replace(how, output=said)


def concluded(turn: Deciding, cell: Cell, exit_: Any, output: Value | None = None, *, judged: bool = False) -> Ending:
    """The end of a visit that chose its word: it must be a declared one, and the result what was asked for.

    `judged`: the tools and agents were asked that have to accept it.
    """
    words = ("success", *(cell.traits.working.verdicts if cell.traits.working else ()), "failure")
    if not isinstance(exit_, str) or exit_ not in words:
        raise ValueError(f"{exit_!r} is not among the words it may end with: {', '.join(words)}")
    own = Failure("logic", "it says so itself") if exit_ == "failure" else None
    failure = own or unmet_of(turn, cell, exit_, output, judged=judged)
    return Ending("failure" if failure else exit_, output, failure)


_STATUSES: Final = {"success": "succeeded", "cancelled": "cancelled", "rolled_back": "rolled_back"}


def end_run(turn: Deciding, root: Cell, how: Ending) -> None:
    """Record that the run is over."""
    if how.partial:
        how = _given_so_far(turn, root, root.scope.outline.plan, how)
    elif how.exit == "success":
        how = _own_say(turn, root)
    close_questions(turn, root)
    about: dict[str, Any] = {"output": how.output, "failure": how.failure, "cause": how.cause}
    turn.record(e.RunEnded(status=_STATUSES.get(how.exit, "failed"), partial=how.partial, **about))


def _own_say(turn: Deciding, root: Cell) -> Ending:
    """What a plan says about a run of it that went well."""
    plan = root.scope.outline.plan
    try:
        exit_ = "success" if plan.exit is None else evaluate(turn.state, root.within, plan.exit)
        if exit_ != "success":
            return Ending.failed("unmet", f"the plan ended with {exit_!r}")
        return Ending(output=None if plan.output is None else turn.keep(filled(turn.state, root.within, plan.output)))
    except (ExpressionError, ValueError) as error:
        return Ending.failed("invalid", f"output: {told(error)}")
