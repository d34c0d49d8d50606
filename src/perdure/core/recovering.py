"""After a failure: the next rung of the ladder that there is. What was tried is a fact, so nothing is tried anew.

Within a visit a step is tried again, in its lighter way, by looser criteria, or in another way. Then the visit is over:
it leads where the plan says, or, where that is to `recover`, to a person, back to where things were, or on without it.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.cells import Cell
from perdure.core.deciding import Deciding
from perdure.core.ending import Ending, end, end_group, is_item, undo_of, unmet_of
from perdure.core.judging import is_judged
from perdure.core.ladder import WITHIN, ladder_of, owner_of
from perdure.core.patience import terms
from perdure.core.trying import again, own_exit, pause_of
from perdure.plan.raw import is_mapping

AGAIN, DONE, CONTINUE, FAIL = "again", "done", "continue", "fail"
ANSWERS: Final = {
    AGAIN: "try it once more",
    DONE: "somebody has done it; say with `output` what came of it",
    CONTINUE: "go on without it",
    FAIL: "let it fail",
}
"""What can be answered to a question about a failure, and what happens then."""


def judge(turn: Deciding, cell: Cell, outcome: e.AttemptEnded) -> None:
    """End the visit as its attempt did, or see what there is against its failure."""
    exit_, failure = own_exit(turn, cell, outcome)
    is_to_blame = failure is not None
    if failure is None and cell.traits.judges:
        is_over, failure = is_judged(turn, cell, exit_)
        if not is_over:
            return
        is_to_blame = failure is not None and failure.kind == "unmet"
    if failure is not None:
        recover(turn, cell, failure, outcome, within=is_to_blame)
    else:
        end(turn, cell, Ending(exit_, outcome.output if cell.work.outcome is not outcome else None))


def recover(
    turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None = None, *, within: bool = True
) -> None:
    """Take the next rung; the visit goes on, or it is over. What is not to blame is not done again, in no way."""
    if is_asking(cell):
        _hear(turn, cell, failure)
        return
    is_led = cell.traits.target("failure") != "recover"
    for rung in ladder_of(cell, failure.kind):
        if rung not in WITHIN and is_led:
            break
        if rung in WITHIN and not within:
            continue
        if _RUNGS[rung](turn, cell, failure, outcome):
            return
    end(turn, cell, Ending("failure", failure=failure, to="" if is_led else "recover"))


# ------------------------------------------------------------------------------- within a visit


def _retry(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None) -> bool:  # noqa: ARG001
    pause = pause_of(turn, cell, failure) if cell.work.outcome is not None or cell.work.lost else None
    if pause is not None:
        again(turn, cell, pause)
    return pause is not None


def _simplify(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None) -> bool:
    step = cell.traits.working
    is_new = step is not None and step.simpler is not None and "simplify" not in cell.work.ways
    return is_new and _go_another_way(turn, cell, failure, outcome, "simplify")


def _alternate(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None) -> bool:
    step = cell.traits.working
    is_new = step is not None and cell.work.ways.count("alternate") < len(step.alternates)
    return is_new and _go_another_way(turn, cell, failure, outcome, "alternate")


def _go_another_way(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None, rung: str) -> bool:
    """Begin anew, in another way. What was done this way and can be taken back would be forgotten: then not."""
    if outcome is not None and undo_of(turn, cell, "success", outcome.output) is not None:
        return False
    turn.entered.pop(cell, None)  # the visit began before that, and has to be said so
    turn.record(e.RungTaken(step=cell.key, visit=cell.visit, rung=rung, kind=failure.kind))
    again(turn, cell)
    return True


def _relax(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None) -> bool:
    """Whether the result will do after all."""
    step = cell.traits.working
    if outcome is None or step is None or not step.relaxed or failure.kind != "unmet":
        return False
    if unmet_of(turn, cell, outcome.exit, outcome.output, relaxed=True) is not None:
        return False
    turn.record(e.RungTaken(step=cell.key, visit=cell.visit, rung="relax", kind=failure.kind))
    end(turn, cell, Ending(outcome.exit, outcome.output if cell.work.outcome is not outcome else None))
    return True


# ------------------------------------------------------------------------------- after it


def _ask_how(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None) -> bool:  # noqa: ARG001
    _ask(turn, cell, failure, tuple(ANSWERS))
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
        _take_back_in(turn, owner, failure, cell.key)
    return True


def _not_possible(turn: Deciding, cell: Cell, failure: Failure, outcome: e.AttemptEnded | None) -> bool:  # noqa: ARG001
    return False


_RUNGS: Final[dict[str, Callable[[Deciding, Cell, Failure, e.AttemptEnded | None], bool]]] = {
    "retry": _retry,
    "simplify": _simplify,
    "relax": _relax,
    "alternate": _alternate,
    "replan": _not_possible,
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


def _take_back_in(turn: Deciding, owner: Cell, failure: Failure, cause: str) -> None:
    """Stop a group, or the run, and take back what was done in it."""
    if owner.parent is None:
        turn.record(e.RunStopping(exit="rolled_back", failure=failure, reason=f"{cause or 'it'} failed"))
    else:
        about: dict[str, Any] = {"step": owner.key, "visit": owner.visit, "failure": failure, "cause": cause}
        turn.record(e.StepStopping(**about, exit="failure", to=_target_of(owner), undo=(owner.key,)))
    turn.look_at(owner)


def _target_of(cell: Cell) -> str:
    """Where its failure leads when nothing else is done against it."""
    return cell.traits.target("failure")


# ------------------------------------------------------------------------------- groups


def conclude(turn: Deciding, cell: Cell, how: Ending) -> None:
    """End a group. One that failed, and not because of what was dealt with inside, has its own ladder."""
    if how.failure is None or how.exit != "failure" or how.to or is_item(cell) or not _may_recover(turn, cell, how):
        end_group(turn, cell, how)
    elif not is_asking(cell):
        _recover_group(turn, cell, how, how.failure)
    elif any(each.status == "stopping" for each in cell.around):
        end_group(turn, cell, _lasting(cell, how))
    else:
        _hear_group(turn, cell, how)


def _may_recover(turn: Deciding, cell: Cell, how: Ending) -> bool:
    """Whether nobody was asked about this failure who would have to be asked again."""
    if cell.parent is not None and cell.traits.target("failure") != "recover":
        return False
    kind, inside = how.failure.kind if how.failure else "", turn.state.cells.get(how.cause)
    if not how.cause:
        return True
    if inside is None or not _had_its_ladder(inside):
        return owner_of(cell, kind) is not None
    owner = owner_of(inside, kind)
    return owner is not None and (owner is inside or cell in owner.around)


def _had_its_ladder(cell: Cell) -> bool:
    """Whether all that there is against a failure was asked for when a step failed."""
    was_tried = cell.kind == "work" and cell.result is not None and not cell.result.passed
    return was_tried and cell.traits.target("failure") == "recover"


def _recover_group(turn: Deciding, cell: Cell, how: Ending, failure: Failure) -> None:
    for rung in ladder_of(cell, failure.kind):
        match rung:
            case "ask" if cell.parent is not None:
                _ask_about(turn, cell, how, failure)
                return
            case "rollback" if (owner := owner_of(cell, failure.kind)) is not None:
                _take_back_from(turn, cell, owner, how, failure)
                return
            case "continue" if cell.parent is not None:
                end_group(turn, cell, msgspec.structs.replace(how, goes_on=True))
                return
            case "fail":
                break
            case _:
                pass
    end_group(turn, cell, _lasting(cell, how))


def _ask_about(turn: Deciding, cell: Cell, how: Ending, failure: Failure) -> None:
    """Ask about a group that is as good as over: nothing begins in it while somebody thinks."""
    if cell.status == "active":
        about: dict[str, Any] = {"step": cell.key, "visit": cell.visit}
        turn.record(e.StepStopping(**about, exit=how.exit, output=how.output, failure=failure, cause=how.cause))
    _ask(turn, cell, failure, _answers_of(cell))


def _take_back_from(turn: Deciding, cell: Cell, owner: Cell, how: Ending, failure: Failure) -> None:
    if owner is not cell:
        end_group(turn, cell, _lasting(cell, how))
    if owner is cell or owner.status == "active":
        _take_back_in(turn, owner, failure, how.cause)


def _lasting(cell: Cell, how: Ending) -> Ending:
    """A failure that nothing is done against any more."""
    return how if cell.parent is None else msgspec.structs.replace(how, to="recover")


def _answers_of(cell: Cell) -> tuple[str, ...]:
    """A group can be entered again where a step can be jumped to."""
    is_in_line = cell.parent is not None and cell.parent.kind == "serial"
    return (AGAIN, CONTINUE, FAIL) if is_in_line else (CONTINUE, FAIL)


def _hear_group(turn: Deciding, cell: Cell, how: Ending) -> None:
    if cell.question in turn.state.questions:
        return
    match said_to(turn, cell)[0]:
        case "again":
            end_group(turn, cell, msgspec.structs.replace(how, to=cell.traits.id))
        case "continue":
            end_group(turn, cell, msgspec.structs.replace(how, goes_on=True))
        case _:
            end_group(turn, cell, _lasting(cell, how))


# ------------------------------------------------------------------------------- a person


def is_asking(cell: Cell) -> bool:
    """Whether a person was asked how to go on after a failure."""
    return cell.question.startswith(_mark(cell)) if cell.question else False


def _mark(cell: Cell) -> str:
    return f"q_{cell.key}_{cell.visit}_failed"


def _ask(turn: Deciding, cell: Cell, failure: Failure, choices: tuple[str, ...]) -> None:
    said = "; ".join(f"{word} ({ANSWERS[word]})" for word in choices)
    whose = cell.key or "The run"
    text = f"{whose} failed: {failure.kind}: {failure.message}{_tried(cell)} How is it to go on? Say {said}."
    number = cell.work.attempt if cell.kind == "work" else 1
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "question": f"{_mark(cell)}{number}"}
    about |= terms(turn, cell)
    turn.record(e.QuestionAsked(answer="choice", about="recovery", choices=choices, text=text, **about))


def _tried(cell: Cell) -> str:
    """What there was before somebody was asked."""
    if cell.kind != "work":
        return "."
    tries = f"{cell.work.attempt} tr{'y' if cell.work.attempt == 1 else 'ies'}"
    return f" (after {', '.join((tries, *cell.work.ways))})."


def _hear(turn: Deciding, cell: Cell, failure: Failure) -> None:
    if cell.question in turn.state.questions:
        return
    choice, output = said_to(turn, cell)
    match choice:
        case "again":
            again(turn, cell)
        case "done":
            _end_as_done(turn, cell, failure, output)
        case "continue":
            _continue(turn, cell, failure, None)
        case _:
            _fail(turn, cell, failure, None)


def _end_as_done(turn: Deciding, cell: Cell, failure: Failure, output: Any) -> None:
    """A person did it. What they say came of it has to fulfil what was asked for, or it failed after all."""
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "attempt": cell.work.attempt}
    told = e.AttemptEnded(**about, output=turn.keep(output))
    exit_, flaw = own_exit(turn, cell, told)
    if flaw is None:
        end(turn, cell, Ending(exit_, told.output))
    else:
        _fail(turn, cell, msgspec.structs.replace(flaw, detail=msgspec.to_builtins(failure)), None)


def said_to(turn: Deciding, cell: Cell) -> tuple[Any, Any]:
    """What was answered to a step's question; that it is to fail, if nobody answered in time."""
    answer = turn.state.answers.get(cell.question)
    return (FAIL, None) if answer is None else answered(answer.load(turn.read))


def answered(value: Any) -> tuple[Any, Any]:
    """An answer that chooses: the choice, and the output if something was done."""
    return (value.get("choice"), value.get("output")) if is_mapping(value) else (value, None)
