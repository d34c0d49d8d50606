"""What can go wrong with MCP servers before a tool of theirs is called."""

from collections.abc import Sequence
from typing import ClassVar

from perdure.plan.problems import Problem, listed
from perdure.tools.errors import ToolError


class BadServers(ToolError):
    """The file that names MCP servers cannot be used. `problems` holds every reason."""

    code: ClassVar[str] = "PRD5401"
    exit_code: int = 6

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(listed(problems), "correct the file")
        self.problems = tuple(problems)


class NotInstalled(ToolError):
    """The library that speaks MCP is not there."""

    code: ClassVar[str] = "PRD5402"


class UnknownServer(ToolError):
    """No MCP server of this name is configured, or it has no such tool."""

    code: ClassVar[str] = "PRD5403"
    exit_code: int = 3


class Unreachable(ToolError):
    """An MCP server does not start, does not answer, or speaks nothing we know."""

    code: ClassVar[str] = "PRD5404"
    exit_code: int = 1


class BadPins(ToolError):
    """The file of what was approved cannot be used."""

    code: ClassVar[str] = "PRD5407"
    exit_code: int = 6


class MissingValue(ToolError):
    """A server's environment or headers name a secret or a variable that is not there."""

    code: ClassVar[str] = "PRD5408"
    exit_code: int = 6


UNAPPROVED = "PRD5405"
"""A tool that nobody has approved was called."""
CHANGED = "PRD5406"
"""A tool is not what was approved."""
