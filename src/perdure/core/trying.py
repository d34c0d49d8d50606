"""One try after another: the word a finished attempt ends its visit with, and when there may be another one."""

from typing import Final

from perdure.core import events as e
from perdure.core.affording import is_out_of_time
from perdure.core.calls import Call, Failure, Repeat
from perdure.core.cells import Cell
from perdure.core.chance import drawn, pause_before
from perdure.core.deciding import Deciding
from perdure.core.ending import unmet_of
from perdure.core.ladder import patience_of
from perdure.core.seeing import bare_call, call_of
from perdure.plan.expr import ExpressionError
from perdure.plan.flow import own_exits
from perdure.plan.model.parts import Retry
from perdure.plan.model.steps import AnyStep, DecideStep

LOOKING: Final = Retry(attempts=4, wait=1, factor=4)
"""How patiently a tool is asked to look at what was done; after that, it goes on without."""
LOOK_SECONDS: Final = 30.0
"""How long one look may take, where the tool does not say."""


def own_exit(turn: Deciding, cell: Cell, outcome: e.AttemptEnded) -> tuple[str, Failure | None]:
    """The word that a finished attempt ends its step with, or what is wrong with it."""
    step, exit_ = cell.step, outcome.exit
    if type(step) is DecideStep:
        exit_, declared = outcome.output.load(turn.read), step.choices
    elif exit_ == "success":
        return exit_, unmet_of(turn, cell, exit_, outcome.output)
    else:
        declared = cell.traits.working.verdicts if cell.traits.working else ()
    if not isinstance(exit_, str) or exit_ not in declared:
        return "failure", Failure("invalid", f"{exit_!r} was not declared; it may end with: {_words(step)}")
    return exit_, unmet_of(turn, cell, exit_, outcome.output)


def _words(step: AnyStep | None) -> str:
    return ", ".join(own_exits(step) if step else ())


def again(turn: Deciding, cell: Cell, pause: int = 0) -> None:
    """Plan another try."""
    due = turn.now + pause
    turn.record(e.RetryPlanned(step=cell.key, visit=cell.visit, attempt=cell.work.attempt, due=due))


def pause_of(turn: Deciding, cell: Cell, failure: Failure) -> int | None:
    """How long until the next try; None if there is none. All tries of a visit count, whatever they tried."""
    policy, work = patience_of(cell, failure.kind), cell.work
    if failure.kind == "timeout" and cell.ledgers and is_out_of_time(turn, cell):
        return 0  # it is not to blame; whether there is more time is asked before it begins
    if policy is None or work.counted >= policy.attempts:
        return None
    draw = drawn(turn.state, cell.key, cell.visit, work.counted)
    pause = pause_before(draw, work.counted, policy, failure)
    if policy.within is not None and turn.now + pause - work.since > policy.within * 1000:
        return None
    return pause


def call_at(turn: Deciding, cell: Cell) -> Call:
    """What the visit asks its performer to do; without arguments if they cannot be told any more."""
    try:
        return cell.work.call or call_of(turn.state, cell)
    except ExpressionError:
        return bare_call(cell.traits.call)


def repeat_of(turn: Deciding, cell: Cell) -> Repeat:
    """What may be done with a try of which nobody knows how it ended."""
    return turn.state.rules.repeat(call_at(turn, cell))
