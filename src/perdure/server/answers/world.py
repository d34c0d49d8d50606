"""What there is around an engine, and the house itself."""

from typing import Any, Literal

from typing_extensions import TypedDict

from perdure.server.answers.told import Moment, told
from perdure.server.scopes import Scope


@told
class Refused(TypedDict):
    """Something that is offered and cannot be had."""

    code: str
    message: str
    hint: str


@told
class Tools(TypedDict):
    """Tools that plans may use, each with all that is declared about it."""

    schema: Literal["perdure.tools/1"]
    tools: list[dict[str, Any]]
    refused: list[Refused]


@told
class Agents(TypedDict):
    """Whom plans may give work to."""

    schema: Literal["perdure.agents/1"]
    agents: list[dict[str, Any]]


@told
class Template(TypedDict):
    """A plan with blanks."""

    name: str
    origin: str
    """Where it came from."""
    about: str
    words: list[str]
    examples: list[str]
    """Requests for it, as people write them."""
    goal: str
    inputs: dict[str, Any]


@told
class Templates(TypedDict):
    """Plans with blanks, for goals that are known."""

    schema: Literal["perdure.templates/1"]
    templates: list[Template]


@told
class Memory(TypedDict):
    """Something that is remembered beyond its run."""

    id: str
    number: int
    kind: str
    text: str
    about: str
    run: str | None
    step: str | None
    by: str | None
    at: Moment | None


@told
class Memories(TypedDict):
    """A page of memories."""

    schema: Literal["perdure.memories/1"]
    memories: list[Memory]
    next: int | None


@told
class Remembered(TypedDict):
    """A memory that was noted or forgotten."""

    schema: Literal["perdure.memory/1"]
    id: str


@told
class Me(TypedDict):
    """Who asks, as the server sees it."""

    schema: Literal["perdure.me/1"]
    name: str
    """Empty: nobody has said."""
    scopes: list[Scope]
    version: str
    """Of the server."""


@told
class Stopped(TypedDict):
    """The runs that were cancelled."""

    schema: Literal["perdure.stopped/1"]
    runs: list[str]


@told
class Health(TypedDict):
    """That the server is there."""

    status: Literal["ok"]


@told
class Stats(TypedDict):
    """What became of many runs, in numbers.

    Times are in seconds; `p50` and `p90` are what half, and 90 of 100, stay below.
    """

    schema: Literal["perdure.stats/1"]
    since: Moment | None
    until: Moment | None
    runs: dict[str, Any]
    planners: dict[str, Any]
    """By who has made the plan."""
    planning: dict[str, Any]
    steps: dict[str, Any]
    attempts: list[dict[str, Any]]
    failures: dict[str, int]
    """By kind."""
    retries: int
    recoveries: dict[str, int]
    effects_kept: int
    models: dict[str, Any]
    chosen_tools: dict[str, int]
    revisions: dict[str, int]
    revisions_refused: int
    questions: dict[str, Any]
