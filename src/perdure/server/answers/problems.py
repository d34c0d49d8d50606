"""What is answered when something is wrong."""

from typing import Literal

from typing_extensions import TypedDict

from perdure.server.answers.told import told


@told
class Flaw(TypedDict):
    """One place where something is wrong."""

    severity: Literal["error", "warning"]
    code: str
    message: str
    path: str
    """Where: keys and positions from the root, as in `steps[3].on.failure`."""
    hint: str | None
    """What to write instead."""
    file: str | None
    line: int | None
    column: int | None


@told
class Problem(TypedDict):
    """Why a request was not done (RFC 9457)."""

    type: str
    """Where the page of the code is."""
    title: str
    """What the code means."""
    status: int
    detail: str
    """What is wrong with this request."""
    code: str
    """`PRD` and four digits; a code keeps its meaning."""
    help: str | None
    """What to do about it."""
    exit_code: int
    """What a command ends with that fails for this reason."""
    problems: list[Flaw]
    """Every place where something is wrong, as far as there are places."""
