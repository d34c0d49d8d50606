"""Questions, as far as they are open."""

from typing import Any, Literal

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
    """What kind of answer it takes: `approval`, `choice`, `text`, `form`, `json`."""
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
