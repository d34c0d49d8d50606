"""The turn: one message in, the facts that follow from it out.

Laws, which the tests hold this room to:

- A turn depends on the state, the message and the moment, and on nothing else.
- Folding the facts of a run gives the state that the turns had made.
- A refused message changes nothing.
- `pending` is a view: the same live, after a crash and on another machine.
- A serial group has at most one live child; a group that is over has none; a step begins only when its needs are over.
- Every attempt is known before it begins, and has one end: a report, or that it was lost.
- A turn looks at the steps that something happened to, never at all of them.
"""

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from perdure.collector import Undisturbed
from perdure.core import events as e
from perdure.core.accepting import Look, Mended, Message, accept, reopened
from perdure.core.adjusting import adjust, look_at_revised
from perdure.core.affording import expire, hear, look_at_unjudged
from perdure.core.calls import Failure
from perdure.core.cells import Body, Cell, Effect
from perdure.core.deciding import Deciding, Moment
from perdure.core.ending import Ending
from perdure.core.evolve import evolve
from perdure.core.groups import settle_graph, settle_serial, settle_stopping, stop_group, undoes_losers
from perdure.core.growth import settle_agent
from perdure.core.lines import make_hungry
from perdure.core.outline import Kind
from perdure.core.reopening import fates
from perdure.core.state import Rules, State, Timer
from perdure.core.waiting import settle_ask, settle_mark, settle_rollback, settle_stopped_pause, settle_wait
from perdure.core.working import feed, settle_stopped_work, settle_work
from perdure.plan.index import Node

CANCELLED: Final = Failure("cancelled", "it was cancelled")
"""Why a step ends that somebody has cancelled; nobody else says so in these words."""


def turn(state: State, message: Message | Mended, moment: Moment) -> list[e.Event]:
    """Take a message, and decide all that follows from it. The state is changed in place."""
    if isinstance(message, Mended):
        return _mended(state, message, moment)
    accept(state, message, moment.at)
    revised = _revised(state, message) if type(message) is e.RunRevised else ()
    making = Deciding(state, moment)
    _hear(making, message)
    if revised:
        look_at_revised(making, revised)
    if (state.timers or state.moments) and not _is_held(state, message):
        _ring(making)
    _settle_all(making)
    return making.events


def _mended(state: State, message: Mended, moment: Moment) -> list[e.Event]:
    """A run that is over goes on with another plan: both are taken, or neither."""
    from perdure.core.revising import check_revision  # noqa: PLC0415  few runs are revised, and it loads the checks

    accept(state, message.reopened, moment.at)
    check_revision(state, message.revised, fates(state, reopened(state, message.reopened)))
    made = turn(state, replace(message.reopened, revised=True), replace(moment, slots=0, held=True))
    return made + turn(state, message.revised, moment)


def _is_held(state: State, message: Message) -> bool:
    """Whether what is due has to wait: first comes what was about to be decided, or the plan that it is decided by."""
    return type(message) is e.RunForked or state.awaits > state.revision


def _settle_all(making: Deciding) -> None:
    """Until nobody owes anything: to look at a step twice changes nothing."""
    before, state, agenda = -1, making.state, making.agenda
    while len(making.events) != before:
        if state.unjudged or state.books.unjudged:
            look_at_unjudged(making)
        while agenda:
            cell = next(iter(agenda))
            del agenda[cell]
            settle(making, cell)
            if making.over:
                adjust(making)
        before = len(making.events)
        feed(making)


def _revised(state: State, message: e.RunRevised) -> Sequence[Node]:
    """The steps that will be others; `Refused` if the plan cannot be revised so."""
    from perdure.core.revising import check_revision  # noqa: PLC0415  few runs are revised, and it loads the checks

    return check_revision(state, message)


# ------------------------------------------------------------------------------- hearing


def _hear(making: Deciding, message: Message) -> None:
    if isinstance(message, Look):
        _look_at_what_was_left(making)
        return
    state = making.state
    fill = _FILLING.get(message.type)
    making.record(message if fill is None else fill(state, message))
    making.now = state.clock(making.at)
    hearing = _HEARING.get(message.type)
    if hearing is not None:
        hearing(making, message)


def _cancelling(state: State, message: e.StepStopping) -> e.StepStopping:
    """Somebody wants a step to end: what was done in it is undone, if it is a group that undoes."""
    cell = state.cells[message.step]
    failure = message.failure or CANCELLED
    undo = (cell.key,) if isinstance(cell.body, Body) and undoes_losers(cell) else ()
    return e.StepStopping(step=cell.key, visit=cell.visit, failure=failure, undo=undo)


_FILLING: Final[dict[str, Callable[[State, Any], e.Event]]] = {
    "step_stopping": _cancelling,
    "run_revised": lambda state, message: replace(message, base=state.revision),
    "run_reopened": lambda state, message: replace(message, step=reopened(state, message)),
}
"""What a message leaves to us to say."""


def _look_within_root(making: Deciding, message: Message) -> None:  # noqa: ARG001  as for the root
    making.look_within(making.state.cells[""])


def _look_at_root(making: Deciding, message: Message) -> None:  # noqa: ARG001  the root is what it is about
    making.look_at(making.state.root)


def _look_at_everything(making: Deciding, message: Message) -> None:
    """The other run may have been about to decide something just here."""
    if making.state.awaits <= making.state.revision:
        _look_within_root(making, message)
        _look_at_undoers(making)


def _look_at_what_waited(making: Deciding, message: Message) -> None:
    """A revision that was awaited: whatever is to be decided is decided now."""
    if making.state.awaits == making.state.revision:
        _look_at_everything(making, message)


def _look_at_root_and_undoers(making: Deciding, message: Message) -> None:
    """What waited because the run was paused waits no more."""
    _look_at_root(making, message)
    _look_at_undoers(making)


def _look_at_step(making: Deciding, message: e.AttemptEnded | e.AttemptLost | e.StepStopping) -> None:
    if getattr(message, "deed", "do") == "undo":
        making.look_at(making.state.effects[message.step, message.visit].dropped)
        _look_at_undoers(making)
    else:
        making.look_at(making.state.cells[message.step])


def _look_at_asking(making: Deciding, message: e.QuestionAnswered) -> None:
    cell = making.state.asked[message.question]
    hear(making, cell, message)
    making.look_at(cell)
    _look_at_undoers(making)


def _look_at_waiting(making: Deciding, message: e.SignalReceived) -> None:
    making.look_at(next(iter(making.state.waiting.get(message.name, {}).values()), None))


def _look_at_undoers(making: Deciding, message: Message | None = None) -> None:  # noqa: ARG001  whatever it was
    for cell in making.state.undoers.values():
        making.look_at(cell)


def _look_at_what_was_left(making: Deciding) -> None:
    """One who may begin nothing, or does not know a tool, may have left it to us."""
    _look_at_undoers(making)
    for cell in making.state.unsettled.values():
        making.look_at(cell)


_HEARING: Final[dict[str, Callable[[Deciding, Any], None]]] = {
    "run_started": _look_at_root,
    "run_stopping": _look_at_root_and_undoers,
    "run_resumed": _look_at_undoers,
    "run_reopened": _look_at_everything,
    "run_forked": _look_at_everything,
    "run_revised": _look_at_what_waited,
    "attempt_ended": _look_at_step,
    "attempt_lost": _look_at_step,
    "step_stopping": _look_at_step,
    "question_answered": _look_at_asking,
    "signal_received": _look_at_waiting,
}


def _ring(making: Deciding) -> None:
    """Do what is due."""
    state = making.state
    if state.paused_at is not None or state.ended is not None:
        return
    for timers, now in ((state.timers, making.now), (state.moments, making.at)):
        while timers and timers[0][0] <= now:
            timer = heappop(timers)
            if state.is_due(timer):
                _due(making, timer)


def _due(making: Deciding, timer: Timer) -> None:
    _, _, key, visit, what = timer
    state = making.state
    match what:
        case "run":
            failure = Failure("timeout", "the run took longer than it may")
            making.record(e.RunStopping(exit="failure", failure=failure))
            making.look_at(state.root)
        case "undo":
            _due_undo(making, state.undoing[key, visit])
        case "retry":
            make_hungry(state, state.cells[key])
        case "question":
            expire(making, state.questions[key])
            _look_at_undoers(making)
        case "attempt":
            _, _, attempt, deed = _under_way(state.cells[key])
            making.record(e.AttemptStopping(step=key, visit=visit, attempt=attempt, deed=deed))
        case _:
            making.look_at(state.cells[key])


def _due_undo(making: Deciding, effect: Effect) -> None:
    if effect.flying:
        about: dict[str, Any] = {"step": effect.cell.key, "visit": effect.visit, "attempt": effect.attempts}
        making.record(e.AttemptStopping(**about, deed="undo"))
    else:
        _look_at_undoers(making)


# ------------------------------------------------------------------------------- settling


GROUPS: Final = frozenset({"serial", "graph", "map", "agent"})
_SETTLING: Final[dict[Kind, Callable[[Deciding, Cell], None]]] = {
    "work": settle_work,
    "ask": settle_ask,
    "wait": settle_wait,
    "mark": settle_mark,
    "rollback": settle_rollback,
    "serial": settle_serial,
    "graph": settle_graph,
    "map": settle_graph,
    "agent": settle_agent,
}


def settle(making: Deciding, cell: Cell) -> None:
    """Decide what a step owes right now: nothing while it waits for others or for the world."""
    if cell.status == "stopping":
        _settle_stopping(making, cell)
    elif cell.status != "active":
        return
    elif cell.due is not None and cell.kind in GROUPS and making.is_late(cell):
        stop_group(making, cell, Ending.failed("timeout", "it took longer than it may"))
    elif cell.open:
        _SETTLING[cell.kind](making, cell)


def _settle_stopping(making: Deciding, cell: Cell) -> None:
    if cell.kind == "work":
        settle_stopped_work(making, cell)
    elif cell.kind in GROUPS:
        settle_stopping(making, cell)
    else:
        settle_stopped_pause(making, cell)


# ------------------------------------------------------------------------------- loading and looking


def replay(run: str, rules: Rules, facts: Iterable[tuple[e.Event, int]]) -> State:
    """The state that a run's facts tell."""
    state = State(run, rules)
    with Undisturbed():
        for event, at in facts:
            evolve(state, event, at)
    return state


class StartAttempt(msgspec.Struct, frozen=True):
    """Begin what was intended."""

    step: str
    visit: int
    attempt: int
    deed: e.Deed = "do"


class StopAttempt(msgspec.Struct, frozen=True):
    """End what was begun."""

    step: str
    visit: int
    attempt: int
    deed: e.Deed = "do"


Command = StartAttempt | StopAttempt


def pending(state: State) -> list[Command]:
    """All that is to be at work, or to be stopped, in the world."""
    if state.ended is not None:
        return []
    undoing = [_undo_command(each) for each in state.undoing.values() if each.flying]
    return [_command(cell) for cell in state.flying.values()] + undoing


def _command(cell: Cell) -> Command:
    kind = StopAttempt if cell.work.is_late or cell.status == "stopping" else StartAttempt
    return kind(*_under_way(cell))


def _under_way(cell: Cell) -> tuple[str, int, int, e.Deed]:
    """What a step has at work: a try, or a look at one."""
    look = cell.work.looking
    if look is not None:
        return cell.key, cell.visit, look.number, look.deed
    return cell.key, cell.visit, cell.work.attempt, "do"


def _undo_command(effect: Effect) -> Command:
    kind = StopAttempt if effect.stopping else StartAttempt
    return kind(effect.cell.key, effect.visit, effect.attempts, "undo")


def caused(state: State, events: Sequence[e.Event]) -> list[Command]:
    """The commands that some facts have changed: as `pending`, but by what happened and not by all there is."""
    commands: dict[str, Command] = {}
    for event in events:
        if isinstance(event, _MOVING) and event.step in state.flying:
            commands[event.step] = _command(state.flying[event.step])
    return [*commands.values(), *_caused_undoing(state, events)] if state.undoing else [*commands.values()]


def _caused_undoing(state: State, events: Iterable[e.Event]) -> list[Command]:
    moved = {(each.step, each.visit): None for each in events if isinstance(each, _MOVING)}
    effects = [state.undoing[each] for each in moved if each in state.undoing]
    return [_undo_command(each) for each in effects if each.flying]


_MOVING: Final = (e.AttemptStarted, e.AttemptStopping, e.StepStopping)


def status_of(state: State) -> str:
    """The run in a word."""
    if state.ended is not None:
        return state.ended.status
    asks_first = bool(state.undoing) and _asks_first(state)
    if state.stopping is not None or (state.root is not None and state.root.status == "stopping"):
        return "waiting" if asks_first else "stopping"
    if state.paused_at is not None:
        return "paused"
    at_work = state.flying or state.unsettled or (state.undoers and not asks_first) or _could_begin(state)
    return "running" if at_work else "waiting"


def _asks_first(state: State) -> bool:
    """Whether nothing is at work, and nothing is taken back before somebody has agreed to it."""
    return not state.flying and all(each.question in state.questions for each in state.undoing.values())


def _could_begin(state: State) -> bool:
    """Whether somebody waits for room or for a lock, and not for more of a budget that people are asked about."""
    asking = {each.step for each in state.questions.values() if each.about == "budget"} if state.books.ledgers else None
    waiting = (*state.eager, *state.unjudged)
    if not asking:
        return bool(waiting)
    return any(asking.isdisjoint(each.key for each in state.cells[key].ledgers) for key in waiting)
