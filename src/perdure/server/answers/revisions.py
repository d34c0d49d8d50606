"""What changed in a plan."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from perdure.server.answers.told import Moment, told


@told
class Change(TypedDict):
    """A field that is not what it was."""

    field: str
    before: NotRequired[Any]
    """Left out: it was not there."""
    after: NotRequired[Any]
    """Left out: it is gone."""


@told
class Move(TypedDict):
    """A step that stands elsewhere."""

    before: str
    after: str


@told
class Revision(TypedDict):
    """What one revision has changed."""

    number: int
    at: Moment | None
    by: str
    why: str
    added: dict[str, str]
    """New steps, with where they stand."""
    removed: dict[str, str]
    """Steps that are gone, with where they stood."""
    changed: dict[str, list[Change]]
    moved: dict[str, Move]
    plan: list[Change]
    """Fields of the plan itself."""


@told
class Revisions(TypedDict):
    """What each revision of the plan of a run has changed."""

    schema: Literal["perdure.revisions/1"]
    revisions: list[Revision]


@told
class Diff(TypedDict):
    """What differs between two plans."""

    schema: Literal["perdure.diff/1"]
    before: str
    """The hash of the first."""
    after: str
    """The hash of the second."""
    added: dict[str, str]
    removed: dict[str, str]
    changed: dict[str, list[Change]]
    moved: dict[str, Move]
    plan: list[Change]
