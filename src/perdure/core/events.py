"""The facts of a run. A type word, once released, keeps its meaning for ever: old journals are read by new releases.

An event says what was decided or what happened, never how to decide. Defaults are not written, so that a plain step
costs few bytes. A default is known by identity: a word that was read and is to be written again is interned first.
"""

import json
from typing import Any, ClassVar, Final, Literal, TypeGuard

import msgspec

from perdure.core.calls import Approval, Failure, Usage
from perdure.core.policy import Judgement
from perdure.core.values import NULL, Value, to_json

VERSION: Final = 1
"""The version of this vocabulary. A journal says which one it was written in."""


class Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """Something that is so from now on. It holds no cycles, so the collector need not look."""

    type: ClassVar[str]


class AboutStep(Event, frozen=True, kw_only=True):
    """A fact about one step of the run."""

    step: str
    """The step's key: its id, or where it grew."""


class AboutVisit(AboutStep, frozen=True, kw_only=True):
    """A fact about one visit of a step."""

    visit: int = 1
    """Visits of a step are numbered through the whole run."""


# ------------------------------------------------------------------------------- the run


class RunStarted(Event, frozen=True, kw_only=True):
    """A plan is to be carried out."""

    type = "run_started"
    v: int = VERSION
    """The version of this vocabulary."""
    plan: str
    """SHA-256 of the plan's canonical form, which is an artifact of the run."""
    goal: str = ""
    """What is to be achieved, with the inputs put in."""
    inputs: Value = NULL
    """What the run was given, defaults included."""
    seed: int = 0
    """What all chance in the run is derived from."""
    due: int | None = None
    """When the run as a whole is too late, in milliseconds."""
    session: str = ""
    """The session it belongs to."""
    parent: str = ""
    """The run that started it."""
    workspace: str = ""
    """The directory it works on; empty: none. Nobody else may drive it elsewhere."""
    release: str = ""
    """The release that began it."""


class RunPaused(Event, frozen=True, kw_only=True):
    """Nothing new is begun, and clocks stand still."""

    type = "run_paused"
    reason: str = ""
    """Why, for people; a code of ours if nobody asked for it."""
    by: str = ""
    """Who said so."""


class RunResumed(Event, frozen=True, kw_only=True):
    """It goes on."""

    type = "run_resumed"
    by: str = ""
    """Who said so."""


class RunStopping(Event, frozen=True, kw_only=True):
    """The run is to end before its plan does."""

    type = "run_stopping"
    exit: str
    """What it will end with: `cancelled`, `failure`, `rolled_back`."""
    reason: str = ""
    """Why, for people."""
    by: str = ""
    """Who said so."""
    failure: Failure | None = None
    """Why, if it is a failure."""
    to: str = ""
    """The checkpoint after which everything is taken back; empty: all of it, if it is to end `rolled_back`."""


class RunReopened(Event, frozen=True, kw_only=True):
    """A run that was over goes on with a new visit of a step that had failed."""

    type = "run_reopened"
    step: str
    """The step that had failed."""
    revised: bool = False
    """Its plan is revised with the next fact, and nothing is decided before."""
    by: str = ""
    """Who said so."""


NEXT_STEPS: Final = "next_steps"
"""Who has revised a plan, if the result of a step has."""
ADJUSTER: Final = "adjuster"
"""Who has revised a plan, if a function of the engine's user has."""
REPLANNER: Final = "planning.replan"
"""Who has revised a plan, if an agent at work has asked for it, or a step of the plan."""
PLANNER: Final = "planner"
"""Who has revised a plan, if it says that somebody is to plan anew what is left."""


class RunRevised(Event, frozen=True, kw_only=True):
    """The plan of the run is another one from now on. The past is pinned, the present protected, the future free."""

    type = "run_revised"
    base: int = 0
    """The revision it was made for: 0 is the plan that the run was started with."""
    edits: tuple[dict[str, Any], ...]
    """What changes: `insert`, `replace`, `remove` and `amend`, in their order."""
    by: str = ""
    """Who wanted it."""
    why: str = ""
    """Why."""
    widen: bool = False
    """Whether a person has said that the budget or the policy of the plan may become wider."""
    after: str = ""
    """The step after which it was made by rule; empty: somebody outside wanted it."""
    kind: str = ""
    """The kind of failure that it is against; empty: none."""


class RevisionRefused(Event, frozen=True, kw_only=True):
    """A rule wanted to revise the plan, and that could not be. The plan stays as it is."""

    type = "revision_refused"
    after: str
    """The step after which it was wanted."""
    by: str
    """Who wanted it."""
    reason: str
    """Why it could not be."""


class NamesMapped(Event, frozen=True, kw_only=True):
    """What the plan calls by some names is called otherwise now. It holds for all calls that are still to come.

    The plan, its calls and the keys of deeds keep the old names, so what was begun under one is the same deed after it.
    """

    type = "names_mapped"
    tools: dict[str, str] = {}
    """Tools: the old name, and what is meant by it from now on."""
    strategies: dict[str, str] = {}
    """Strategies of agents, in the same way."""
    plans: dict[str, str] = {}
    """Plans that are called by name, in the same way."""
    by: str = ""
    """Who said so."""


class RunForked(Event, frozen=True, kw_only=True):
    """The facts before this one are those of another run; from here on it goes its own way.

    What was under way there is lost to this run. What was done there belongs to that run, and is not taken back here.
    """

    type = "run_forked"
    of: str
    """The run whose facts they are."""
    seq: int
    """The last of them."""
    at: int
    """When that was: from then until now the clock of this run stood still."""
    inputs: Value | None = None
    """What is to be seen as inputs from now on; None: the same as before."""
    goal: str = ""
    """What is to be achieved with these inputs."""
    revised: bool = False
    """Its plan is revised with the next fact, and nothing is decided before."""
    by: str = ""
    """Who said so."""


class RunEnded(Event, frozen=True, kw_only=True):
    """Nothing will follow."""

    type = "run_ended"
    status: str
    """`succeeded`, `failed`, `cancelled` or `rolled_back`."""
    output: Value | None = None
    """None: it follows from the outputs of the steps."""
    failure: Failure | None = None
    """Why it failed."""
    cause: str = ""
    """The step whose failure this is."""
    partial: bool = False
    """It is over with what there was when a budget was used up."""


# ------------------------------------------------------------------------------- steps


class StepEntered(AboutVisit, frozen=True, kw_only=True):
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


class StepPassed(AboutStep, frozen=True, kw_only=True):
    """The step was not entered: a condition was false, what it needs did not work, or it had its visits."""

    type = "step_passed"
    exit: str = "skipped"
    """`skipped`, `exhausted`, or `failure` if it could not even be looked at."""
    to: str = "next"
    """Where that leads."""
    failure: Failure | None = None
    """Why it failed."""


class LocksTaken(AboutVisit, frozen=True, kw_only=True):
    """A group has the locks it waited for; its steps may begin."""

    type = "locks_taken"


class StepStopping(AboutVisit, frozen=True, kw_only=True):
    """A visit is to end before its work does."""

    type = "step_stopping"
    exit: str = "cancelled"
    """What it will end with."""
    to: str = ""
    """Where it will lead, if that is not for its exit to say."""
    output: Value | None = None
    """What it will give, if that is known already."""
    failure: Failure | None = None
    """Why, if it is a failure."""
    cause: str = ""
    """The step inside whose failure this is."""
    undo: tuple[str, ...] = ()
    """Parts whose finished effects are to be undone before it is over."""
    partial: bool = False
    """It will be over with what there is, because a budget is used up."""


class StepEnded(AboutVisit, frozen=True, kw_only=True):
    """A visit is over."""

    type = "step_ended"
    exit: str = "success"
    """The word it ended with."""
    to: str = "next"
    """Where that leads: `next`, `done`, `fail`, `recover`, or the id of a step."""
    output: Value | None = None
    """None: that of its attempt, or what follows from its steps."""
    failure: Failure | None = None
    """Why it failed."""
    cause: str = ""
    """The step inside whose failure this is."""
    partial: bool = False
    """It failed, or its budget was used up, and the plan goes on with what there is."""
    undo: dict[str, Any] | None = None
    """The call that takes its effect back: written out, or as `sha256` of its bytes if it is large."""
    stays: tuple[str, ...] = ()
    """Steps in a group whose effects stay: for that it was not done again, or in another way that it has."""


class StepsGrown(AboutVisit, frozen=True, kw_only=True):
    """Steps were added to a group: the items of a map, or what a strategy wants next."""

    type = "steps_grown"
    items: int | None = None
    """How many items the list of a map has."""
    digest: str = ""
    """SHA-256 of the list of items, by which a replay sees that it is the same one."""
    add: tuple[dict[str, Any], ...] = ()
    """Steps, as in a plan; the n-th that a group ever got has the id `s<n>`."""
    tags: dict[str, Any] = {}
    """What a strategy noted about a step, by its id."""
    memo: Any = None
    """What a strategy remembers."""
    drop: tuple[str, ...] = ()
    """Children that are over and not wanted, by id: what they did is undone from now on, while the group goes on."""


# ------------------------------------------------------------------------------- attempts

Deed = Literal["do", "undo", "probe", "judge"]


class AboutAttempt(AboutVisit, frozen=True, kw_only=True):
    """A fact about one try at a visit."""

    attempt: int = 1
    """Tries at a visit are numbered from one."""
    deed: Deed = "do"
    """Whether the step is done, or undone, or the world is asked whether it was done, or a tool judges what it gave."""


class AttemptStarted(AboutAttempt, frozen=True, kw_only=True):
    """The intent. It is durable before the deed begins, so that no deed is unknown.

    The first try at a visit begins the visit too, unless a `step_entered` did.
    """

    type = "attempt_started"
    call: str
    """SHA-256 of the call in RFC 8785 form, without the values of secrets."""
    due: int | None = None
    """When it has taken too long, on the clock of the run."""
    reserved: Usage | None = None
    """What it is promised of every budget around it."""
    approved: tuple[str, ...] = ()
    """Digests of what people have agreed to at this visit."""


class AttemptProgressed(AboutAttempt, frozen=True, kw_only=True):
    """How far it is."""

    type = "attempt_progressed"
    fraction: float
    """From 0 to 1."""
    message: str = ""
    """A line about it."""


class AttemptStopping(AboutAttempt, frozen=True, kw_only=True):
    """It took too long and is to be stopped."""

    type = "attempt_stopping"


class AttemptEnded(AboutAttempt, frozen=True, kw_only=True):
    """What came of it."""

    type = "attempt_ended"
    exit: str = "success"
    """`success`, `failure`, or a word that the step declared."""
    output: Value = NULL
    """What it gave."""
    failure: Failure | None = None
    """Why it failed."""
    to: str = ""
    """Where that leads, if the visit is over with it; empty: other facts say what follows."""
    usage: Usage | None = None
    """What it took, as far as whoever did it says."""
    approval: Approval | None = None
    """Nothing was done: a person has to agree first."""
    judged: tuple[Judgement, ...] = ()
    """What the rules of the user and the plan said about its deeds."""
    sandboxed: str = ""
    """Commands of it ran in a lower tier of the sandbox, `landlock` or `none`, as the user's settings say."""


class AttemptLost(AboutAttempt, frozen=True, kw_only=True):
    """Its process is gone, and nobody saw its end."""

    type = "attempt_lost"


class RetryPlanned(AboutAttempt, frozen=True, kw_only=True):
    """There will be another try. A group is done again from the start: its steps are forgotten, its visit goes on."""

    type = "retry_planned"
    due: int
    """When it may begin, on the clock of the run."""
    rejected: Failure | None = None
    """What is wrong with what it gave; None: it failed by itself, and that is a fact already."""


class RungTaken(AboutVisit, frozen=True, kw_only=True):
    """A visit goes on after a failure: in a way that the step declared, or that was found; a group from the start."""

    type = "rung_taken"
    rung: str
    """`simplify`: its lighter way; `relax`: its looser criteria; `alternate`: the next of its other ways; `retry`: a
    group is done again, and the next fact says when."""
    kind: str
    """The kind of failure."""
    tool: str = ""
    """The tool that was found by the skills of the step; empty: the step itself has declared the way."""
    strategy: str = ""
    """What the steps of an agent are grown by in this way; empty: it is performed as a whole."""
    due: int | None = None
    """When an agent that is grown is too late, on the clock of the run."""
    rejected: Failure | None = None
    """What is wrong with what it gave; None: it failed by itself, and that is a fact already."""


class EffectFound(AboutVisit, frozen=True, kw_only=True):
    """A visit may have had an effect, and it is to be taken back before it is over."""

    type = "effect_found"
    undo: dict[str, Any]
    """The call that takes it back."""


class EffectKept(AboutVisit, frozen=True, kw_only=True):
    """An effect could not be taken back, and nothing more is tried."""

    type = "effect_kept"
    failure: Failure
    """Why."""


# ------------------------------------------------------------------------------- people and the outside


class QuestionAsked(AboutVisit, frozen=True, kw_only=True):
    """A person is asked."""

    type = "question_asked"
    question: str
    """Its id."""
    answer: str
    """What kind of answer: `approval`, `choice`, `text`, `form`."""
    about: str = "plan"
    """`plan`: the plan asks; `doubt`: nobody knows whether an attempt had its effect; `policy`: a rule wants it;
    `budget`: one is used up; `recovery`: it failed, and somebody has to say how to go on."""
    text: str
    """What is asked."""
    choices: tuple[str, ...] = ()
    """What can be answered to a choice."""
    form: dict[str, Any] | None = None
    """JSON Schema of the answer to a form."""
    people: tuple[str, ...] = ()
    """Who may answer; empty: anybody."""
    of: str = ""
    """What a budget has too little of."""
    approves: str = ""
    """Digest of exactly what is agreed to."""
    deed: Deed = "do"
    """`undo`: what is agreed to takes back what the step has done; `judge`: it is a look at what the step gave."""
    due: int | None = None
    """When nobody is waited for any more, on the clock of the run; None: never, or when the visit is due."""
    rejected: Failure | None = None
    """What is wrong with what it gave; None: it failed by itself, and that is a fact already."""


class QuestionAnswered(Event, frozen=True, kw_only=True):
    """The first valid answer."""

    type = "question_answered"
    question: str
    """Its id."""
    value: Value
    """The answer."""
    by: str = ""
    """Who answered."""
    reason: str = ""
    """Why, in the words of whoever answered."""


class QuestionClosed(Event, frozen=True, kw_only=True):
    """An answer is not needed any more."""

    type = "question_closed"
    question: str
    """Its id."""
    late: bool = False
    """Nobody answered in time."""


class SignalReceived(Event, frozen=True, kw_only=True):
    """Something happened outside. It is kept until a step takes it."""

    type = "signal_received"
    name: str
    """What kind of thing."""
    value: Value = NULL
    """What there is to say about it."""
    by: str = ""
    """Who said so."""


class SignalTaken(AboutVisit, frozen=True, kw_only=True):
    """A waiting step has the oldest signal of a name."""

    type = "signal_taken"
    name: str
    """The name of the signal."""


EVENTS: Final[dict[str, type[Event]]] = {
    each.type: each
    for each in (
        RunStarted, RunPaused, RunResumed, RunStopping, RunReopened, RunRevised, RevisionRefused, NamesMapped,
        RunForked, RunEnded,
        StepEntered, StepPassed, LocksTaken, StepStopping, StepEnded, StepsGrown,
        AttemptStarted, AttemptProgressed, AttemptStopping, AttemptEnded, AttemptLost, RetryPlanned, RungTaken,
        EffectFound, EffectKept,
        QuestionAsked, QuestionAnswered, QuestionClosed, SignalReceived, SignalTaken,
    )
}  # fmt: skip
"""Every event by its type word."""


def ends_step(event: Event) -> TypeGuard[StepEnded | StepPassed | AttemptEnded]:
    """Whether a step is over with it, or was passed by."""
    return isinstance(event, (StepEnded, StepPassed)) or (isinstance(event, AttemptEnded) and event.to != "")


_ENCODER: Final = msgspec.json.Encoder()
_DECODERS: Final[dict[str, msgspec.json.Decoder[Event]]] = {}


def encode(event: Event) -> bytes:
    """An event as it is stored. Half of a Unicode pair, which a tool may well say, is written as an escape."""
    try:
        return _ENCODER.encode(event)
    except UnicodeEncodeError:
        return to_json(msgspec.to_builtins(event))


def decode(type_: str, body: bytes) -> Event:
    """A stored event. Raises `ValueError` for one that this release cannot read."""
    decoder = _decoder(type_)
    try:
        return decoder.decode(body)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except ValueError:
        if rb"\ud" not in body:
            raise
    return _with_halves(type_, body)


def _with_halves(type_: str, body: bytes) -> Event:
    """An event in which half of a Unicode pair is written as an escape."""
    try:
        return msgspec.convert(json.loads(body), EVENTS[type_])
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _decoder(type_: str) -> msgspec.json.Decoder[Event]:
    found = _DECODERS.get(type_)
    if found is None:
        if type_ not in EVENTS:
            raise ValueError(f"the event {type_!r} is unknown to this release")
        found = _DECODERS[type_] = msgspec.json.Decoder(EVENTS[type_])
    return found
