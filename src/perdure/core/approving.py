"""Approval: an attempt that stopped before its effect, because a person has to agree to exactly what it is about to do.

The attempt named what it would do by a digest. If somebody says yes, the next attempt carries that digest; if what it
would do has changed meanwhile, it stops again.
"""

from typing import Any

from perdure.core import events as e
from perdure.core.calls import Approval, Failure, is_yes
from perdure.core.cells import Cell
from perdure.core.deciding import Deciding
from perdure.core.patience import terms
from perdure.core.recovering import recover
from perdure.core.seeing import refusal
from perdure.core.trying import again


def settle_approval(turn: Deciding, cell: Cell, approval: Approval) -> None:
    """Ask once; go on if somebody agrees, fail if somebody does not or nobody answers in time."""
    answer = turn.state.answers.get(cell.question)
    if cell.is_asking:
        recover(turn, cell, Failure("denied", "a person said no"))
    elif not cell.question:
        _ask(turn, cell, approval)
    elif cell.question in turn.state.questions:
        return
    elif answer is not None and is_yes(answer.load(turn.read)):
        again(turn, cell)
    else:
        recover(turn, cell, refusal(turn.state, cell.question))


def _ask(turn: Deciding, cell: Cell, approval: Approval) -> None:
    question = f"q_{cell.key}_{cell.visit}_approval{cell.work.attempt}"
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "question": question, "text": approval.text}
    about |= terms(turn, cell)
    turn.record(e.QuestionAsked(answer="approval", about="policy", approves=approval.digest, **about))
