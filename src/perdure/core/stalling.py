"""Going round without getting anywhere: seen from the facts alone, so that it is seen again after a crash.

A round of a loop is all that ended in its group between two jumps back; a round of an agent is one move. Rounds are the
same if the same steps were asked the same and gave the same. Whoever waited for the clock, for a signal or for a person
has heard something new, so a loop that polls is no stall.
"""

from collections.abc import Sequence
from typing import Any, Final

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.cells import Cell, Ended, Result, Serial, Work
from perdure.core.concluding import conclude
from perdure.core.consulting import AGAIN, ANSWERS, FAIL, said_to
from perdure.core.deciding import Deciding
from perdure.core.diverting import offers
from perdure.core.ending import Ending
from perdure.core.ladder import ladder_of
from perdure.core.patience import terms
from perdure.core.seeing import outcome_of
from perdure.core.state import State

ROUNDS: Final = 3
"""How often everything has to come out the same."""
STALLED: Final = Failure("stalled", f"it went round {ROUNDS} times, and everything came out the same")


def is_held(turn: Deciding, cell: Cell, here: Cell) -> bool:
    """Whether a loop may not go on, because it gets nowhere. A person who is asked may let it."""
    assert isinstance(cell.body, Serial)  # noqa: S101  nothing else has loops
    mark = f"q_{cell.key or 'run'}_{cell.visit}_stalled{here.visit}_{here.key}"
    if cell.question == mark:
        return not _may_go_on(turn, cell)
    if not is_stalled(turn.state, cell.body.rounds):
        return False
    if _asks(cell):
        _ask(turn, cell, mark)
    else:
        conclude(turn, cell, Ending("failure", failure=STALLED))
    return True


def is_stalled(state: State, rounds: Sequence[Sequence[Ended]]) -> bool:
    """Whether the last rounds were all the same, or two kinds of them took turns."""
    there = [each for each in rounds if each]
    return _repeats(state, there, 1) or _repeats(state, there, 2)


def _repeats(state: State, rounds: list[Sequence[Ended]], period: int) -> bool:
    last = rounds[-ROUNDS * period :]
    pairs = zip(reversed(last), reversed(last[:-period]), strict=False)
    return len(last) == ROUNDS * period and all(_told(state, one) == _told(state, other) for one, other in pairs)


def _told(state: State, ended: Sequence[Ended]) -> list[Any]:
    """What there is to say about a round, wherever it stands."""
    first = ended[0][0].position
    return [(cell.position - first, *_heard(state, cell, visit, result)) for cell, visit, result in ended]


def _heard(state: State, cell: Cell, visit: int, result: Result) -> tuple[Any, ...]:
    """What came of a step. Whoever waited for the world never heard the same."""
    since = visit if cell.kind in {"ask", "wait"} else 0
    asked = result.body.digest if isinstance(result.body, Work) else ""
    failure = (result.failure.kind, result.failure.message) if result.failure else None
    return since, result.exit, asked, failure, _given(state, cell, result)


def _given(state: State, cell: Cell, result: Result) -> Any:
    value = result.output
    if value is None:
        return outcome_of(state, cell, result.body)
    return value.sha256 or value.data


def _asks(cell: Cell) -> bool:
    """Whether a person is asked before anything else is done."""
    after = {"ask", "rollback", "continue", "fail"}
    rungs = ladder_of(cell, "stalled")
    return next((rung for rung in rungs if rung in after or offers(cell, "stalled", rung)), "fail") == "ask"


def _ask(turn: Deciding, cell: Cell, question: str) -> None:
    whose = cell.key or "The run"
    told = f"{AGAIN} (let it go round again); {FAIL} ({ANSWERS[FAIL]})"
    text = f"{whose} gets nowhere: {STALLED.message}. Is it to go on? Say {told}."
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "question": question, "text": text}
    about |= terms(turn, cell)
    turn.record(e.QuestionAsked(answer="choice", about="recovery", choices=(AGAIN, FAIL), **about))


def _may_go_on(turn: Deciding, cell: Cell) -> bool:
    if cell.question in turn.state.questions:
        return False
    if said_to(turn, cell)[0] == AGAIN:
        return True
    to = "" if cell.parent is None else "recover"
    conclude(turn, cell, Ending("failure", failure=STALLED, to=to))
    return False
