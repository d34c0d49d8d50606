"""What a run has recorded of the world: what calls gave and how long that took, what people said, what signals came."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Final

from perdure.core import events as e
from perdure.core.calls import Call
from perdure.core.evolve import evolve
from perdure.core.judging import judging_call
from perdure.core.seeing import asked
from perdure.core.state import Rules, State
from perdure.core.turn import CANCELLED
from perdure.core.undoing import undo_call
from perdure.plan.expr import ExpressionError
from perdure.ports import Entry

MOST_TOLD: Final = 2_000
"""Letters of a call that are held against those of another one."""
Told = e.AttemptEnded | e.AttemptLost


@dataclass(slots=True)
class Deed:
    """One attempt, and what came of it."""

    place: int
    """The number of the fact that says so."""
    start: e.AttemptStarted
    call: Call | None
    """What was asked; None if that cannot be told any more."""
    told: Told
    took: int
    """Milliseconds, on the clock of the run."""
    is_used: bool = False


@dataclass(slots=True)
class Spoken:
    """Something that came from outside: an answer, a signal, or that the run or a step is to stop, or to go on."""

    place: int
    event: e.QuestionAnswered | e.SignalReceived | e.RunStopping | e.RunReopened | e.StepStopping
    after: int
    """Milliseconds after the question, or after the start of the run."""
    question: e.QuestionAsked | None = None
    is_used: bool = False


@dataclass(slots=True)
class Recording:
    """All that came from outside, in its order."""

    state: State
    """How the run stands."""
    deeds: list[Deed] = field(default_factory=list[Deed])
    spoken: list[Spoken] = field(default_factory=list[Spoken])
    ends: list[str] = field(default_factory=list[str])
    """The keys of the steps in the order in which they were over."""

    def take(self, start: e.AttemptStarted) -> Deed | None:
        """What came of the same call: at the same try, or else at the same step, or else anywhere; each once."""
        same = [each for each in self.deeds if not each.is_used and is_same(each.start, start)]
        found = min(same, key=lambda each: _distance(each.start, start), default=None)
        if found is not None:
            found.is_used = True
        return found

    def times(self, start: e.AttemptStarted) -> int:
        """How often a call was made."""
        return sum(is_same(each.start, start) for each in self.deeds)

    def nearest(self, step: str, call: Call | None) -> Deed | None:
        """The recorded call that is most like one that was not recorded."""
        known = [each for each in self.deeds if each.call is not None and each.start.deed == "do"]
        wanted = _text(call)
        return max(known, key=lambda each: _likeness(each, step, call, wanted), default=None)


def is_same(one: e.AttemptStarted, other: e.AttemptStarted) -> bool:
    """Whether both ask for the same."""
    return one.call == other.call and one.deed == other.deed


def _distance(one: e.AttemptStarted, other: e.AttemptStarted) -> tuple[bool, bool]:
    is_try = (one.step, one.visit, one.attempt) == (other.step, other.visit, other.attempt)
    return not is_try, one.step != other.step


def _text(call: Call | None) -> str:
    return "" if call is None else json.dumps(call.data, sort_keys=True, default=str)[:MOST_TOLD]


def _likeness(deed: Deed, step: str, call: Call | None, wanted: str) -> tuple[bool, bool, float]:
    of_same = call is not None and deed.call is not None and (deed.call.kind, deed.call.name) == (call.kind, call.name)
    return of_same, deed.start.step == step, SequenceMatcher(None, _text(deed.call), wanted).ratio()


def recorded(run: str, rules: Rules, entries: list[Entry]) -> Recording:
    """Everything that a run has recorded."""
    reading = _Reading(State(run, rules))
    for entry in entries:
        reading.take(entry)
    return reading.found


class _Reading:
    def __init__(self, state: State) -> None:
        self.found = Recording(state)
        self._began: dict[tuple[str, int, str], tuple[e.AttemptStarted, Call | None, int]] = {}
        self._asked: dict[str, tuple[e.QuestionAsked, int]] = {}
        self._start = 0

    def take(self, entry: Entry) -> None:
        event, state = e.decode(entry.type, entry.body), self.found.state
        evolve(state, event, entry.at)
        now = state.clock(state.at)
        match event:
            case e.RunStarted():
                self._start = now
            case e.AttemptStarted():
                self._began[event.step, event.visit, event.deed] = (event, self._call(event), now)
            case e.AttemptEnded() | e.AttemptLost():
                start, call, since = self._began[event.step, event.visit, event.deed]
                self.found.deeds.append(Deed(entry.seq, start, call, event, now - since))
            case e.QuestionAsked():
                self._asked[event.question] = (event, now)
            case e.QuestionAnswered():
                question, since = self._asked[event.question]
                self.found.spoken.append(Spoken(entry.seq, event, now - since, question))
            case e.SignalReceived() | e.RunStopping() | e.RunReopened() | e.StepStopping():
                if not _is_decided(event):
                    self.found.spoken.append(Spoken(entry.seq, event, now - self._start))
            case _:
                pass
        if e.ends_step(event):
            self.found.ends.append(event.step)

    def _call(self, event: e.AttemptStarted) -> Call | None:
        state = self.found.state
        if event.deed == "undo":
            return undo_call(state.undoing[event.step, event.visit])
        try:
            if event.deed == "judge":
                return judging_call(state, state.cells[event.step])
            return asked(state, state.cells[event.step])[0]
        except ExpressionError:
            return None


def _is_decided(event: e.Event) -> bool:
    """Whether it follows from something else, and nobody has said so."""
    if isinstance(event, e.StepStopping):
        return event.failure != CANCELLED
    return isinstance(event, e.RunStopping) and event.exit == "failure"


def steps_in_order(recording: Recording) -> Iterator[str]:
    """Steps as they were over for the last time, the first one first."""
    last: dict[str, None] = {}
    for key in recording.ends:
        last.pop(key, None)
        last[key] = None
    yield from last


def is_alike(one: e.QuestionAsked, other: e.QuestionAsked) -> bool:
    """Whether both ask the same: in the words of the plan, wherever they stand; in ours, at the same step."""
    return _asks(one) == _asks(other)


def _asks(question: e.QuestionAsked) -> tuple[Any, ...]:
    where = (question.about, question.of, question.deed)
    if question.about in {"doubt", "budget"}:
        return (*where, question.step)
    return (*where, question.text, question.answer, question.choices, question.form)
