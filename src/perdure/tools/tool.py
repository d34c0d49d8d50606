"""A tool: a Python function with a name, a schema, and a word on whether it may be done again."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, ParamSpec, TypeGuard, TypeVar, Unpack, overload

from perdure.core.calls import Repeat
from perdure.core.policy import Deed
from perdure.core.values import digest_of
from perdure.plan.model.parts import TOOL_PATTERN
from perdure.plan.toolbox import ToolFacts
from perdure.tools.context import Context
from perdure.tools.declaring import UNDECLARED, Declaration, Declared, called_with
from perdure.tools.docstring import summary_of
from perdure.tools.errors import BadFunction, BadName, NotImportable
from perdure.tools.given import Given
from perdure.tools.hands import Hands
from perdure.tools.signature import Signature
from perdure.tools.vetting import vet

P = ParamSpec("P")
R = TypeVar("R")
LONGEST: Final = 200
"""Letters of a name."""


@dataclass(frozen=True, eq=False)
class Tool(Generic[P, R]):
    """A function that plans may call. In Python it is called like the function itself."""

    name: str
    """`domain.tool`."""
    function: Callable[P, R]
    summary: str
    """The first line of its docstring."""
    signature: Signature | Given
    """What it takes and gives: read from the function, or given by somebody else."""
    repeat: Repeat | Callable[..., Repeat] = "never"
    """What may be done with an attempt of which nobody knows how it ended; a function decides by the arguments."""
    isolate: bool = False
    """Whether it runs in a process of its own, which can be killed."""
    limit: int | None = None
    """How many calls of it may be under way at once in an engine."""
    timeout: float | None = None
    """Seconds for one attempt, where the plan does not say."""
    declared: Declaration = UNDECLARED
    """What it does to the world, and how that is found out and taken back."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """As the function."""
        return self.function(*args, **kwargs)

    @property
    def __wrapped__(self) -> Callable[P, R]:
        """The function, for those who look at signatures."""
        return self.function

    @cached_property
    def is_async(self) -> bool:
        """Whether the function is awaited."""
        return inspect.iscoroutinefunction(self.function)

    @property
    def address(self) -> str:
        """Where another process finds the function: `module:name`."""
        return f"{self.function.__module__}:{self.function.__qualname__}"

    def repeat_of(self, arguments: Mapping[str, Any]) -> Repeat:
        """What may be done with a call of it of which nobody knows how it ended."""
        return called_with(self.repeat, arguments) if callable(self.repeat) else self.repeat

    def deeds(self, arguments: Mapping[str, Any]) -> list[Deed]:
        """What a call of it is about to do, as far as it says so beforehand."""
        return [self.called, *self.declared.reached(arguments)] if self.declared.reaches else [self.called]

    @cached_property
    def called(self) -> Deed:
        """That it is called, whatever it is given."""
        return self.declared.called(self.name, careful=self.repeat == "never")

    @property
    def is_reversible(self) -> bool:
        """Whether it does nothing that stays, or can take it back."""
        return self.declared.is_reversible(careful=self.repeat == "never")

    @property
    def works_on_files(self) -> bool:
        """Whether it belongs to the workspace that it was called in."""
        return self.declared.judges and self.declared.staged is not None

    @property
    def may_write(self) -> bool:
        """Whether it may change files."""
        return self.declared.effects is None or "writes" in self.declared.effects

    def may_rehearse(self, arguments: Mapping[str, Any], hands: Hands | None) -> bool:
        """Whether a call may be made for real in a rehearsal: it touches nothing but a copy of the workspace."""
        staged = self.declared.staged
        if staged is not None:
            return bool(called_with(staged, {**arguments, "hands": hands})) if callable(staged) else staged
        return self.declared.effects is not None and not self.declared.effects

    @cached_property
    def definition(self) -> str:
        """SHA-256 of all that is promised about it. An approval holds for one definition."""
        return digest_of(
            {
                "name": self.name,
                "summary": self.summary,
                "inputs": self.signature.promise,
                "repeat": "by arguments" if callable(self.repeat) else self.repeat,
                "declared": self.declared.data(),
            }
        )

    def facts(self) -> ToolFacts:
        """What a plan may rely on."""
        return self._facts

    @cached_property
    def _facts(self) -> ToolFacts:
        """Schemas that were made here need no second look."""
        return ToolFacts.model_construct(inputs=self.signature.inputs, returns=self.signature.returns)

    def bind(self, arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """What to call the function with. `ToolFailure` names each argument that does not fit."""
        read = self.signature.read(arguments)
        if self.signature.context is not None:
            read[self.signature.context] = context
        return read


AnyTool = Tool[..., Any]


def is_tool(value: Any) -> TypeGuard[AnyTool]:
    """Whether something in a module is a tool."""
    return isinstance(value, Tool)


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    repeat: Repeat | Callable[..., Repeat] = "never",
    isolate: bool = False,
    limit: int | None = None,
    timeout: float | None = None,
    **declared: Unpack[Declared],
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(  # noqa: PLR0913  each word stands for itself where it is used
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str | None = None,
    repeat: Repeat | Callable[..., Repeat] = "never",
    isolate: bool = False,
    limit: int | None = None,
    timeout: float | None = None,
    **declared: Unpack[Declared],
) -> Tool[P, R] | Callable[[Callable[P, R]], Tool[P, R]]:
    """Make a function a tool. Without a name it is called after its module and itself: `module.function`."""

    def made(function: Callable[P, R]) -> Tool[P, R]:
        called = checked_name(name or _name_of(function))
        _check_options(limit, timeout)
        signature, said = Signature(function), Declaration(**declared) if declared else UNDECLARED
        vet(called, signature, repeat, said, isolate=isolate)
        found = Tool(called, function, summary_of(function), signature, repeat, isolate, limit, timeout, said)
        return _importable(found) if isolate else found

    return made if function is None else made(function)


def _name_of(function: Callable[..., Any]) -> str:
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


def checked_name(name: str) -> str:
    """The name, if plans can use it; else `BadName`."""
    if re.fullmatch(TOOL_PATTERN, name) and len(name) <= LONGEST:
        return name
    raise BadName(f'"{name[:LONGEST]}" is no name for a tool', 'write a domain and a name, as in "http.get"')


def _check_options(limit: int | None, timeout: float | None) -> None:
    if limit is not None and limit < 1:
        raise BadFunction(f"a limit of {limit} would let no call through", "write 1 or more, or leave it out")
    if timeout is not None and not timeout > 0:
        raise BadFunction(f"a timeout of {timeout} leaves no time", "write seconds, or leave it out")


def _importable(found: Tool[P, R]) -> Tool[P, R]:
    """A module and a name is all that another process is told; what has none is refused while it is written."""
    if "<" in found.address or found.function.__module__ == "__main__":
        raise NotImportable(
            f'"{found.name}" cannot run in a process of its own: nobody can import {found.address}',
            "define it at the top of a module that can be imported, not inside a function or the started script",
        )
    return found
