"""Acting steps: when an attempt may begin, and what follows from how it went."""

from heapq import heappop, heappush
from typing import Any, Final

import msgspec

from perdure.core import events as e
from perdure.core.affording import NOTHING, afford, deadline, is_out_of_time, readmit
from perdure.core.calls import DOUBTFUL, Call, Failure, Repeat
from perdure.core.cells import Cell, Work
from perdure.core.chance import drawn, pause_before
from perdure.core.deciding import Deciding
from perdure.core.ending import Ending, end, fail, unmet_of
from perdure.core.lines import is_hungry, make_hungry
from perdure.core.quarantine import ALONE, MOST_LOSSES, is_quarantined, is_suspect, suspect_at_work
from perdure.core.seeing import asked, call_of
from perdure.core.state import Entry
from perdure.plan.expr import ExpressionError
from perdure.plan.flow import own_exits
from perdure.plan.model.parts import Retry
from perdure.plan.model.steps import AnyStep, DecideStep
from perdure.plan.raw import is_mapping

NOT_AGAIN: Final = frozenset({"invalid", "denied", "budget", "cancelled", "in_doubt"})
"""Failures that another try cannot mend."""
MOST_DOUBTS: Final = 10
"""How often a visit is tried again without asking when its tries are lost one after the other."""
HAPPENED, NOT_HAPPENED, GIVE_UP = "happened", "not_happened", "give_up"

# ------------------------------------------------------------------------------- beginning


def feed(turn: Deciding) -> None:
    """Let those begin that could, as far as there is room: the most important first, then the oldest."""
    state = turn.state
    if state.paused_at is not None or not (state.hungry or state.parked or state.books.broke):
        return
    if state.parked:
        _unpark(turn)
    while turn.slots > 0:
        if state.books.broke:
            readmit(turn)
        cell = _next(turn)
        if cell is None:
            return
        state.books.called.pop(cell.key, None)
        _begin(turn, cell)


def _next(turn: Deciding) -> Cell | None:
    hungry = turn.state.hungry
    best: str | None = None
    for tool, heap in tuple(hungry.items()):
        _drop_stale(turn, heap)
        if not heap:
            del hungry[tool]
        elif turn.tools.get(tool, 1) > 0 and (best is None or heap[0] < hungry[best][0]):
            best = tool
    return None if best is None else turn.state.cells[_pop(hungry, best)[2]]


def _pop(hungry: dict[str, list[Entry]], tool: str) -> Entry:
    found = heappop(hungry[tool])
    if not hungry[tool]:
        del hungry[tool]
    return found


def _drop_stale(turn: Deciding, heap: list[Entry]) -> None:
    while heap and not is_hungry(turn.state, heap[0]):
        heappop(heap)


def _begin(turn: Deciding, cell: Cell) -> None:
    lock = _missing_lock(turn, cell)
    if lock is not None:
        _park(turn, cell, lock)
        _unpark(turn)
    elif not cell.open:
        turn.record(e.LocksTaken(step=cell.key, visit=cell.visit))
        turn.look_within(cell)
    else:
        _attempt(turn, cell)


def _attempt(turn: Deciding, cell: Cell) -> None:
    work = cell.work
    try:
        work.call, digest = asked(turn.state, cell)
    except ExpressionError as error:
        fail(turn, cell, "invalid", error.message)
        return
    reserved, due = None, _deadline(turn, cell, work.call)
    if cell.ledgers:
        reserved, due = afford(turn, cell, work.call), deadline(turn, cell, due)
        if reserved is None:
            _unpark(turn)  # another one may have the lock that this one does not take
            return
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "attempt": work.attempt + 1, "call": digest}
    turn.record_start(cell, e.AttemptStarted(**about, due=due, reserved=None if reserved == NOTHING else reserved))
    turn.slots -= 1
    tool = cell.traits.tool
    if tool in turn.tools:
        turn.tools[tool] -= 1


def _deadline(turn: Deciding, cell: Cell, call: Call) -> int | None:
    seconds = cell.traits.working.timeout if cell.traits.working else None
    if seconds is None:
        seconds = turn.state.rules.seconds(call)
    return None if seconds is None else turn.now + round(seconds * 1000)


# ------------------------------------------------------------------------------- locks


def _missing_lock(turn: Deciding, cell: Cell) -> str | None:
    for name in cell.traits.locks:
        if not _may_take(turn, cell, name):
            return name
    return ALONE if is_suspect(cell) and suspect_at_work(turn.state) else None


def _may_take(turn: Deciding, cell: Cell, name: str) -> bool:
    holder = turn.state.locks.get(name)
    if holder is None:
        return name not in turn.locked
    return holder is cell or holder in cell.around


def _park(turn: Deciding, cell: Cell, lock: str) -> None:
    entry = (cell.traits.rank, cell.age, cell.key, cell.visit)
    heappush(turn.state.parked.setdefault(lock, []), entry)


def _unpark(turn: Deciding) -> None:
    """For each lock that is free again, let one in: the most important, then the oldest."""
    for name, heap in tuple(turn.state.parked.items()):
        _drop_stale(turn, heap)
        if heap and _is_free(turn, name):
            make_hungry(turn.state, turn.state.cells[heappop(heap)[2]])
        if not heap:
            del turn.state.parked[name]


def _is_free(turn: Deciding, name: str) -> bool:
    if name == ALONE:
        return not suspect_at_work(turn.state)
    return name not in turn.state.locks and name not in turn.locked


# ------------------------------------------------------------------------------- after an attempt


def settle_work(turn: Deciding, cell: Cell) -> None:
    """What follows from how the last attempt went."""
    work = cell.work
    if work.flying or work.due is not None or (work.outcome is None and not work.lost):
        return
    failure = _failure_of(work)
    if failure is not None and _is_doubtful(turn, cell, failure):
        _in_doubt(turn, cell, failure)
    elif failure is not None:
        _fail_or_retry(turn, cell, failure)
    else:
        assert work.outcome is not None  # noqa: S101  else it was lost, which is a failure
        _judge(turn, cell, work.outcome)


def _failure_of(work: Work) -> Failure | None:
    """What went wrong. One that was stopped because it took too long took too long, whatever it says itself."""
    failure = work.outcome.failure if work.outcome else None
    if work.stopping and (work.lost or (failure is not None and failure.kind == "cancelled")):
        return Failure("timeout", "it took longer than it may")
    return Failure("in_doubt", "its process is gone, and nobody saw its end") if work.lost else failure


def _judge(turn: Deciding, cell: Cell, outcome: e.AttemptEnded) -> None:
    exit_, failure = _own_exit(turn, cell, outcome)
    if failure is not None:
        _fail_or_retry(turn, cell, failure)
    else:
        end(turn, cell, Ending(exit_, outcome.output if cell.work.outcome is not outcome else None))


def _own_exit(turn: Deciding, cell: Cell, outcome: e.AttemptEnded) -> tuple[str, Failure | None]:
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


def _fail_or_retry(turn: Deciding, cell: Cell, failure: Failure) -> None:
    pause = _pause(turn, cell, failure)
    if pause is None:
        end(turn, cell, Ending("failure", failure=failure))
    else:
        _again(turn, cell, pause)


def _again(turn: Deciding, cell: Cell, pause: int = 0) -> None:
    due = turn.now + pause
    turn.record(e.RetryPlanned(step=cell.key, visit=cell.visit, attempt=cell.work.attempt, due=due))
    if not pause:
        make_hungry(turn.state, cell)


def _pause(turn: Deciding, cell: Cell, failure: Failure) -> int | None:
    """How long until the next try; None if there is none."""
    policy: Retry | None = cell.traits.working.retry if cell.traits.working else None
    work = cell.work
    if failure.kind == "timeout" and cell.ledgers and is_out_of_time(turn, cell):
        return 0  # it is not to blame; whether there is more time is asked before it begins
    if policy is None or failure.kind in NOT_AGAIN or work.counted >= policy.attempts:
        return None
    draw = drawn(turn.state, cell.key, cell.visit, work.counted)
    pause = pause_before(draw, work.counted, policy, failure)
    if policy.within is not None and turn.now + pause - work.since > policy.within * 1000:
        return None
    return pause


# ------------------------------------------------------------------------------- in doubt


def _is_doubtful(turn: Deciding, cell: Cell, failure: Failure) -> bool:
    """Whether nobody knows if the deed was done, and that matters. What is safe to repeat may just fail."""
    if failure.kind not in DOUBTFUL:
        return False
    return failure.kind == "in_doubt" or _repeat(turn, cell) != "safe"


def _repeat(turn: Deciding, cell: Cell) -> Repeat:
    return turn.state.rules.repeat(cell.work.call or call_of(turn.state, cell))


def _in_doubt(turn: Deciding, cell: Cell, failure: Failure) -> None:
    """Do it again if that is harmless, or else ask."""
    if cell.question:
        _hear(turn, cell)
    elif (pause := _harmless_pause(turn, cell, failure)) is not None:
        _again(turn, cell, pause)
    else:
        _ask(turn, cell)


def _harmless_pause(turn: Deciding, cell: Cell, failure: Failure) -> int | None:
    """How long until the deed may be done again without asking; None if it may not."""
    work = cell.work
    if _repeat(turn, cell) == "never" or is_quarantined(work):
        return None
    if failure.kind == "in_doubt":
        return 0 if work.attempt - work.counted <= MOST_DOUBTS else None
    return _pause(turn, cell, failure)


def _ask(turn: Deciding, cell: Cell) -> None:
    call = cell.work.call or call_of(turn.state, cell)
    died = f"Its process died {cell.work.losses} times. " if cell.work.losses >= MOST_LOSSES else ""
    text = died + (
        f"Attempt {cell.work.attempt} of {cell.key} ({call.kind} {call.name}) was cut off, and nobody knows whether it "
        f"had its effect. Look, then say {HAPPENED} (it did), {NOT_HAPPENED} (try again) or {GIVE_UP} (the step fails)."
    )
    question = f"q_{cell.key}_{cell.visit}_doubt{cell.work.attempt}"
    while question in turn.state.asked:
        question += "_again"
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "question": question, "text": text}
    turn.record(e.QuestionAsked(answer="choice", about="doubt", choices=(HAPPENED, NOT_HAPPENED, GIVE_UP), **about))


def _hear(turn: Deciding, cell: Cell) -> None:
    answer = turn.state.answers.get(cell.question)
    if answer is None:
        return
    choice, output = answered(answer.load(turn.read))
    if choice == HAPPENED:
        about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "attempt": cell.work.attempt}
        _judge(turn, cell, e.AttemptEnded(**about, output=turn.keep(output)))
    elif choice == GIVE_UP:
        fail(turn, cell, "in_doubt", "nobody knows whether it had its effect")
    else:
        _again(turn, cell)


def answered(value: Any) -> tuple[Any, Any]:
    """An answer about a doubt: the choice, and the output if the deed was done."""
    return (value.get("choice"), value.get("output")) if is_mapping(value) else (value, None)


# ------------------------------------------------------------------------------- stopping


def settle_stopped_work(turn: Deciding, cell: Cell) -> None:
    """A step that is to stop is over when its attempt is; what it had finished by then, it finished."""
    work = cell.work
    if work.flying:
        return
    if cell.question in turn.state.questions:
        turn.record(e.QuestionClosed(question=cell.question))
    end(turn, cell, _finished(turn, cell) or _cut_off(turn, cell))


def _finished(turn: Deciding, cell: Cell) -> Ending | None:
    work = cell.work
    if work.outcome is None or work.outcome.failure is not None or work.due is not None:
        return None
    exit_, failure = _own_exit(turn, cell, work.outcome)
    return Ending(exit_) if failure is None else None


def _cut_off(turn: Deciding, cell: Cell) -> Ending:
    assert cell.leaving is not None  # noqa: S101  said when it began to stop
    how, failure = Ending.of(cell.leaving), _failure_of(cell.work)
    settled = failure is None or failure.kind not in DOUBTFUL or cell.question in turn.state.answers
    if settled or _repeat(turn, cell) == "safe":
        return how
    failure = Failure("in_doubt", "it was stopped, and nobody knows whether it had its effect")
    return msgspec.structs.replace(how, failure=failure)
