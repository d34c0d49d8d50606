"""The facts of a run. A type word, once released, keeps its meaning for ever: old journals are read by new releases.

An event says what was decided or what happened, never how to decide. Defaults are not written, so that a plain step
costs few bytes.
"""

import json
from typing import Any, ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import PydanticSerializationError

from perdure.core.calls import Failure
from perdure.core.values import Value, to_json

VERSION: Final = 1
"""The version of this vocabulary. A journal says which one it was written in."""


class Event(BaseModel):
    """Something that is so from now on."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    type: ClassVar[str]


class AboutStep(Event):
    """A fact about one step of the run."""

    step: str
    """The step's key: its id, or where it grew."""


class AboutVisit(AboutStep):
    """A fact about one visit of a step."""

    visit: int = 1
    """Visits of a step are numbered through the whole run."""


# ------------------------------------------------------------------------------- the run


class RunStarted(Event):
    """A plan is to be carried out."""

    type = "run_started"
    v: int = VERSION
    plan: str
    """SHA-256 of the plan's canonical form, which is an artifact of the run."""
    goal: str = ""
    inputs: Value = Value()
    seed: int = 0
    """What all chance in the run is derived from."""
    due: int | None = None
    """When the run as a whole is too late, in milliseconds."""
    session: str = ""
    parent: str = ""


class RunPaused(Event):
    """Nothing new is begun, and clocks stand still."""

    type = "run_paused"
    reason: str = ""
    by: str = ""


class RunResumed(Event):
    """It goes on."""

    type = "run_resumed"
    by: str = ""


class RunStopping(Event):
    """The run is to end before its plan does."""

    type = "run_stopping"
    exit: str
    reason: str = ""
    by: str = ""
    failure: Failure | None = None


class RunReopened(Event):
    """A run that was over goes on with a new visit of a step that had failed."""

    type = "run_reopened"
    step: str
    by: str = ""


class RunEnded(Event):
    """Nothing will follow."""

    type = "run_ended"
    status: str
    output: Value | None = None
    """None: it follows from the outputs of the steps."""
    failure: Failure | None = None
    cause: str = ""
    """The step whose failure this is."""


# ------------------------------------------------------------------------------- steps


class StepEntered(AboutVisit):
    """A visit has begun."""

    type = "step_entered"
    due: int | None = None
    """When the visit is too late, or the wait is over."""
    fixed: bool = False
    """Whether `due` is a moment of the calendar, which a pause does not move."""
    strategy: str = ""
    """What an agent's steps are grown by; empty: it is performed as a whole."""
    plan: str = ""
    """SHA-256 of the plan that a sub-plan's name stood for."""


class StepPassed(AboutStep):
    """The step was not entered: a condition was false, what it needs did not work, or it had its visits."""

    type = "step_passed"
    exit: str = "skipped"
    to: str = "next"
    failure: Failure | None = None


class LocksTaken(AboutVisit):
    """A group has the locks it waited for; its steps may begin."""

    type = "locks_taken"


class StepStopping(AboutVisit):
    """A visit is to end before its work does."""

    type = "step_stopping"
    exit: str = "cancelled"
    to: str = ""
    """Where it will lead, if that is not for its exit to say."""
    output: Value | None = None
    failure: Failure | None = None
    cause: str = ""
    undo: tuple[str, ...] = ()
    """Parts whose finished effects are to be undone before it is over."""


class StepEnded(AboutVisit):
    """A visit is over."""

    type = "step_ended"
    exit: str = "success"
    to: str = "next"
    """Where that leads: `next`, `done`, `fail`, `recover`, or the id of a step."""
    output: Value | None = None
    """None: that of its attempt, or what follows from its steps."""
    failure: Failure | None = None
    cause: str = ""
    """The step inside whose failure this is."""
    partial: bool = False
    """It failed, and the plan goes on without it."""
    undo: dict[str, Any] | None = None
    """The call that takes its effect back."""


class StepsGrown(AboutVisit):
    """Steps were added to a group: the items of a map, or what a strategy wants next."""

    type = "steps_grown"
    items: int | None = None
    digest: str = ""
    """SHA-256 of the list of items, by which a replay sees that it is the same one."""
    add: tuple[dict[str, Any], ...] = ()
    tags: dict[str, Any] = Field(default_factory=dict)
    """What a strategy noted about a step, by its id."""
    memo: Any = None
    """What a strategy remembers."""


# ------------------------------------------------------------------------------- attempts

Deed = Literal["do", "undo"]


class AboutAttempt(AboutVisit):
    """A fact about one try at a visit."""

    attempt: int = 1
    deed: Deed = "do"
    """Whether the step is done, or undone."""


class AttemptStarted(AboutAttempt):
    """The intent. It is durable before the deed begins, so that no deed is unknown."""

    type = "attempt_started"
    call: str
    """SHA-256 of the call in RFC 8785 form, without the values of secrets."""
    due: int | None = None


class AttemptProgressed(AboutAttempt):
    """How far it is."""

    type = "attempt_progressed"
    fraction: float
    message: str = ""


class AttemptStopping(AboutAttempt):
    """It took too long and is to be stopped."""

    type = "attempt_stopping"


class AttemptEnded(AboutAttempt):
    """What came of it."""

    type = "attempt_ended"
    exit: str = "success"
    output: Value = Value()
    failure: Failure | None = None


class AttemptLost(AboutAttempt):
    """Its process is gone, and nobody saw its end."""

    type = "attempt_lost"


class RetryPlanned(AboutAttempt):
    """There will be another try."""

    type = "retry_planned"
    due: int


class EffectKept(AboutVisit):
    """An effect could not be taken back, and nothing more is tried."""

    type = "effect_kept"
    failure: Failure


# ------------------------------------------------------------------------------- people and the outside


class QuestionAsked(AboutVisit):
    """A person is asked."""

    type = "question_asked"
    question: str
    answer: str
    """What kind of answer: `approval`, `choice`, `text`, `form`."""
    about: str = "plan"
    """`plan`: the plan asks; `doubt`: nobody knows whether an attempt had its effect."""
    text: str
    choices: tuple[str, ...] = ()
    form: dict[str, Any] | None = None
    people: tuple[str, ...] = ()
    """Who may answer; empty: anybody."""


class QuestionAnswered(Event):
    """The first valid answer."""

    type = "question_answered"
    question: str
    value: Value
    by: str = ""
    reason: str = ""
    """Why, in the words of whoever answered."""


class QuestionClosed(Event):
    """An answer is not needed any more."""

    type = "question_closed"
    question: str


class SignalReceived(Event):
    """Something happened outside. It is kept until a step takes it."""

    type = "signal_received"
    name: str
    value: Value = Value()
    by: str = ""


class SignalTaken(AboutVisit):
    """A waiting step has the oldest signal of a name."""

    type = "signal_taken"
    name: str


EVENTS: Final[dict[str, type[Event]]] = {
    each.type: each
    for each in (
        RunStarted, RunPaused, RunResumed, RunStopping, RunReopened, RunEnded,
        StepEntered, StepPassed, LocksTaken, StepStopping, StepEnded, StepsGrown,
        AttemptStarted, AttemptProgressed, AttemptStopping, AttemptEnded, AttemptLost, RetryPlanned, EffectKept,
        QuestionAsked, QuestionAnswered, QuestionClosed, SignalReceived, SignalTaken,
    )
}  # fmt: skip
"""Every event by its type word."""


def encode(event: Event) -> bytes:
    """An event as it is stored. Half of a Unicode pair, which a tool may well say, is written as an escape."""
    try:
        return event.__pydantic_serializer__.to_json(event, exclude_defaults=True)
    except PydanticSerializationError:
        return to_json(event.__pydantic_serializer__.to_python(event, mode="json", exclude_defaults=True))


def decode(type_: str, body: bytes) -> Event:
    """A stored event. Raises `ValueError` for one that this release cannot read."""
    known = EVENTS.get(type_)
    if known is None:
        raise ValueError(f"the event {type_!r} is unknown to this release")
    try:
        return known.__pydantic_validator__.validate_json(body)
    except ValueError:
        if rb"\ud" not in body:
            raise
    return known.__pydantic_validator__.validate_python(json.loads(body))
