"""Why git is not asked, or what it was asked cannot be done: failures with a code that has a page."""

from typing import Any, Final

from perdure.tools.failure import Kind, ToolFailure

CONFIG: Final = "PRD5201"
"""The repository's own settings could run a program."""
LAYOUT: Final = "PRD5202"
"""The repository is not laid out as git lays it out."""
NAME: Final = "PRD5203"
"""A name that could be read as something else."""
MOVED: Final = "PRD5204"
"""A branch or tag is not where it was when the work began."""
ABSENT: Final = "PRD5205"
"""There is no git, no repository, no such revision."""
HELD: Final = "PRD5206"
"""The work would change what the user has before them."""
REMOTE: Final = "PRD5207"
"""The remote cannot be pushed to from here."""
LOGIN: Final = "PRD5208"
"""The user and password of a push are not taken, or may not go there."""


def refusal(code: str, kind: Kind, message: str, **detail: Any) -> ToolFailure:
    """A failure whose message begins with its code."""
    return ToolFailure(kind, f"{code}: {message}", detail={"code": code, **detail})
