"""What failed in a run, and what helped."""

from typing import Any, Literal

from typing_extensions import TypedDict

from perdure.server.answers.told import Moment, Status, told


@told
class Cost(TypedDict):
    """What something took."""

    seconds: float | None
    tokens: int
    usd: float | None
    calls: int


@told
class Remedy(TypedDict):
    """What was tried next."""

    did: str
    """A rung of the ladder; `answer`: a person said what to do; `reopen`: a person wanted it tried again."""
    at: Moment | None
    after: float | None
    """Seconds until it may begin."""
    kind: str
    tool: str
    question: str
    answer: Any
    by: str


@told
class Trouble(TypedDict):
    """One attempt that failed."""

    attempt: int
    """0: it is a group, and not tried itself."""
    at: Moment | None
    kind: str
    message: str
    deed: str
    retry_after: float | None
    rule: str
    """What it was classified by."""
    exception: str
    where: str
    seconds: float
    usage: Cost | None
    remedies: list[Remedy]


@told
class Case(TypedDict):
    """One visit of a step in which something failed."""

    step: str
    visit: int
    troubles: list[Trouble]
    exit: str
    to: str
    at: Moment | None
    partial: bool
    failure: dict[str, Any] | None
    cause: str
    stays: list[str]
    """Steps inside whose effects stay."""
    helped: str
    """What was tried last before it went well."""
    cost: Cost


@told
class Failures(TypedDict):
    """All that failed in a run."""

    schema: Literal["perdure.failures/1"]
    id: str
    status: Status
    failures: list[Case]
