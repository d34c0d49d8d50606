"""Tools that show how a plan flows."""

from typing import Any

from perdure.tools.builtin.bounds import Text
from perdure.tools.failure import Kind, ToolFailure
from perdure.tools.tool import tool


@tool(name="flow.echo", repeat="safe", effects=())
async def echo(value: Any) -> Any:
    """Gives back what it is given.

    Args:
        value: Anything.
    """
    return value


@tool(name="flow.fail", repeat="safe", effects=())
async def fail(message: Text = "failed", kind: Kind = "unknown") -> None:
    """Fails.

    Args:
        message: What to say about it.
        kind: The kind of failure, which decides what follows.
    """
    raise ToolFailure(kind, message)
