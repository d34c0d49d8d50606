"""Steps that wait for a person, a signal or the clock, and steps that are over at once."""

from typing import Any

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.cells import Cell, Serial
from perdure.core.contracts import unmet_of
from perdure.core.deciding import Deciding
from perdure.core.ending import Ending, end, fail, told
from perdure.core.seeing import evaluate, filled, output_of
from perdure.core.undoing import kept_in, region_of, undo_next
from perdure.core.values import Value
from perdure.plan.expr import ExpressionError
from perdure.plan.model.steps import AskStep, DecideStep, DoneStep, FailStep, WaitStep

# ------------------------------------------------------------------------------- a person


def settle_ask(turn: Deciding, cell: Cell) -> None:
    """Ask once; then wait for the answer or the deadline."""
    step = cell.step
    assert isinstance(step, AskStep)  # noqa: S101  by its kind
    answer = turn.state.answers.get(cell.question)
    if not cell.question:
        _ask(turn, cell, step)
    elif answer is not None:
        _end_asked(turn, cell, step, answer)
    elif turn.is_late(cell):
        turn.record(e.QuestionClosed(question=cell.question, late=True))
        if step.default is None:
            end(turn, cell, Ending("expired", failure=Failure("timeout", "nobody answered in time")))
        else:
            _end_asked(turn, cell, step, turn.keep(step.default))


def _end_asked(turn: Deciding, cell: Cell, step: AskStep, answer: Value) -> None:
    _end_with(turn, cell, exit_of_answer(step, answer.load(turn.read)), answer)


def _end_with(turn: Deciding, cell: Cell, exit_: str, output: Value | None = None) -> None:
    failure = unmet_of(turn, cell, exit_, output)
    end(turn, cell, Ending("failure" if failure else exit_, output, failure or _why_not(turn, cell, exit_)))


def _why_not(turn: Deciding, cell: Cell, exit_: str) -> Failure | None:
    """What somebody said who said no: whoever is told that the step failed wants to know."""
    why = turn.state.reasons.get(cell.question, "") if exit_ == "rejected" else ""
    return Failure("logic", f"{cell.key} ended with {exit_}: {why}") if why else None


def _ask(turn: Deciding, cell: Cell, step: AskStep) -> None:
    try:
        text = str(filled(turn.state, cell.scope, step.ask))
    except ExpressionError as error:
        fail(turn, cell, "invalid", error.message)
        return
    asked: dict[str, Any] = {
        "step": cell.key,
        "visit": cell.visit,
        "question": f"q_{cell.key}_{cell.visit}",
        "text": text,
    }
    turn.record(e.QuestionAsked(answer=step.answer, choices=step.choices, form=step.form, people=step.to, **asked))


def exit_of_answer(step: AskStep, value: Any) -> str:
    """The word that an answer ends a step with."""
    if step.answer == "approval":
        return "approved" if value in (True, "approved") else "rejected"
    return str(value) if step.answer == "choice" else "success"


# ------------------------------------------------------------------------------- a signal or the clock


def settle_wait(turn: Deciding, cell: Cell) -> None:
    """Take the oldest signal, if this step waited longest; or see that the time is up."""
    step = cell.step
    assert isinstance(step, WaitStep)  # noqa: S101  by its kind
    name = step.wait.signal
    if name and turn.state.signals.get(name) and next(iter(turn.state.waiting[name].values()), None) is cell:
        turn.record(e.SignalTaken(step=cell.key, visit=cell.visit, name=name))
        end(turn, cell, Ending(output=turn.state.taken[cell.key]))
        turn.look_at(next(iter(turn.state.waiting[name].values()), None))
    elif turn.is_late(cell):
        end(turn, cell, Ending("elapsed"))


# ------------------------------------------------------------------------------- over at once


def settle_mark(turn: Deciding, cell: Cell) -> None:
    """Be over."""
    try:
        _end_mark(turn, cell)
    except (ExpressionError, ValueError) as error:
        fail(turn, cell, "invalid", told(error))


def _end_mark(turn: Deciding, cell: Cell) -> None:
    match cell.step:
        case DoneStep() as step:
            end(turn, cell, Ending(output=turn.keep(_handed_on(turn, cell, step)), to="done"))
        case FailStep() as step:
            text = "the plan says so" if step.fail is True else str(filled(turn.state, cell.scope, step.fail))
            end(turn, cell, Ending("failure", failure=Failure("logic", text), to="fail"))
        case DecideStep(decide=str() as source) as step:
            choice = evaluate(turn.state, cell.scope, source)
            if not isinstance(choice, str) or choice not in step.choices:
                raise ValueError(f"{choice!r} is not among its choices: {', '.join(step.choices)}")
            _end_with(turn, cell, choice, turn.keep(choice))
        case _:
            end(turn, cell, Ending())


def _handed_on(turn: Deciding, cell: Cell, step: DoneStep) -> Any:
    if step.done is not True:
        return filled(turn.state, cell.scope, step.done)
    body = cell.parent.body if cell.parent else None
    before = body.last if isinstance(body, Serial) else None
    return output_of(turn.state, before) if before else None


def settle_rollback(turn: Deciding, cell: Cell) -> None:
    """Be over when everything since the checkpoint was taken back, or could not be."""
    if not undo_next(turn, region_of(turn.state, cell)):
        return
    kept = [key for key, _ in kept_in(turn.state, cell)]
    if kept:
        fail(turn, cell, "logic", f"could not be taken back: {', '.join(kept)}")
    else:
        _end_with(turn, cell, "success")


def settle_stopped_pause(turn: Deciding, cell: Cell) -> None:
    """A step that only waited is over at once; one that was taking something back finishes that try."""
    if cell.kind == "rollback" and any(effect.flying for effect in region_of(turn.state, cell)):
        return
    if cell.question in turn.state.questions:
        turn.record(e.QuestionClosed(question=cell.question))
    assert cell.leaving is not None  # noqa: S101  said when it began to stop
    end(turn, cell, Ending.of(cell.leaving))
