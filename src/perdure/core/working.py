"""Acting steps: when an attempt may begin, and what follows from how it went."""

from dataclasses import replace
from heapq import heappop, heappush
from typing import Any, Final

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.cells import Cell, Work
from perdure.core.chance import drawn, pause_before
from perdure.core.deciding import Deciding
from perdure.core.ending import Ending, end, fail, unmet_of
from perdure.core.evolve import called_by, make_hungry
from perdure.core.seeing import as_data, call_of, evaluate
from perdure.core.values import digest_of
from perdure.plan.expr import ExpressionError
from perdure.plan.model.parts import Retry
from perdure.plan.model.steps import DecideStep, Working
from perdure.plan.raw import is_mapping

NOT_AGAIN: Final = frozenset({"invalid", "denied", "budget", "cancelled", "in_doubt"})
"""Failures that another try cannot mend."""
DOUBTFUL: Final = frozenset({"timeout", "cancelled", "in_doubt"})
"""Failures after which nobody knows whether the deed was done."""
HAPPENED, NOT_HAPPENED, GIVE_UP = "happened", "not_happened", "give_up"

# ------------------------------------------------------------------------------- beginning


def feed(turn: Deciding) -> None:
    """Let those begin that could, as far as there is room: the most important first, then the oldest."""
    state = turn.state
    if state.paused_at is not None or not (state.hungry or state.parked):
        return
    _unpark(turn)
    while turn.slots > 0 and (cell := _next(turn)) is not None:
        _begin(turn, cell)


def _next(turn: Deciding) -> Cell | None:
    best: list[Any] | None = None
    for tool, heap in tuple(turn.state.hungry.items()):
        _drop_stale(turn, heap)
        if not heap:
            del turn.state.hungry[tool]
        elif turn.tools.get(tool, 1) > 0 and (best is None or heap[0] < best[0]):
            best = heap
    if best is None:
        return None
    return turn.state.cells[heappop(best)[2]]


def _drop_stale(turn: Deciding, heap: list[tuple[int, int, str, int]]) -> None:
    while heap and not _is_hungry(turn, turn.state.cells.get(heap[0][2]), heap[0][3]):
        heappop(heap)


def _is_hungry(turn: Deciding, cell: Cell | None, visit: int) -> bool:
    if cell is None or cell.visit != visit or cell.key not in turn.state.eager or cell.status != "active":
        return False
    return not cell.open or (isinstance(cell.body, Work) and not cell.body.flying)


def _begin(turn: Deciding, cell: Cell) -> None:
    if (lock := _missing_lock(turn, cell)) is not None:
        _park(turn, cell, lock)
    elif not cell.open:
        turn.record(e.LocksTaken(step=cell.key, visit=cell.visit))
        turn.look_at(cell)
    else:
        _attempt(turn, cell)


def _attempt(turn: Deciding, cell: Cell) -> None:
    work, state = cell.work, turn.state
    try:
        if not work.attempt and (broken := _broken_requirement(turn, cell)):
            fail(turn, cell, "unmet", f"it requires: {broken}")
            return
        work.call = call_of(state, cell)
        digest = digest_of(as_data(work.call))
    except ExpressionError as error:
        fail(turn, cell, "invalid", error.message)
        return
    due = _deadline(turn, cell)
    turn.record(e.AttemptStarted(step=cell.key, visit=cell.visit, attempt=work.attempt + 1, call=digest, due=due))
    turn.slots -= 1
    tool = called_by(cell)
    if tool in turn.tools:
        turn.tools[tool] -= 1


def _broken_requirement(turn: Deciding, cell: Cell) -> str:
    for source in cell.step.requires if isinstance(cell.step, Working) else ():
        if evaluate(turn.state, cell, source) is not True:
            return source
    return ""


def _deadline(turn: Deciding, cell: Cell) -> int | None:
    seconds = cell.step.timeout if isinstance(cell.step, Working) else None
    if seconds is None and cell.work.call is not None:
        seconds = turn.state.rules.seconds(cell.work.call)
    return None if seconds is None else turn.now + round(seconds * 1000)


# ------------------------------------------------------------------------------- locks


def _missing_lock(turn: Deciding, cell: Cell) -> str | None:
    for name in sorted(cell.step.locks) if isinstance(cell.step, Working) else ():
        if not _may_take(turn, cell, name):
            return name
    return None


def _may_take(turn: Deciding, cell: Cell, name: str) -> bool:
    holder = turn.state.locks.get(name)
    if holder is None:
        return name not in turn.locked
    return holder is cell or holder in cell.around


def _park(turn: Deciding, cell: Cell, lock: str) -> None:
    entry = (0, turn.state.next_number(), cell.key, cell.visit)
    heappush(turn.state.parked.setdefault(lock, []), entry)


def _unpark(turn: Deciding) -> None:
    """For each lock that is free again, let the one in who waited longest."""
    for name, heap in tuple(turn.state.parked.items()):
        _drop_stale(turn, heap)
        if heap and name not in turn.state.locks and name not in turn.locked:
            make_hungry(turn.state, turn.state.cells[heappop(heap)[2]])
        if not heap:
            del turn.state.parked[name]


# ------------------------------------------------------------------------------- after an attempt


def settle_work(turn: Deciding, cell: Cell) -> None:
    """What follows from how the last attempt went."""
    work = cell.work
    if work.flying:
        return
    if work.lost or _is_doubtful(turn, cell):
        _in_doubt(turn, cell)
    elif work.outcome is not None and work.due is None:
        _judge(turn, cell, work.outcome)


def _judge(turn: Deciding, cell: Cell, outcome: e.AttemptEnded) -> None:
    if outcome.failure is not None:
        _fail_or_retry(turn, cell, outcome.failure)
        return
    try:
        exit_, failure = _own_exit(turn, cell, outcome)
    except ExpressionError as error:
        exit_, failure = "failure", Failure("invalid", error.message)
    if failure is not None:
        _fail_or_retry(turn, cell, failure)
    else:
        end(turn, cell, Ending(exit_))


def _own_exit(turn: Deciding, cell: Cell, outcome: e.AttemptEnded) -> tuple[str, Failure | None]:
    step = cell.step
    if isinstance(step, DecideStep):
        choice = outcome.output.load(turn.read)
        known = isinstance(choice, str) and choice in step.choices
        return str(choice), None if known else _undeclared(choice, step.choices)
    declared = step.verdicts if isinstance(step, Working) else ()
    if outcome.exit != "success" and outcome.exit not in declared:
        return "", _undeclared(outcome.exit, declared)
    needs_output = isinstance(step, Working) and (step.accept or step.ensures)
    return outcome.exit, unmet_of(turn, cell, outcome.output) if needs_output else None


def _undeclared(word: object, declared: tuple[str, ...]) -> Failure:
    return Failure("invalid", f"{word!r} was not declared; it may end with: {', '.join(('success', *declared))}")


def _fail_or_retry(turn: Deciding, cell: Cell, failure: Failure) -> None:
    pause = _pause(turn, cell, failure)
    if pause is None:
        end(turn, cell, Ending("failure", failure=failure))
        return
    due = turn.now + pause
    turn.record(e.RetryPlanned(step=cell.key, visit=cell.visit, attempt=cell.work.attempt, due=due))
    if due <= turn.now:
        make_hungry(turn.state, cell)


def _pause(turn: Deciding, cell: Cell, failure: Failure) -> int | None:
    """How long until the next try; None if there is none."""
    policy: Retry | None = cell.step.retry if isinstance(cell.step, Working) else None
    work = cell.work
    if policy is None or failure.kind in NOT_AGAIN or work.counted >= policy.attempts:
        return None
    draw = drawn(turn.state, cell.key, cell.visit, work.counted)
    pause = pause_before(draw, work.counted, policy, failure)
    if policy.within is not None and turn.now + pause - work.since > policy.within * 1000:
        return None
    return pause


# ------------------------------------------------------------------------------- in doubt


def _is_doubtful(turn: Deciding, cell: Cell) -> bool:
    outcome = cell.work.outcome
    if outcome is None or outcome.failure is None or cell.work.due is not None or outcome.failure.kind not in DOUBTFUL:
        return False
    return outcome.failure.kind == "in_doubt" or _repeat(turn, cell) == "never"


def _repeat(turn: Deciding, cell: Cell) -> str:
    return turn.state.rules.repeat(cell.work.call or call_of(turn.state, cell))


def _in_doubt(turn: Deciding, cell: Cell) -> None:
    """Nobody knows whether the deed was done: do it again if that is harmless, or else ask."""
    if cell.question:
        _hear(turn, cell)
    elif _repeat(turn, cell) != "never":
        _again(turn, cell)
    else:
        question = f"q_{cell.key}_{cell.visit}_doubt{cell.work.attempt}"
        asked: dict[str, Any] = {
            "step": cell.key,
            "visit": cell.visit,
            "question": question,
            "text": _doubt_text(turn, cell),
        }
        turn.record(e.QuestionAsked(answer="choice", about="doubt", choices=(HAPPENED, NOT_HAPPENED, GIVE_UP), **asked))


def _doubt_text(turn: Deciding, cell: Cell) -> str:
    call = cell.work.call or call_of(turn.state, cell)
    what = f"{call.kind} {call.name}"
    return (
        f"Attempt {cell.work.attempt} of {cell.key} ({what}) was cut off, and nobody knows whether it had its effect. "
        f"Look, and answer: {HAPPENED} (it did), {NOT_HAPPENED} (try again), {GIVE_UP} (the step fails)."
    )


def _hear(turn: Deciding, cell: Cell) -> None:
    answer = turn.state.answers.get(cell.question)
    if answer is None:
        return
    choice, output = answered(answer.load(turn.read))
    if choice == HAPPENED:
        end(turn, cell, Ending(output=turn.keep(output)))
    elif choice == GIVE_UP:
        fail(turn, cell, "in_doubt", "nobody knows whether it had its effect")
    else:
        _again(turn, cell)


def answered(value: Any) -> tuple[Any, Any]:
    """An answer about a doubt: the choice, and the output if the deed was done."""
    return (value.get("choice"), value.get("output")) if is_mapping(value) else (value, None)


def _again(turn: Deciding, cell: Cell) -> None:
    if cell.key not in turn.state.eager:
        make_hungry(turn.state, cell)


def settle_stopped_work(turn: Deciding, cell: Cell) -> None:
    """A step that is to stop is over when its attempt is; what it had finished by then, it finished."""
    work = cell.work
    if work.flying:
        return
    if cell.question in turn.state.questions:
        turn.record(e.QuestionClosed(question=cell.question))
    if work.outcome is not None and work.outcome.failure is None:
        end(turn, cell, Ending(work.outcome.exit))
    elif cell.leaving is not None:
        how = Ending.of(cell.leaving)
        doubt = Failure("in_doubt", "it was stopped at work, and nobody knows whether it had its effect")
        end(turn, cell, replace(how, failure=doubt) if how.failure is None and _cut_off(turn, cell) else how)


def _cut_off(turn: Deciding, cell: Cell) -> bool:
    outcome = cell.work.outcome
    kind = outcome.failure.kind if outcome and outcome.failure else ""
    return bool(cell.work.attempt) and (cell.work.lost or kind in DOUBTFUL) and _repeat(turn, cell) != "safe"
