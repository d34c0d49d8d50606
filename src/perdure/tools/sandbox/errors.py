"""Why nothing can be run."""

from typing import ClassVar

from perdure.errors import PerdureError


class SandboxUnavailable(PerdureError):
    """There is no sandbox here that holds what it promises, so nothing is run."""

    code: ClassVar[str] = "PRD5101"


class SandboxFailed(PerdureError):
    """The sandbox was found good, but could not be set up for this command; the command was not run."""

    code: ClassVar[str] = "PRD5102"


class StageFailed(PerdureError):
    """No stage could be made of the workspace, or what was left in one cannot become a change."""

    code: ClassVar[str] = "PRD5103"
