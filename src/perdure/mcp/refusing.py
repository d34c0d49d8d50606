"""Errors as a model can use them: the code, what is wrong, and what to do instead."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError

from perdure.errors import PerdureError
from perdure.plan.problems import HasProblems

P = ParamSpec("P")
T = TypeVar("T")
Async = Callable[P, Awaitable[T]]

MISSING = 3
"""The exit code of what is not found."""


def told(error: PerdureError) -> str:
    """An error in words; of a plan that cannot be used, each of its problems."""
    if isinstance(error, HasProblems):
        return "\n".join([f"{error.code}:", *(str(each) for each in error.problems)])
    return f"{error.code}: {error.message}" + (f"\nhelp: {error.help}" if error.help else "")


def as_tool(function: Async[P, T]) -> Async[P, T]:
    """The same, with errors that the caller is told."""

    @wraps(function)
    async def called(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await function(*args, **kwargs)
        except PerdureError as error:
            raise ToolError(told(error)) from error

    return called


def as_resource(function: Async[P, T]) -> Async[P, T]:
    """The same for what is read."""

    @wraps(function)
    async def read(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await function(*args, **kwargs)
        except PerdureError as error:
            kind: Any = ResourceNotFoundError if error.exit_code == MISSING else ResourceError
            raise kind(told(error)) from error

    return read
