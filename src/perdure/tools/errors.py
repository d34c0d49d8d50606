"""Why a function is no tool, or a tool is not found."""

from typing import ClassVar

from perdure.errors import PerdureError


class ToolError(PerdureError):
    """Something is wrong with a tool, and it is seen before anything runs."""

    exit_code: int = 2


class BadName(ToolError):
    """The tool's name is not of the form `domain.tool`."""

    code: ClassVar[str] = "PRD5001"


class BadFunction(ToolError):
    """No arguments can be handed to this function by name, or what it was declared to be makes no sense."""

    code: ClassVar[str] = "PRD5002"


class NotImportable(ToolError):
    """A process of its own cannot find the function."""

    code: ClassVar[str] = "PRD5003"


class Duplicate(ToolError):
    """Two tools have the same name."""

    code: ClassVar[str] = "PRD5004"


class NotLoaded(ToolError):
    """There are no tools where somebody said there were."""

    code: ClassVar[str] = "PRD5005"


class BadDeclaration(ToolError):
    """What a tool says about itself cannot be so."""

    code: ClassVar[str] = "PRD5006"
