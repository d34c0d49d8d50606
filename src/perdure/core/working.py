"""Acting steps: when an attempt may begin, and what follows from how it went."""

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Any

import msgspec

from perdure.core import events as e
from perdure.core.affording import afford, attempt_at, deadline, readmit
from perdure.core.approving import settle_approval
from perdure.core.calls import DOUBTFUL, NOTHING, Call, Failure, is_yes
from perdure.core.cells import Cell, Work
from perdure.core.deciding import Deciding
from perdure.core.doubting import in_doubt, is_doubtful
from perdure.core.ending import Ending, close_questions, end
from perdure.core.lines import is_hungry, make_hungry
from perdure.core.quarantine import ALONE, is_suspect, suspect_at_work
from perdure.core.recovering import judge, recover
from perdure.core.seeing import asked
from perdure.core.state import Entry
from perdure.core.trying import own_exit, repeat_of
from perdure.core.undoing import region_of, undo_next, with_what_stays
from perdure.plan.expr import ExpressionError

# ------------------------------------------------------------------------------- beginning


def feed(turn: Deciding) -> None:
    """Let those begin that could, as far as there is room: the most important first, then the oldest."""
    state = turn.state
    if state.paused_at is not None or not (state.hungry or state.parked or state.books.broke):
        return
    if state.parked:
        _unpark(turn)
    while turn.slots > 0 and (state.hungry or state.books.broke):
        if state.books.broke:
            readmit(turn)
        cell = _next(turn)
        if cell is None:
            return
        state.books.called.pop(cell.key, None)
        _begin(turn, cell)


def _next(turn: Deciding) -> Cell | None:
    hungry = turn.state.hungry
    best = _first(turn, hungry)
    return None if best is None else turn.state.cells[_pop(hungry, best)[2]]


def _first(turn: Deciding, lines: dict[str, list[Entry]]) -> str | None:
    """Whose line has the most important one at its head, then the oldest, of those tools that have room."""
    best: str | None = None
    for tool, heap in tuple(lines.items()):
        _drop_stale(turn, heap)
        if not heap:
            del lines[tool]
        elif (best is None or heap[0] < lines[best][0]) and _has_room(turn, tool):
            best = tool
    return best


def _has_room(turn: Deciding, tool: str) -> bool:
    return not turn.tools or turn.tools.get(turn.state.names.tool(tool), 1) > 0


def _pop(lines: dict[str, list[Entry]], tool: str) -> Entry:
    found = heappop(lines[tool])
    if not lines[tool]:
        del lines[tool]
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
        recover(turn, cell, Failure("invalid", error.message))
        return
    reserved, due = None, _deadline(turn, cell, work.call)
    if cell.ledgers:
        reserved, due = afford(turn, cell, attempt_at(cell, work.call)), deadline(turn, cell, due)
        if reserved is None:
            _unpark(turn)  # another one may have the lock that this one does not take
            return
    about: dict[str, Any] = {"step": cell.key, "visit": cell.visit, "attempt": work.attempt + 1, "call": digest}
    promised = None if reserved == NOTHING else reserved
    approved = _approved(turn, cell) if turn.state.answers else work.approved
    turn.record_start(cell, e.AttemptStarted(**about, due=due, reserved=promised, approved=approved))
    turn.slots -= 1
    if turn.tools and (tool := turn.state.names.tool(cell.traits.tool)) in turn.tools:
        turn.tools[tool] -= 1
        if turn.tools[tool] == 0:
            _unpark(turn)  # whoever was let in for a lock may have no room any more, and another one has


def _approved(turn: Deciding, cell: Cell) -> tuple[str, ...]:
    """What people have agreed to at this visit. One who said no may have it tried again, and is asked again."""
    work, answer = cell.work, turn.state.answers.get(cell.question)
    asked = work.outcome.approval if work.outcome else None
    is_agreed = asked is not None and answer is not None and is_yes(answer.load(turn.read))
    return (*work.approved, asked.digest) if asked is not None and is_agreed else work.approved


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
    heappush(turn.state.parked.setdefault(lock, {}).setdefault(cell.traits.tool, []), entry)


def _without_anybody_in_line(turn: Deciding, tools: Iterable[str]) -> list[str]:
    return [each for each in tools if turn.state.names.tool(each) not in turn.state.hungry]


def _unpark(turn: Deciding) -> None:
    """For each lock that is free again, let one in whose tool has room: the most important, then the oldest."""
    for name, lines in tuple(turn.state.parked.items()):
        first = _first(turn, lines)
        if _is_free(turn, name):
            # Where no tool has room, one of each stands in line for it: nobody would tell a run that waits for nothing.
            for tool in _without_anybody_in_line(turn, lines) if first is None else [first]:
                make_hungry(turn.state, turn.state.cells[_pop(lines, tool)[2]])
        if not lines:
            del turn.state.parked[name]


def _is_free(turn: Deciding, name: str) -> bool:
    if name == ALONE:
        return not suspect_at_work(turn.state)
    return name not in turn.state.locks and name not in turn.locked


# ------------------------------------------------------------------------------- after an attempt


def settle_work(turn: Deciding, cell: Cell) -> None:
    """What follows from how the last attempt went."""
    work = cell.work
    if work.flying or work.due is not None:
        return
    if work.outcome is None and not work.lost:
        _settle_unbegun(turn, cell)
        return
    failure, outcome = _failure_of(work), work.outcome
    if failure is not None and not cell.is_asking and is_doubtful(turn, cell, failure):
        in_doubt(turn, cell, failure)
    elif failure is not None:
        recover(turn, cell, failure)
    else:
        assert outcome is not None  # noqa: S101  else it was lost, which is a failure
        if outcome.approval is not None:
            settle_approval(turn, cell, outcome.approval)
        else:
            judge(turn, cell, outcome)


def _settle_unbegun(turn: Deciding, cell: Cell) -> None:
    """Nothing was tried; but somebody may have been asked about that, because nobody could tell what to try."""
    if cell.is_asking:
        recover(turn, cell, Failure("invalid", "what it is to be given cannot be told"))


def _failure_of(work: Work) -> Failure | None:
    """What went wrong. One that was stopped because it took too long took too long, whatever it says itself."""
    failure = work.outcome.failure if work.outcome else None
    if work.stopping and (work.lost or (failure is not None and failure.kind == "cancelled")):
        return Failure("timeout", "it took longer than it may")
    return Failure("in_doubt", "its process is gone, and nobody saw its end") if work.lost else failure


# ------------------------------------------------------------------------------- stopping


def settle_stopped_work(turn: Deciding, cell: Cell) -> None:
    """A step that is to stop is over when its attempt is; what it had finished by then, it finished."""
    work = cell.work
    if work.flying:
        return
    close_questions(turn, cell)
    if cell.undo and not undo_next(turn, region_of(turn.state, cell)):
        return
    how = _finished(turn, cell) or _cut_off(turn, cell)
    end(turn, cell, msgspec.structs.replace(how, failure=with_what_stays(turn.state, cell, how.failure)))


def _finished(turn: Deciding, cell: Cell) -> Ending | None:
    work = cell.work
    if work.outcome is None or work.outcome.failure is not None or work.due is not None:
        return None
    exit_, failure = own_exit(turn, cell, work.outcome)
    return Ending(exit_) if failure is None else None


def _cut_off(turn: Deciding, cell: Cell) -> Ending:
    assert cell.leaving is not None  # noqa: S101  said when it began to stop
    how, failure = Ending.of(cell.leaving), _failure_of(cell.work)
    settled = failure is None or failure.kind not in DOUBTFUL or cell.question in turn.state.answers
    if settled or repeat_of(turn, cell) == "safe":
        return how
    failure = Failure("in_doubt", "it was stopped, and nobody knows whether it had its effect")
    return msgspec.structs.replace(how, failure=failure)
