"""Runs, as a listing and as one document."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from perdure.server.answers.questions import OpenQuestion
from perdure.server.answers.told import Moment, Range, Status, told


@told
class ForkedFrom(TypedDict):
    """Where a run comes from that is a fork."""

    of: str
    """The other run."""
    seq: int
    """The last fact that both share."""


@told
class ListedRun(TypedDict):
    """A run as a listing shows it."""

    id: str
    number: int
    """Its place in the order of creation."""
    status: Status
    over: bool
    """Nothing will follow."""
    goal: str
    session: str | None
    parent: str | None
    """The run that has begun it."""
    fork: ForkedFrom | None
    created: Moment | None
    updated: Moment | None
    wake_at: Moment | None
    """When it goes on by itself."""
    entries: int
    """How many facts it has."""
    head: str
    """A hash over all that is stored of it."""
    questions: int
    """How many are open."""
    interrupted: bool
    """It is under way, and nobody carries it on."""


@told
class Runs(TypedDict):
    """A page of runs, newest first."""

    schema: Literal["perdure.runs/1"]
    runs: list[ListedRun]
    next: int | None
    """Give this as `before` for the next page; null: there is none."""
    owner: str | None
    """Who carries runs on."""


@told
class Failure(TypedDict):
    """Why something did not work."""

    kind: str
    """What sort of failure it is; what follows is decided by this."""
    message: str
    retry_after: float | None
    """Seconds that the other side asked us to stay away."""
    detail: Any


@told
class Step(TypedDict):
    """What became of a step."""

    status: str
    exit: str | None
    """The word its last finished visit ended with."""
    output: Any
    failure: Failure | None
    visits: int
    attempts: int
    ways: list[str]
    """The rungs its last visit has taken; none: it was done as it is written."""
    sandboxed: str | None
    began: Moment | None
    ended: Moment | None


@told
class Account(TypedDict):
    """How one thing stands in a budget."""

    spent: float
    reserved: float
    limit: float
    overrun: float


@told
class Usage(TypedDict):
    """What a run took."""

    steps: int
    attempts: int
    seconds: float
    tokens: int
    calls: int
    usd: float
    """What is known of the price."""
    unpriced: int
    """Calls of models of which nobody knows the price."""
    budgets: dict[str, dict[str, Account]]
    """By the key of the step that has the budget, the run's own by the empty word: what is limited."""


@told
class Names(TypedDict):
    """What words of the plan stand for now."""

    tools: dict[str, str]
    strategies: dict[str, str]
    plans: dict[str, str]


@told
class Run(TypedDict):
    """All that is known of a run."""

    schema: Literal["perdure.run/1"]
    id: str
    status: Status
    interrupted: bool
    goal: str
    plan: str | None
    """The hash of the plan that it was started with."""
    revision: int
    """How often its plan was changed."""
    names: Names
    session: str | None
    fork: ForkedFrom | None
    inputs: Any
    began: Moment | None
    updated: Moment | None
    wake_at: Moment | None
    entries: int
    output: Any
    failure: Failure | None
    cause: str | None
    """The step whose failure it was."""
    steps: dict[str, Step]
    """By their keys; those that were reached."""
    partial: bool
    """Whether it is over with what there was."""
    missing: list[str]
    """The steps whose results are missing."""
    unplanned: str | None
    usage: Usage
    questions: dict[str, OpenQuestion]
    """Those that are open, by their ids."""
    signals: list[str]
    """The signals that it waits for."""


@told
class Begun(TypedDict):
    """A run that has begun."""

    schema: Literal["perdure.begun/1"]
    id: str


@told
class Entry(TypedDict):
    """A fact, as it is stored."""

    run: str
    seq: int
    """Its number in its run, from one."""
    type: str
    """What sort of fact it is; docs/reference/events.md has them all."""
    at: Moment | None
    body: dict[str, Any]


@told
class Entries(TypedDict):
    """A page of facts of a run, in order."""

    schema: Literal["perdure.entries/1"]
    run: str
    entries: list[Entry]
    next: int | None
    """Give this as `after` for the next page; null: there is no more now."""
    arrival: int
    """What of the run arrived until then is here, or on the next pages: `/v1/events?after=` goes on there."""


@told
class Turn(TypedDict):
    """What one decision wrote: an event of the stream."""

    run: str
    entries: list[Entry]


@told
class RunPlan(TypedDict):
    """The plan of a run, as it is or was."""

    schema: Literal["perdure.plan/1"]
    run: str
    revision: int
    hash: str
    plan: dict[str, Any]


@told
class Done(TypedDict):
    """What came of a message."""

    schema: Literal["perdure.done/1"]
    run: str
    done: Any
    """What the message gives: the runs that go on, the number of a revision, whether an answer is news; or null."""
    driven: bool
    """Whether somebody carries the run on."""
    owner: str
    """Who has done it; another word after the server was started anew."""


@told
class Artifact(TypedDict):
    """A large value that a fact names."""

    digest: str
    """SHA-256 of its bytes, in hex."""
    seq: int
    """The fact that names it first."""
    type: str


@told
class Artifacts(TypedDict):
    """The large values that the facts of a run name."""

    schema: Literal["perdure.artifacts/1"]
    run: str
    artifacts: list[Artifact]


@told
class Over(TypedDict):
    """When a run will be over: one of two runs by `p50`, nine of ten by `p90`."""

    p50: Moment | None
    p90: Moment | None


@told
class Progress(TypedDict):
    """How far a run is. What is left is in seconds; a run that has not begun has nothing to tell."""

    schema: Literal["perdure.progress/1"]
    id: str
    at: Moment | None
    """When this was so."""
    over: Over | None
    status: NotRequired[Status]
    fraction: NotRequired[float]
    """From 0 to 1, by the work that is done and that is expected to be left."""
    left: NotRequired[Range]
    """To its end, with people and the outside that are waited for."""
    work_left: NotRequired[Range]
    """With somebody at work."""
    worked: NotRequired[float]
    steps_over: NotRequired[int]
    at_work: NotRequired[int]
    waits: NotRequired[int]
    """Questions to people that are open."""
    guess: NotRequired[bool]
    """Whether some of what is left had to be guessed."""
