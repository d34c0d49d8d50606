"""A question as people have to see it: what is asked and why, what follows from each answer, and what from silence."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from perdure.core.cells import Cell
from perdure.core.consulting import ANSWERS as REMEDIES
from perdure.core.doubting import ANSWERS, GIVE_UP, HAPPENED
from perdure.core.events import Event, QuestionAnswered, QuestionAsked, QuestionClosed
from perdure.core.patience import due_of
from perdure.core.state import State
from perdure.core.waiting import exit_of_answer
from perdure.engine.ahead import Led, fails, follows, led_to
from perdure.plan.model.steps import AskStep


@dataclass(frozen=True, slots=True)
class Inquiry:
    """An open question, with all that somebody needs to know who answers it."""

    asked: QuestionAsked
    answers: tuple[tuple[str, str], ...]
    """What can be answered, and what follows from it."""
    after: Led | None
    """The failure that led to it."""
    due: int | None
    """Until when, in milliseconds; None: for ever, or the run is paused and its clock stands still."""
    silence: str
    """What follows if nobody answers until then; empty: nobody is in a hurry."""


def inquiry(state: State, asked: QuestionAsked) -> Inquiry:
    """An open question of a run."""
    cell = state.asked[asked.question]
    due = due_of(state, asked)
    silence = "" if due is None else _silence(asked, cell)
    wall = None if due is None or state.paused_at is not None else due + state.paused
    after = led_to(state, cell) if asked.about == "plan" else None
    return Inquiry(asked, tuple(_answers(asked, cell)), after, wall, silence)


def _answers(asked: QuestionAsked, cell: Cell) -> Iterator[tuple[str, str]]:
    match asked.about:
        case "doubt":
            yield from ((word, _of_doubt(word, cell)) for word in asked.choices)
        case "policy":
            yield from _of_rule(asked, cell)
        case "budget":
            yield "NUMBER", f"there is so much more ({asked.of}), and it goes on"
            yield "finish", "it is over with what there is"
            yield "fail", f"it fails: {_after_failure(cell, 'budget')}"
        case "plan":
            yield from _of_plan(asked, cell)
        case _:
            yield from ((word, REMEDIES.get(word, "")) for word in asked.choices)


def _of_doubt(word: str, cell: Cell) -> str:
    if word == HAPPENED:
        return f"{ANSWERS[word]}; {follows(cell, 'success')}"
    return f"{ANSWERS[word]}: {follows(cell, 'failure', 'in_doubt')}" if word == GIVE_UP else ANSWERS[word]


def _of_rule(asked: QuestionAsked, cell: Cell) -> Iterator[tuple[str, str]]:
    if asked.deed == "undo":
        yield "approved", "it is taken back, exactly so"
        yield "rejected", "it stays as it is"
    elif asked.deed == "judge":
        yield "approved", "what the step gave is judged, exactly so"
        yield "rejected", f"it is not judged: {follows(cell, 'failure', 'denied')}"
    else:
        yield "approved", "it is done, exactly so"
        yield "rejected", f"it is not done: {fails(cell, 'denied')}"


def _after_failure(owner: Cell, kind: str) -> str:
    return "the run fails" if owner.parent is None else follows(owner, "failure", kind)


def _of_plan(asked: QuestionAsked, cell: Cell) -> Iterator[tuple[str, str]]:
    match asked.answer:
        case "approval":
            yield from ((word, follows(cell, word)) for word in ("approved", "rejected"))
        case "choice":
            yield from ((word, follows(cell, word)) for word in asked.choices)
        case kind:
            yield kind.upper(), follows(cell, "success")


def _silence(asked: QuestionAsked, cell: Cell) -> str:
    """What follows from no answer."""
    step = cell.step
    match asked.about:
        case "plan" if isinstance(step, AskStep) and step.default is not None:
            exit_ = exit_of_answer(step, step.default)
            word = f"{exit_} " if exit_ != "success" else ""
            return f"its default {word}holds: {follows(cell, exit_)}"
        case "plan":
            return f"it has expired: {follows(cell, 'expired', 'timeout')}"
        case "doubt":
            return f"the step fails, and what it did stays: {follows(cell, 'failure', 'in_doubt')}"
        case "policy":
            return f"as if rejected: {dict(_of_rule(asked, cell))['rejected']}"
        case "budget":
            return f"as if fail were answered: {_after_failure(cell, 'budget')}"
        case _:
            return "as if fail were answered: the step fails"


# ------------------------------------------------------------------------------- how it went


@dataclass(slots=True)
class Put:
    """A question that was put to people, and what came of it."""

    asked: QuestionAsked
    at: int
    """When, in milliseconds."""
    answer: QuestionAnswered | None = None
    over: int | None = None
    """When it was answered, or not needed any more."""
    late: bool = False
    """Whether nobody answered in time."""

    @property
    def status(self) -> str:
        """The question in a word."""
        if self.over is None:
            return "open"
        return "answered" if self.answer is not None else "expired" if self.late else "closed"


def note(puts: dict[str, Put], event: Event, at: int) -> None:
    """Take in a fact of a run, if it is about a question."""
    match event:
        case QuestionAsked():
            puts[event.question] = Put(event, at)
        case QuestionAnswered():
            put = puts[event.question]
            put.answer, put.over = event, at
        case QuestionClosed():
            put = puts[event.question]
            put.late, put.over = event.late, at
        case _:
            pass


def said(put: Put, state: State) -> Any:
    """The answer itself."""
    return put.answer.value.load(state.read) if put.answer is not None else None
