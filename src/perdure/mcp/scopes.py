"""Who calls, and what they may do. A model that may begin runs may not thereby approve what they do."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from mcp.server.mcpserver import Context

from perdure.errors import PerdureError

READ: Final = "read"
RUN: Final = "run"
APPROVE: Final = "approve"


class NotAllowed(PerdureError):
    """Whoever calls may not do this."""

    code: ClassVar[str] = "PRD6050"


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who calls a tool."""

    name: str = ""
    """What stands in the journal as who did it."""
    scopes: frozenset[str] = frozenset({READ, RUN})

    def may(self, scope: str) -> bool:
        """Whether they may do what needs this scope."""
        return scope in self.scopes or "admin" in self.scopes

    def check(self, scope: str) -> None:
        """`NotAllowed` if they may not."""
        if not self.may(scope):
            raise NotAllowed(f"this needs the scope {scope}", "use a key that has it: perdure keys new --help")


Callers = Callable[[Context[Any, Any]], Caller]
"""Who calls, by what the transport says of a request."""


def via(name: str, context: Context[Any, Any]) -> str:
    """A name, and the program through which they speak."""
    client = getattr(getattr(context.session, "client_params", None), "client_info", None)
    program = getattr(client, "name", "")
    return " via ".join(filter(None, (name, program[:80])))
