"""The other side of `process`: what runs in the process of an isolated tool.

The request comes in as JSON, reports and the outcome go out as lines of JSON. What the tool prints goes to where its
errors go, so that it never mixes with them.
"""

import asyncio
import ctypes
import importlib
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import to_builtins
from msgspec.structs import replace

from perdure.core.calls import Outcome
from perdure.ports import Attempt
from perdure.tools.calling import awaited, called
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure, failure_of
from perdure.tools.guard import Guard
from perdure.tools.hands import Hands
from perdure.tools.process import attempt_from
from perdure.tools.tool import AnyTool, is_tool, tool

PR_SET_PDEATHSIG: Final = 1
Say = Callable[[Mapping[str, Any]], None]


def main() -> None:
    """Read the request, do it, tell what came of it."""
    say = _line_writer()
    request = json.loads(sys.stdin.buffer.read())
    _die_with(request["parent"])
    outcome = _perform(request, say)
    say({"output": outcome.output, "failure": outcome.failure and to_builtins(outcome.failure)})


def _line_writer() -> Say:
    """Takes the standard output for itself; from then on `print` goes where errors go."""
    ours = os.fdopen(os.dup(1), "wb")
    os.set_inheritable(ours.fileno(), False)  # noqa: FBT003  the name says it
    os.dup2(2, 1)
    lock = threading.Lock()

    def say(told: Mapping[str, Any]) -> None:
        with lock:
            ours.write(json.dumps(told).encode() + b"\n")
            ours.flush()

    return say


def _die_with(parent: int) -> None:
    """Ask the kernel to kill this process when its parent dies, also if that has happened just now."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


class Apart(Context):
    """The context in a process of its own: it has a way to say things, but nobody who judges, and no workspace."""

    def __init__(self, attempt: Attempt, say: Say) -> None:
        super().__init__(attempt, guard=_no_guard)
        self._say: Final = say

    @property
    def hands(self) -> Hands:
        """Refused: what is done with hands has to be judged."""
        raise _missing(self._attempt, "hands")

    def spend(self, *, usd: float | None = None, tokens: int = 0, calls: int = 0) -> None:
        """As anywhere; what is no amount is refused here, where the tool hears of it."""
        super().spend(usd=usd, tokens=tokens, calls=calls)
        self._say({"spend": {"usd": usd, "tokens": tokens, "calls": calls}})


def _no_guard(attempt: Attempt) -> Guard:
    raise _missing(attempt, "guard")


def _missing(attempt: Attempt, what: str) -> ToolFailure:
    return ToolFailure(
        "invalid",
        f"{attempt.call.name} has isolate=True, and there is no context.{what} in a process of its own: leave isolate "
        "out, or hand in as arguments what it works on, and declare what it touches",
    )


def _perform(request: Mapping[str, Any], say: Say) -> Outcome:
    def report(fraction: float, message: str) -> None:
        say({"progress": [fraction, str(message)]})

    try:
        found = _tool_at(request["address"], request["name"])
        context = Apart(replace(attempt_from(request), report=report), say)
        bound = found.bind(request["arguments"], context)
    except Exception as error:  # noqa: BLE001  whatever a module does while it is imported
        return Outcome(exit="failure", failure=failure_of(error))
    return asyncio.run(awaited(found, bound)) if found.is_async else called(found, bound)


def _tool_at(address: str, name: str) -> AnyTool:
    """The tool at `module:name`, also if only its function has that name there."""
    module, _, path = address.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    if is_tool(found):
        return found
    if callable(found):
        return tool(name=name)(found)
    raise ToolFailure("invalid", f"{address} is not there in a process of its own")
