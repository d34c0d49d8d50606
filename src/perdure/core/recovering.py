"""After a failure: the next rung of the ladder that there is. What was tried is a fact, so nothing is tried anew.

Within a visit a step is tried again, in its lighter way, by looser criteria, or in another way. Then the visit is over:
it leads where the plan says, or, where that is to `recover`, to a person, back to where things were, or on without it.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from perdure.core import events as e
from perdure.core.adjusting import as_answered, replan
from perdure.core.calls import Failure
from perdure.core.cells import Cell
from perdure.core.consulting import ANSWERS, DONE, ask, said_to
from perdure.core.contracts import rejection, unmet_of
from perdure.core.deciding import Deciding
from perdure.core.diverting import divert
from perdure.core.ending import Ending, end, undo_of
from perdure.core.judging import is_judged
from perdure.core.ladder import WITHIN, ladder_of, owner_of
from perdure.core.trying import again, own_exit, pause_of
from perdure.core.values import Value
from perdure.plan.model.parts import REPLAN


def judge(turn: Deciding, cell: Cell, outcome: e.AttemptEnded) -> None:
    """End the visit as its attempt did, or see what there is against its failure."""
    exit_, failure = own_exit(turn, cell, outcome)
    if cell.is_asking and said_to(turn, cell)[0] == DONE:
        _end_as_done(turn, cell, failure)
        return
    is_to_blame = failure is not None
    if failure is None and cell.traits.judges:
        is_over, failure = is_judged(turn, cell, exit_)
        if not is_over:
            return
        is_to_blame = failure is not None and failure.kind == "unmet"
    if failure is None and cell.traits.grows is not None:
        failure = _refused_growth(turn, cell, outcome)
        is_to_blame = failure is not None
    told = outcome.output if cell.work.outcome is not outcome else None
    if failure is None and cell.traits.tool in turn.state.rules.revisers:
        found = _replanned(turn, cell, outcome)
        told, failure = (told, found) if isinstance(found, Failure) else (found or told, None)
    if failure is not None:
        recover(turn, cell, failure, outcome, within=is_to_blame)
    else:
        end(turn, cell, Ending(exit_, told))


def _refused_growth(turn: Deciding, cell: Cell, outcome: e.AttemptEnded) -> Failure | None:
    from perdure.core.adding import refused_growth  # noqa: PLC0415  few steps add others, and it loads the checks

    return refused_growth(turn, cell, outcome.output)


def _replanned(turn: Deciding, cell: Cell, outcome: e.AttemptEnded) -> Value | Failure | None:
    if cell.is_asking:  # it was refused, and that is a fact; who is asked about it is waited for
        return Failure("unmet", "the run has refused what it wants the plan to become")
    from perdure.core.replanning import replanned  # noqa: PLC0415  few steps ask for another plan, and it loads the checks

    return replanned(turn, cell, outcome.output)


def recover(
    turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None = None, *, within: bool = True
) -> None:
    """Take the next rung; the visit goes on, or it is over. What is not to blame is not done again, in no way."""
    if cell.is_asking:
        _hear(turn, cell, failure)
        return
    is_led = cell.target("failure") != "recover"
    for rung in ladder_of(cell, failure.kind):
        if rung not in WITHIN and is_led:
            break
        if rung in WITHIN and not within:
            continue
        if _RUNGS[rung](turn, cell, failure, outcome):
            return
        failure = as_answered(turn, cell, failure) if rung == REPLAN else failure
    end(turn, cell, Ending("failure", failure=failure, to="" if is_led else "recover"))


# ------------------------------------------------------------------------------- within a visit


def _retry(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None) -> bool:  # noqa: ARG001
    pause = pause_of(turn, cell, failure) if cell.work.outcome is not None or cell.work.lost else None
    if pause is not None:
        again(turn, cell, pause, rejection(cell, failure))
    return pause is not None


def _simplify(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None) -> bool:
    return _go_another_way(turn, cell, failure, outcome, "simplify")


def _alternate(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None) -> bool:
    return _go_another_way(turn, cell, failure, outcome, "alternate")


def _go_another_way(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None, rung: str) -> bool:
    """Begin anew, in another way; but not where what was done, or may have been, could not be taken back any more."""
    exit_, output = ("failure", None) if outcome is None else ("success", outcome.output)
    return undo_of(turn, cell, exit_, output) is None and divert(turn, cell, failure, rung)


def _relax(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None) -> bool:
    """Whether the result will do after all."""
    step = cell.traits.working
    if outcome is None or step is None or not step.relaxed or failure.kind != "unmet":
        return False
    if cell.traits.tool in turn.state.rules.revisers:
        return False  # a wish that was refused is no result
    if unmet_of(turn, cell, outcome.exit, outcome.output, relaxed=True) is not None:
        return False
    if cell.traits.grows is not None and _refused_growth(turn, cell, outcome) is not None:
        return False
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "rejected": failure}
    turn.record(e.RungTaken(**about, rung="relax", kind=failure.kind))
    end(turn, cell, Ending(outcome.exit, outcome.output if cell.work.outcome is not outcome else None))
    return True


# ------------------------------------------------------------------------------- after it


def _ask_how(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None) -> bool:  # noqa: ARG001
    ask(turn, cell, failure, tuple(ANSWERS))
    return True


def _continue(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None) -> bool:  # noqa: ARG001
    end(turn, cell, Ending("failure", failure=failure, goes_on=True))
    return True


def _fail(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None) -> bool:  # noqa: ARG001
    end(turn, cell, Ending("failure", failure=failure, to="recover"))
    return True


def _roll_back(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None) -> bool:
    """Take back all that was done in what the table is of: the step, a group around it, the run."""
    owner = owner_of(cell, failure.kind)
    assert owner is not None  # noqa: S101  it is never tried where nobody says so
    undo = undo_of(turn, cell, "failure", outcome.output if outcome else None)
    if owner is cell and undo is not None:
        stop_and_undo(turn, cell, failure, undo)
        return True
    _fail(turn, cell, failure, outcome)
    if owner.status == "active":
        take_back_in(turn, owner, failure, cell.key)
    return True


def _replan(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None) -> bool:
    """Go on without it, if the rest of the plan is another one now."""
    return replan(turn, cell, failure) and _continue(turn, cell, failure, outcome)


_RUNGS: Final[dict[str, Callable[[Deciding, Cell, Failure, e.AttemptEnded | None], bool]]] = {
    "retry": _retry,
    "simplify": _simplify,
    "relax": _relax,
    "alternate": _alternate,
    "replan": _replan,
    "ask": _ask_how,
    "rollback": _roll_back,
    "continue": _continue,
    "fail": _fail,
}


def stop_and_undo(turn: Deciding, cell: Cell, failure: Failure, undo: dict[str, Any]) -> None:
    """Take back what a visit has done, or may have done, before it is over."""
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit}
    turn.record(e.EffectFound(**about, undo=undo))
    turn.record(e.StepStopping(**about, exit="failure", failure=failure, undo=(cell.key,)))
    turn.look_at(cell)


def take_back_in(turn: Deciding, owner: Cell, failure: Failure, cause: str) -> None:
    """Stop a group, or the run, and take back what was done in it."""
    if owner.parent is None:
        turn.record(e.RunStopping(exit="rolled_back", failure=failure, reason=f"{cause or 'it'} failed"))
    else:
        about: dict[str, Any] = {"step": owner.key, "visit": owner.visit, "failure": failure, "cause": cause}
        turn.record(e.StepStopping(**about, exit="failure", to=_target_of(owner), undo=(owner.key,)))
    turn.look_at(owner)


def _target_of(cell: Cell) -> str:
    """Where its failure leads when nothing else is done against it."""
    return cell.target("failure")


# ------------------------------------------------------------------------------- what a person says


def _hear(turn: Deciding, cell: Cell, failure: Failure) -> None:
    if cell.question in turn.state.questions:
        return
    match said_to(turn, cell)[0]:
        case "again":
            again(turn, cell)
        case "done":
            _end_as_done(turn, cell, failure)
        case "continue":
            _continue(turn, cell, failure, None)
        case _:
            _fail(turn, cell, failure, None)


def _end_as_done(turn: Deciding, cell: Cell, failure: Failure | None) -> None:
    """A person did it. What they say came of it has to fulfil what was asked for, or it failed after all."""
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "attempt": cell.work.attempt}
    told = e.AttemptEnded(**about, output=turn.keep(said_to(turn, cell)[1]))
    exit_, flaw = own_exit(turn, cell, told)
    if flaw is None and cell.traits.judges:
        is_over, flaw = is_judged(turn, cell, exit_)
        if not is_over:
            return
    if flaw is None and cell.traits.grows is not None:
        flaw = _refused_growth(turn, cell, told)
    if flaw is None:
        end(turn, cell, Ending(exit_, told.output))
    else:
        _fail(turn, cell, msgspec.structs.replace(flaw, detail=msgspec.to_builtins(failure)), None)
