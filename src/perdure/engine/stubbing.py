"""A plan is carried out once more with what an earlier run has recorded. Nothing is executed and nothing is written.

A call is known by its digest: what it gave then, it gives now, and takes as long. People say what they said to the same
question and stop what they stopped, signals come when they came, and clocks jump. A pause is passed over: the clock of
the run stood still in it. A call that was never made has no answer: there it stops.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from msgspec import structs

from perdure.core import events as e
from perdure.core.accepting import Look, Message
from perdure.core.calls import Call, Failure
from perdure.core.cells import Cell
from perdure.core.deciding import Moment
from perdure.core.judging import judging_call
from perdure.core.outline import Outline
from perdure.core.refusing import Refused
from perdure.core.seeing import output_of
from perdure.core.state import Rules, State
from perdure.core.turn import Command, StopAttempt, pending, status_of, turn
from perdure.core.undoing import undo_call
from perdure.engine.recording import Deed, Recording, Spoken, is_alike, recorded, steps_in_order
from perdure.engine.starting import accepted, first_fact
from perdure.plan import Plan
from perdure.ports import Journal

RUN: Final = "r_stub"
MOST_TURNS: Final = 100_000
_Key = tuple[str, int, int, str]
Due = tuple[int, int, Message, "Deed | Spoken"]
"""When something comes, its place in the recording, what it says, and where that is from."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A call that was never made in the recorded run, or not so often."""

    step: str
    call: Call | None
    digest: str
    times: int
    """How often it was recorded; all of these were used."""
    nearest: Call | None
    nearest_step: str = ""


@dataclass(frozen=True, slots=True)
class Unlike:
    """The first thing that came out otherwise than it did in the recorded run."""

    where: str
    """The key of a step; empty: the run itself."""
    recorded: Any
    now: Any


@dataclass(frozen=True, slots=True)
class Stubbed:
    """What came of it."""

    status: str
    output: Any
    failure: Failure | None
    calls: int
    """How many recorded calls were used."""
    missing: Missing | None
    unanswered: tuple[str, ...]
    """Questions that nobody had answered."""
    difference: Unlike | None

    @property
    def is_same(self) -> bool:
        """Whether it came to the end that was recorded."""
        return self.missing is None and self.difference is None


def _plan_of(state: State, rules: Rules) -> Plan:
    """What a run is carried out by once more: its plan as it is now, or as it was if it has changed by itself alone."""
    began = state.started
    is_own_work = all(each.after for each in state.revised)
    if rules.planning and is_own_work and began is not None:
        return rules.outline(began.plan).plan
    return state.cells[""].scope.outline.plan


async def stubbed(
    journal: Journal, rules: Rules, run: str, plan: Plan | None = None, inputs: Mapping[str, Any] | None = None
) -> Stubbed:
    """Carry out the plan of a run, or another one, with what the run has recorded."""
    _, entries = await journal.load(run)
    recording = recorded(run, rules, entries)
    began = recording.state.started
    assert began is not None  # noqa: S101  its first fact says so
    outline = Outline(plan or _plan_of(recording.state, rules))
    known: dict[str, Any] = began.inputs.load(recording.state.read) or {}
    given = {name: value for name, value in known.items() if name in outline.plan.inputs} | dict(inputs or {})
    at = entries[0].at
    started, artifacts = first_fact(outline, accepted(outline.plan, given), at, seed=began.seed, session=began.session)

    def outlined(digest: str) -> Outline:
        return outline if digest == outline.digest else rules.outline(digest)

    found = replace(recording.state.rules, outline=outlined)
    stub = _Stub(State(RUN, found), recording, at)
    stub.state.kept.update((each.digest, each.data) for each in artifacts if each.data is not None)
    return stub.through(started)


class _Stub:
    def __init__(self, state: State, recording: Recording, at: int) -> None:
        self.state, self._recording, self._now, self._start = state, recording, at, at
        self._deeds: dict[_Key, tuple[e.AttemptStarted, Deed | None, int]] = {}
        """What each attempt will give, and when it began."""
        self._asked: dict[str, int] = {}
        self._calls = 0

    def through(self, started: e.RunStarted) -> Stubbed:
        self._send(started)
        for _ in range(MOST_TURNS):
            if not self._go_on():
                break
        return self._told()

    def _go_on(self) -> bool:
        """Let the next thing happen; whether there was one."""
        due = min(self._dues(), key=lambda each: each[:2], default=None)
        wake_at = self.state.wake_at
        if wake_at is not None and (due is None or wake_at <= due[0]) and not (due is None and self._is_stuck):
            self._now = max(self._now, wake_at)
            self._send(Look())
            return True
        return due is not None and self._happen(due)

    @property
    def _is_stuck(self) -> bool:
        """Whether something is at work of which nobody knows what it gives: then no clock is waited for."""
        return any(self._deeds[_key(each)][1] is None for each in pending(self.state))

    def _happen(self, due: Due) -> bool:
        at, _, message, source = due
        self._now = max(self._now, at)
        if isinstance(source, Spoken):
            source.is_used = True
        else:
            self._calls += 1
        try:
            self._send(message)
        except Refused:
            return isinstance(source, Spoken)  # it does not fit here, and others may
        return True

    def _send(self, message: Message) -> None:
        events = turn(self.state, message, Moment(self._now))
        for event in events:
            if isinstance(event, e.QuestionAsked):
                self._asked[event.question] = self._now
            elif isinstance(event, e.AttemptStarted):
                self._deeds[_key(event)] = (event, self._recording.take(event), self._now)

    # ------------------------------------------------------------ what comes next

    def _dues(self) -> Iterator[Due]:
        if self.state.ended is None:
            yield from self._reports()
            yield from self._answers()
            yield from self._signals()
        yield from self._orders()

    def _reports(self) -> Iterator[Due]:
        for command in pending(self.state):
            _, deed, since = self._deeds[_key(command)]
            if deed is not None:
                about = {"step": command.step, "visit": command.visit, "attempt": command.attempt}
                told = structs.replace(deed.told, **about)
                message = structs.replace(told, to="") if isinstance(told, e.AttemptEnded) else told
                soon = isinstance(command, StopAttempt)
                yield self._now if soon else since + deed.took, deed.place, message, deed

    def _answers(self) -> Iterator[Due]:
        for question in self.state.questions.values():
            spoken = self._answer_to(question)
            if spoken is not None and isinstance(spoken.event, e.QuestionAnswered):
                message = structs.replace(spoken.event, question=question.question)
                yield self._asked[question.question] + spoken.after, spoken.place, message, spoken

    def _answer_to(self, question: e.QuestionAsked) -> Spoken | None:
        alike = [
            each
            for each in self._recording.spoken
            if not each.is_used and each.question is not None and is_alike(each.question, question)
        ]
        named = (each for each in alike if each.question is not None and each.question.question == question.question)
        return next(named, next(iter(alike), None))

    def _signals(self) -> Iterator[Due]:
        for spoken in self._recording.spoken:
            event = spoken.event
            if isinstance(event, e.SignalReceived) and not spoken.is_used and self.state.waiting.get(event.name):
                yield self._start + spoken.after, spoken.place, event, spoken

    def _orders(self) -> Iterator[Due]:
        """What people had done with the run: it or a step of it was stopped, or it was opened again after its end."""
        for spoken in self._recording.spoken:
            if not spoken.is_used and self._is_order(spoken.event):
                yield self._start + spoken.after, spoken.place, self._as_order(spoken.event), spoken

    def _as_order(self, event: e.Event) -> Message:
        """The plan is the one that is tried from the start: nothing waits for a revision of it."""
        assert isinstance(event, (e.RunStopping, e.RunReopened, e.StepStopping))  # noqa: S101  nothing else is an order
        return structs.replace(event, revised=False) if isinstance(event, e.RunReopened) else event

    def _is_order(self, event: e.Event) -> bool:
        if isinstance(event, e.RunStopping):
            return self.state.ended is None or event.exit == "rolled_back"
        if isinstance(event, e.StepStopping):
            cell = self.state.find(event.step)
            return cell is not None and (cell.status, cell.visit) == ("active", event.visit)
        return isinstance(event, e.RunReopened) and self.state.ended is not None

    # ------------------------------------------------------------ the end

    def _told(self) -> Stubbed:
        state = self.state
        status, ended = status_of(state), state.ended
        asks = tuple(each.text for each in state.questions.values())
        failure = ended.failure if ended else None
        missing = self._missing()
        output = output_of(state, state.cells[""]) if status == "succeeded" else None
        difference = None if missing else self._difference(status, output)
        return Stubbed(status, output, failure, self._calls, missing, asks, difference)

    def _missing(self) -> Missing | None:
        for command in pending(self.state):
            start, deed, _ = self._deeds[_key(command)]
            if deed is None:
                call = self._call(command)
                near = self._recording.nearest(start.step, call)
                told = (near.call, near.start.step) if near else (None, "")
                return Missing(start.step, call, start.call, self._recording.times(start), *told)
        return None

    def _call(self, command: Command) -> Call | None:
        if command.deed == "undo":
            return undo_call(self.state.undoing[command.step, command.visit])
        cell = self.state.cells[command.step]
        return judging_call(self.state, cell) if command.deed == "judge" else cell.work.call

    def _difference(self, status: str, output: Any) -> Unlike | None:
        """What came out otherwise first: a step that was over, in their order, or else the run."""
        was = self._recording.state
        is_same = status == status_of(was) and (status != "succeeded" or output == output_of(was, was.cells[""]))
        if is_same:
            return None
        for key in steps_in_order(self._recording):
            before, now = _came_out(was, was.cells.get(key)), _came_out(self.state, self.state.cells.get(key))
            if before != now:
                return Unlike(key, before, now)
        return Unlike("", _came_out_run(was), _came_out_run(self.state))


def _key(about: Command | e.AttemptStarted) -> _Key:
    return about.step, about.visit, about.attempt, about.deed


def _came_out(state: State, cell: Cell | None) -> Any:
    if cell is None or cell.result is None:
        return None
    failure = cell.result.failure
    if failure is not None:
        return {"exit": cell.result.exit, "failure": f"{failure.kind}: {failure.message}"}
    return {"exit": cell.result.exit, "output": output_of(state, cell)}


def _came_out_run(state: State) -> Any:
    status, ended = status_of(state), state.ended
    if ended is not None and ended.failure is not None:
        return {"status": status, "failure": f"{ended.failure.kind}: {ended.failure.message}"}
    return {"status": status, "output": output_of(state, state.cells[""]) if status == "succeeded" else None}
