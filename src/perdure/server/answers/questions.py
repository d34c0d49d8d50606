"""Questions, as far as they are open."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from perdure.server.answers.told import Moment, told


@told
class Led(TypedDict):
    """The failure that led to a question."""

    step: str
    kind: str
    message: str
    attempts: int
    """How often it was tried."""


@told
class OpenQuestion(TypedDict):
    """Something that a person is asked."""

    step: str
    text: str
    answer: str
    """What kind of answer it takes: `approval`, `choice`, `text`, `form`."""
    about: str
    """What it is about: `plan`, `policy`, `doubt`, `budget`, `recovery`."""
    choices: list[str]
    form: dict[str, Any] | None
    """JSON Schema of the answer."""
    people: list[str]
    """Who may answer; empty: anybody."""
    asked: Moment | None
    status: Literal["open"]
    after: Led | None
    until: Moment | None
    """Until when; null: for ever, or the run is paused."""
    silence: str | None
    """What follows if nobody answers."""
    answers: dict[str, str]
    """What can be answered, and what follows from it."""


@told
class ListedQuestion(TypedDict):
    """A question in a listing: open, or closed."""

    number: int
    """Its place in the order of asking."""
    run: str
    id: str
    step: str
    text: str
    answer: str
    about: str
    choices: list[str]
    form: dict[str, Any] | None
    people: list[str]
    asked: Moment | None
    status: Literal["open", "answered", "expired", "closed"]
    after: NotRequired[Led | None]
    until: NotRequired[Moment | None]
    silence: NotRequired[str | None]
    answers: NotRequired[dict[str, str]]
    over: NotRequired[Moment | None]
    """When it was answered, or not needed any more."""
    value: NotRequired[Any]
    """What was answered."""
    by: NotRequired[str]
    """By whom."""
    reason: NotRequired[str | None]


@told
class Questions(TypedDict):
    """A page of questions, in the order of asking."""

    schema: Literal["perdure.questions/1"]
    questions: list[ListedQuestion]
    next: int | None
    """Give this as `after` for the next page; null: there is none."""
