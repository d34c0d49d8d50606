"""Deciding again: every turn of a run is decided by the rules of today, and held against what was recorded.

A journal has the facts of a run and not the messages that they came from, nor how much room there was. But the first
fact of a turn is the message itself, unless it was only a look at the clock; and which attempts began tells how many
could. So each turn is decided with all the room there is first, then with as much as was used; only where no room in
the world leads to what was recorded, the rules have changed.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar, Final, NamedTuple, TypeGuard, cast

from msgspec import structs

from perdure.core import events as e
from perdure.core.accepting import Look, Message
from perdure.core.calls import Call, Repeat
from perdure.core.cells import Cell
from perdure.core.deciding import Moment
from perdure.core.evolve import evolve
from perdure.core.names import Names
from perdure.core.refusing import Refused
from perdure.core.renaming import by_words
from perdure.core.state import Rules, State
from perdure.core.turn import replay, turn
from perdure.errors import PerdureError
from perdure.ports import Journal

Fact = tuple[e.Event, int]
"""What happened, and when."""
PLENTY: Final = 1_000_000
MOST_LOCKS: Final = 20
"""So often it is assumed that one more lock was held by another run."""
MESSAGES: Final = frozenset(
    [
        "run_started",
        "run_paused",
        "run_resumed",
        "run_reopened",
        "run_forked",
        "run_revised",
        "names_mapped",
        "attempt_ended",
        "attempt_lost",
        "attempt_progressed",
        "question_answered",
        "signal_received",
    ]
)
"""Facts that are nothing but messages: a turn begins with each of them."""
_TAKING: Final = (e.AttemptStarted, e.LocksTaken)


def _takers(event: e.Event, state: State) -> Iterator[str]:
    """Who begins here, or would if there were a budget for it: who has no lock is not asked what it costs.

    Whom a budget does not suffice for stands in no question about it: one of those within.
    """
    if isinstance(event, _TAKING):
        yield event.step
    elif isinstance(event, (e.StepStopping, e.StepEnded)) and event.failure is not None:
        yield from [event.cause] if event.failure.kind == "budget" else []
    elif isinstance(event, e.QuestionAsked) and event.about == "budget":
        yield from (key for key, cell in state.cells.items() if cell.is_live and _is_within(cell, event.step))


def _is_within(cell: Cell, key: str) -> bool:
    while cell.key != key and cell.parent is not None:
        cell = cell.parent
    return cell.key == key


@dataclass(frozen=True, slots=True)
class Difference:
    """The first turn that would be another one today."""

    seq: int
    """Its first fact."""
    turn: int
    """Which turn of the run it is."""
    message: str
    """What it answers: the type of a fact, or `look`."""
    recorded: tuple[e.Event, ...]
    decided: tuple[e.Event, ...]
    error: str = ""
    """Why nothing could be decided at all."""

    @property
    def same(self) -> int:
        """How many facts are the same before the first that is not."""
        pairs = enumerate(zip(self.recorded, self.decided, strict=False))
        shorter = min(len(self.recorded), len(self.decided))
        return next((place for place, (was, now) in pairs if was != now), shorter)


@dataclass(frozen=True, slots=True)
class Redecided:
    """What came of deciding a run again."""

    turns: int
    facts: int
    difference: Difference | None = None


class NotKnown(PerdureError):
    """What a run was decided by is not known here."""

    code: ClassVar[str] = "PRD3302"
    exit_code: int = 2


async def redecided(journal: Journal, run: str, rules: Rules, tools: Collection[str]) -> Redecided:
    """The same for a run in a journal. `NotKnown` if its tools are not: what they declare is part of the rules."""
    _, entries = await journal.load(run)
    facts = [(e.decode(each.type, each.body), each.at) for each in entries]
    names = _names_in(facts)
    rules = by_words(rules, names)  # who was renamed is asked also about what was decided before
    missing = sorted({*_unknown_tools(rules, facts, tools, names), *_unknown_strategies(rules, facts)})
    if missing:
        told = f"{run} was decided by what is not known here: {', '.join(missing)}"
        raise NotKnown(told, "name the module that has it with --tools")
    return redecide(run, replace(rules, planning=True), facts)


def _is_adjustment(event: e.Event) -> TypeGuard[e.RunRevised | e.RevisionRefused]:
    return isinstance(event, (e.RunRevised, e.RevisionRefused)) and event.after != ""


def _names_in(facts: Sequence[Fact]) -> Names:
    said = (event for event, _ in facts if isinstance(event, e.NamesMapped))
    return reduce(Names.after, said, Names())


def _unknown_tools(rules: Rules, facts: Sequence[Fact], tools: Collection[str], names: Names) -> Iterator[str]:
    plans = {plan for event, _ in facts if (plan := getattr(event, "plan", ""))}
    yield from {event.tool for event, _ in facts if isinstance(event, e.RungTaken) and event.tool} - {*tools}
    for outline in map(rules.outline, plans):
        named = (outline.traits(node).tool for node in outline.index.nodes)
        yield from (tool for tool in map(names.tool, named) if tool and tool not in tools)


def _unknown_strategies(rules: Rules, facts: Sequence[Fact]) -> Iterator[str]:
    """And whoever else was asked what to do next."""
    used = {event.strategy for event, _ in facts if isinstance(event, (e.StepEntered, e.RungTaken))}
    yield from (f"the strategy {each}" for each in used if each and each not in rules.strategies)
    if rules.adjust is None and any(_is_adjustment(event) and event.by == e.ADJUSTER for event, _ in facts):
        yield "the adjuster"


def redecide(run: str, rules: Rules, facts: Sequence[Fact]) -> Redecided:
    """Decide every turn of a run again, up to the first that differs. Nothing is executed, nothing is written.

    Whether plans could change by rule at that time is not written down; where it seems that they could not, so be it.
    """
    found = _Redeciding(run, rules, facts).through()
    if found.difference is None or not rules.planning or any(_is_adjustment(event) for event, _ in facts):
        return found
    other = _Redeciding(run, replace(rules, planning=False), facts).through()
    return other if other.difference is None else found


def _is_message(event: e.Event) -> bool:
    return event.type in MESSAGES and not _is_adjustment(event)


def _is_order(event: e.Event) -> TypeGuard[e.RunStopping | e.StepStopping]:
    """Whether somebody may have said so: to stop a run, or a step."""
    if isinstance(event, e.StepStopping):
        return event.failure is not None and event.failure.kind == "cancelled"
    return isinstance(event, e.RunStopping) and event.exit != "failure"


@dataclass(frozen=True, slots=True)
class _Room:
    """One way in which there may have been room."""

    slots: int | None = None
    """None: as many as were used."""
    by_tool: bool = False
    """Whether no more began with a tool than did."""
    held: bool = False
    at_once: bool = False
    """Whether only those count who began as soon as they were entered: others may have begun a moment later."""
    knowing: bool = True
    """Whether the tools were known: who only delivers a message may know none."""


_ROOMS: Final = (
    _Room(PLENTY),
    _Room(),
    _Room(PLENTY, by_tool=True),
    _Room(by_tool=True),
    _Room(1),
    _Room(0, held=True),
    _Room(at_once=True),
    _Room(at_once=True, by_tool=True),
    _Room(0, held=True, knowing=False),
)


def _nothing(call: Call) -> bool:  # noqa: ARG001  whatever it is
    return False


def _never(call: Call) -> Repeat:
    return "never" if call.kind == "tool" else "safe"


def _no_way(name: str) -> None:
    """Nothing is known of it that takes it back."""


class _Fitting(NamedTuple):
    """A turn that led to what was recorded."""

    room: _Room
    state: State
    made: list[e.Event]


def _has_locks(state: State) -> bool:
    return any(cell.traits.locks for cell in state.cells.values())


class _Redeciding:
    def __init__(self, run: str, rules: Rules, facts: Sequence[Fact]) -> None:
        self._run, self._rules, self._facts = run, rules, facts
        self._place = self._turns = 0
        self._state: State | None = State(run, rules)
        self._rooms = list(_ROOMS)
        """Those that led to what was recorded lately come first."""

    def through(self) -> Redecided:
        while self._place < len(self._facts):
            difference = self._next()
            if difference is not None:
                return Redecided(self._turns, self._place, difference)
            self._turns += 1
        return Redecided(self._turns, self._place)

    def _next(self) -> Difference | None:
        """Go past one turn; or say how it differs."""
        first: Difference | None = None
        for message in self._messages():
            found = self._by_message(message)
            if found is None:
                return None
            first = first or found
        return first

    # ------------------------------------------------------------ messages

    def _messages(self) -> Iterator[Message]:
        """What a turn that begins here may have answered."""
        event = self._facts[self._place][0]
        if _is_message(event):
            yield cast("Message", structs.replace(event, to="") if isinstance(event, e.AttemptEnded) else event)
            return
        if _is_order(event):
            yield event if isinstance(event, e.RunStopping) else e.StepStopping(step=event.step, failure=event.failure)
        yield Look()

    @property
    def _end(self) -> int:
        """Where the next turn begins at the latest."""
        at = self._facts[self._place][1]
        for place in range(self._place + 1, len(self._facts)):
            event, when = self._facts[place]
            if when != at or _is_message(event):
                return place
        return len(self._facts)

    # ------------------------------------------------------------ rooms

    def _by_message(self, message: Message) -> Difference | None:
        """Go past a turn that answers this message; or say how it differs.

        What leads only to a part of what was recorded at that time may be the whole turn, with another after it. But if
        with a lock more all of it follows, that was held: the rest might not follow by itself.
        """
        locked: frozenset[str] = frozenset()
        first: Difference | None = None
        best: _Fitting | None = None
        for _ in range(MOST_LOCKS):
            found, fitting = self._by_rooms(message, locked)
            best = max(filter(None, (best, fitting)), key=lambda each: len(each.made), default=None)
            if not found or (best is not None and (self._is_all(best) or not _has_locks(best.state))):
                break
            first = first or found[0]
            more = self._locks_of(max(found, key=lambda each: each.same), locked)
            if not more:
                break
            locked |= more
        if best is None:
            return first
        self._pass(best)
        return None

    def _by_rooms(self, message: Message, locked: frozenset[str]) -> tuple[list[Difference], _Fitting | None]:
        """Decide in one room after another: how it differs, and what leads furthest to what was recorded."""
        differences: list[Difference] = []
        longest: _Fitting | None = None
        for room in tuple(self._rooms):
            found = self._decided(message, self._moment(room, locked), room)
            if isinstance(found, Difference):
                differences.insert(0 if room == _ROOMS[0] else len(differences), found)
            elif longest is None or len(found.made) > len(longest.made):
                longest = found
                if self._is_all(longest):
                    break
        return differences, longest

    def _is_all(self, fitting: _Fitting) -> bool:
        """Whether it leads to all that was recorded at that time."""
        return self._place + len(fitting.made) >= self._end

    def _moment(self, room: _Room, locked: frozenset[str]) -> Moment:
        at, end = self._facts[self._place][1], self._end
        seen = [event for event, _ in self._facts[self._place : end]]
        begun = [event for event in seen if isinstance(event, e.AttemptStarted) and event.deed == "do"]
        if room.at_once:
            entered = {(event.step, event.visit) for event in seen if isinstance(event, e.StepEntered)}
            begun = [event for event in begun if (event.step, event.visit) not in entered]
        slots = len(begun) if room.slots is None else room.slots
        tools = self._tools_used(begun, end) if room.by_tool else {}
        return Moment(at, slots, tools, locked, room.held)

    def _tools_used(self, begun: list[e.AttemptStarted], end: int) -> dict[str, int]:
        state = self._folded(end)
        name, cells = state.names.tool, state.cells
        used = Counter(name(cells[each.step].traits.tool) for each in begun)
        return {tool: used[tool] for cell in cells.values() if (tool := name(cell.traits.tool))}

    def _locks_of(self, difference: Difference, locked: frozenset[str]) -> frozenset[str]:
        """Locks of the first who would begin now and did not: another run may have held them.

        Those that nobody took at that time are more likely.
        """
        state, then = self._folded(self._place), self._folded(self._end)
        for event in difference.decided:  # it may have been entered in this very turn
            evolve(state, event, self._facts[self._place][1])
        took = (event for event in difference.recorded if isinstance(event, _TAKING))
        taken = {lock for each in took for lock in then.cells[each.step].traits.locks}
        for event in difference.decided[difference.same :]:
            if takers := [each for each in _takers(event, state) if each]:
                wanted = frozenset(lock for each in takers for lock in state.cells[each].traits.locks) - locked
                return wanted - taken or wanted
        return frozenset()

    # ------------------------------------------------------------ one turn

    def _decided(self, message: Message, moment: Moment, room: _Room) -> Difference | _Fitting:
        state = self._state if self._state is not None else self._folded(self._place)
        self._state, error = None, ""
        if not room.knowing:
            state.rules = replace(state.rules, knows=_nothing, repeat=_never, undo=_no_way)
        made: list[e.Event] = []
        try:
            made = turn(state, message, moment)
        except _FAILING as failure:
            error = f"{type(failure).__name__}: {failure}"
        end = self._end
        recorded = [event for event, _ in self._facts[self._place : end]]
        rest = recorded[len(made) :]  # who knows no tool decides nothing a moment later, but is told to stop
        is_whole = room.knowing or len(made) == len(recorded) or (bool(rest) and _is_order(rest[0]))
        if not error and is_whole and self._fits(made, recorded, end):
            if not room.knowing:
                mine = self._rules
                state.rules = replace(state.rules, knows=mine.knows, repeat=mine.repeat, undo=mine.undo)
            return _Fitting(room, state, made)
        word = "look" if isinstance(message, Look) else message.type
        told = tuple(recorded), tuple(made)
        return Difference(self._place + 1, self._turns + 1, word, *told, error)

    def _fits(self, made: list[e.Event], recorded: list[e.Event], end: int) -> bool:
        """Whether it is what was recorded: all of it, or, where a fork has cut a turn off, all that was left."""
        is_short = len(made) <= len(recorded) or self._is_cut(end)
        return bool(made) and is_short and made[: len(recorded)] == recorded[: len(made)]

    def _is_cut(self, end: int) -> bool:
        return end < len(self._facts) and isinstance(self._facts[end][0], e.RunForked)

    def _pass(self, found: _Fitting) -> None:
        """Go on behind a turn, with the state that it left, and in such a room first."""
        self._rooms.remove(found.room)
        self._rooms.insert(0, found.room)
        found.state.kept.clear()
        end, place = self._end, self._place + len(found.made)
        self._place, self._state = (place, found.state) if place <= end else (end, None)

    def _folded(self, place: int) -> State:
        return replay(self._run, self._rules, self._facts[:place])


_FAILING: Final = (Refused, ValueError, KeyError, AttributeError, AssertionError, IndexError, TypeError)
"""What deciding ends with when the rules do not fit the facts at all."""
