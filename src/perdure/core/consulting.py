"""Asking a person how to go on after a failure, and hearing what they say."""

from typing import Any, Final

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.cells import Cell
from perdure.core.contracts import rejection
from perdure.core.deciding import Deciding
from perdure.core.patience import terms, unasked
from perdure.plan.raw import is_mapping

AGAIN, DONE, CONTINUE, FAIL = "again", "done", "continue", "fail"
ANSWERS: Final = {
    AGAIN: "try it once more",
    DONE: "somebody has done it; say with `output` what came of it",
    CONTINUE: "go on without it",
    FAIL: "let it fail",
}
"""What can be answered to a question about a failure, and what happens then."""


def ask(turn: Deciding, cell: Cell, failure: Failure, choices: tuple[str, ...]) -> None:
    """Ask what is to be done about a failure."""
    said = "; ".join(f"{word} ({ANSWERS[word]})" for word in choices)
    whose = cell.key or "The run"
    text = f"{whose} failed: {failure.kind}: {failure.message}{_tried(cell)} How is it to go on? Say {said}."
    question = unasked(turn, f"{cell.failed_question}{cell.work.attempt if cell.kind == 'work' else 1}")
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "question": question}
    about |= {**terms(turn, cell), "rejected": rejection(cell, failure)}
    turn.record(e.QuestionAsked(answer="choice", about="recovery", choices=choices, text=text, **about))


def _tried(cell: Cell) -> str:
    """What there was before somebody was asked."""
    tries: tuple[str, ...] = ()
    if cell.kind == "work":
        tries = (f"{cell.work.attempt} tr{'y' if cell.work.attempt == 1 else 'ies'}",)
    told = ", ".join((*tries, *cell.ways))
    return f" (after {told})." if told else "."


def said_to(turn: Deciding, cell: Cell) -> tuple[Any, Any]:
    """What was answered to a step's question; that it is to fail, if nobody answered in time."""
    answer = turn.state.answers.get(cell.question)
    return (FAIL, None) if answer is None else answered(answer.load(turn.read))


def answered(value: Any) -> tuple[Any, Any]:
    """An answer that chooses: the choice, and the output if something was done."""
    return (value.get("choice"), value.get("output")) if is_mapping(value) else (value, None)
