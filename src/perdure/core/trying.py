"""One try after another: the word a finished attempt ends its visit with, and when there may be another one."""

from collections.abc import Mapping
from typing import Any, Final, cast

from perdure.core import events as e
from perdure.core.affording import is_out_of_time
from perdure.core.calls import Call, Failure, Repeat
from perdure.core.cells import Cell
from perdure.core.chance import drawn, pause_before
from perdure.core.contracts import unmet_of
from perdure.core.deciding import Deciding
from perdure.core.ladder import patience_of
from perdure.core.seeing import asked, bare_call, call_of
from perdure.plan.expr import ExpressionError
from perdure.plan.flow import own_exits
from perdure.plan.model.parts import Retry
from perdure.plan.model.steps import AnyStep, DecideStep

LOOKING: Final = Retry.model_construct(attempts=4, wait=1, factor=4)
"""How patiently a tool is asked to look at what was done; after that, it goes on without."""
LOOK_SECONDS: Final = 30.0
"""How long one look may take, where the tool does not say."""


def own_exit(turn: Deciding, cell: Cell, outcome: e.AttemptEnded) -> tuple[str, Failure | None]:
    """The word that a finished attempt ends its step with, or what is wrong with it."""
    step, exit_ = cell.step, outcome.exit
    if type(step) is DecideStep:
        exit_, declared = _chosen(outcome.output.load(turn.read)), step.choices
    elif exit_ == "success":
        return exit_, unmet_of(turn, cell, exit_, outcome.output)
    else:
        declared = cell.traits.working.verdicts if cell.traits.working else ()
    if not isinstance(exit_, str) or exit_ not in declared:
        return "failure", Failure("invalid", f"{exit_!r} was not declared; it may end with: {_words(step)}")
    return exit_, unmet_of(turn, cell, exit_, outcome.output)


def _chosen(given: Any) -> Any:
    """The word that was chosen; a model may say besides how sure it was."""
    return cast("Mapping[str, Any]", given).get("choice") if isinstance(given, dict) else given


def _words(step: AnyStep | None) -> str:
    return ", ".join(own_exits(step) if step else ())


def again(turn: Deciding, cell: Cell, pause: int = 0, rejected: Failure | None = None) -> None:
    """Plan another try."""
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "attempt": cell.work.attempt}
    turn.record(e.RetryPlanned(**about, due=turn.now + pause, rejected=rejected))


def pause_of(turn: Deciding, cell: Cell, failure: Failure) -> int | None:
    """How long until the next try; None if there is none. All tries of a visit count, whatever they tried."""
    work = cell.work
    if failure.kind == "timeout" and cell.ledgers and is_out_of_time(turn, cell):
        return 0  # it is not to blame; whether there is more time is asked before it begins
    return pause_after(turn, cell, failure, work.counted, work.since)


def pause_after(turn: Deciding, cell: Cell, failure: Failure, tries: int, since: int) -> int | None:
    """How long to stay away after so many tries; None if that were enough, or it would be too late."""
    policy = patience_of(cell, failure.kind)
    if policy is None or tries >= policy.attempts:
        return None
    pause = pause_before(drawn(turn.state, cell.key, cell.visit, tries), tries, policy, failure)
    if policy.within is not None and turn.now + pause - since > policy.within * 1000:
        return None
    return pause


def call_at(turn: Deciding, cell: Cell) -> Call:
    """What the visit asks its performer to do; without arguments if they cannot be told any more."""
    try:
        return cell.work.call or call_of(turn.state, cell)
    except ExpressionError:
        return bare_call(cell.traits.call)


def is_same_deed(turn: Deciding, cell: Cell) -> bool:
    """Whether the next try would be asked to do what the last one was; what that refers to may have changed."""
    try:
        return asked(turn.state, cell)[1] == cell.work.digest
    except ExpressionError:
        return False


def repeat_of(turn: Deciding, cell: Cell) -> Repeat:
    """What may be done with a try of which nobody knows how it ended."""
    return turn.state.rules.repeat(call_at(turn, cell))
