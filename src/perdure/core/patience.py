"""How long a question is open, and who is asked.

A step that asks says so itself. All other questions, about doubts, budgets, rules and failures, have the terms of the
nearest plan around; when their time is up, nobody has agreed to anything.
"""

from typing import Any

from perdure.core.cells import Cell
from perdure.core.deciding import Deciding
from perdure.core.events import QuestionAsked
from perdure.core.ladder import plan_in
from perdure.core.state import State
from perdure.plan.model.parts import Questions


def terms(turn: Deciding, cell: Cell) -> dict[str, Any]:
    """When a question of a step is due, and who may answer it, as the plan says."""
    said = _said(cell)
    if said is None:
        return {}
    due = {} if said.within is None else {"due": turn.now + round(said.within * 1000)}
    return {**due, "people": said.to}


def unasked(turn: Deciding, question: str) -> str:
    """A name for a question that is asked once more in the same visit: no question has the name of another one."""
    while question in turn.state.asked:
        question += "_again"
    return question


def _said(cell: Cell) -> Questions | None:
    for each in (cell, *cell.around):
        plan = each.scope.outline.plan if each.parent is None else plan_in(each)
        if plan is not None and plan.questions is not None:
            return plan.questions
    return None


def due_of(state: State, question: QuestionAsked) -> int | None:
    """When a question is too old to be answered, on the clock of the run; None: never."""
    return state.asked[question.question].due if question.about == "plan" else question.due
