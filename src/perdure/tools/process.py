"""A tool in a process of its own: started anew for each call, killed when nobody waits for it any more."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from perdure.core.calls import Call, Failure, Outcome
from perdure.ports import Attempt
from perdure.tools.context import Context
from perdure.tools.failure import kept
from perdure.tools.tool import AnyTool
from perdure.tools.values import as_json_text

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a result."""
TAIL: Final = 1_000
"""Bytes of what it printed last that a failure shows."""
HIDDEN: Final = "PERDURE_SECRET_"
"""What the names of variables begin with that hold a secret."""
GRACE: Final = 1.0
"""Seconds to end by itself after the result is there."""
_BEGIN: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from perdure.tools.child import main; main()"
)
"""The child finds modules where its parent does, and nothing else of the parent reaches it but the request."""


async def in_process(tool: AnyTool, attempt: Attempt, context: Context) -> Outcome:
    """Call a tool in a process of its own. When this is cancelled, the process is killed."""
    try:
        transport, process = await _started()
    except OSError as error:
        return Outcome.failed("unavailable", kept(f"no process could be started: {error}"))
    tail = bytearray()
    reading = asyncio.create_task(_keep_tail(process, tail))
    try:
        await _ask(process, _request(tool, attempt, context))
        return await _outcome(process, context) or await _died(process, reading, tail)
    finally:
        _kill(process)
        transport.close()  # else somebody who still holds the other end of a pipe would be waited for
        await process.wait()
        reading.cancel()


async def _started() -> tuple[asyncio.SubprocessTransport, Process]:
    """As `create_subprocess_exec`, which keeps the transport, and with it the means to close the pipes, to itself."""
    loop = asyncio.get_running_loop()
    paths = json.dumps([each for each in sys.path if isinstance(each, str)])
    transport, protocol = await loop.subprocess_exec(
        lambda: SubprocessStreamProtocol(LARGEST, loop),
        sys.executable, "-P", "-c", _BEGIN, paths,
        stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True, env=_environment(),
    )  # fmt: skip
    return transport, Process(transport, protocol, loop)


def _environment() -> dict[str, str]:
    """Without the secrets that the engine was started with: a tool is given those that a plan names."""
    return {name: value for name, value in os.environ.items() if not name.startswith(HIDDEN)}


def _request(tool: AnyTool, attempt: Attempt, context: Context) -> bytes:
    known = {"run": attempt.run, "step": attempt.step, "visit": attempt.visit, "number": attempt.number}
    return as_json_text(
        {
            "parent": os.getpid(),
            "name": tool.name,
            "address": tool.address,
            "attempt": {**known, "key": attempt.key, "seconds": context.seconds_left},
            "arguments": attempt.call.arguments,
        }
    )


async def _ask(process: Process, request: bytes) -> None:
    assert process.stdin is not None  # noqa: S101  for the types
    with contextlib.suppress(ConnectionError):  # it may be dead already; that is seen below
        process.stdin.write(request)
        await process.stdin.drain()
    process.stdin.close()


async def _outcome(process: Process, context: Context) -> Outcome | None:
    """What the child says at last; None if it dies without a word."""
    assert process.stdout is not None  # noqa: S101  for the types
    try:
        while (line := await process.stdout.readline()).endswith(b"\n"):
            told: Mapping[str, Any] = json.loads(line)
            if "progress" in told:
                context.progress(*told["progress"])
            elif "spend" in told:
                context.spend(**told["spend"])
            else:
                await _end(process)
                return outcome_from(told)
    except ValueError:
        return Outcome.failed("invalid", f"the result is larger than {LARGEST:,} bytes")
    return None


def outcome_from(told: Mapping[str, Any]) -> Outcome:
    """An outcome as the child wrote it."""
    if told["failure"] is None:
        return Outcome(told["output"])
    from perdure.tools.signs import Told  # noqa: PLC0415  few calls fail

    return Outcome(exit="failure", failure=msgspec.convert(told["failure"], Told))


async def _end(process: Process) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), GRACE)


async def _died(process: Process, reading: "asyncio.Task[None]", tail: bytearray) -> Outcome:
    await asyncio.wait([reading], timeout=GRACE)
    await _end(process)
    shown = tail.decode("utf-8", "replace").strip()
    message = kept(f"the process of the tool {_how(process)}" + (f": {shown}" if shown else ""))
    return Outcome(exit="failure", failure=_death(process.returncode, message))


def _death(returned: int | None, message: str) -> Failure:
    from perdure.tools.rulebook import DIED  # noqa: PLC0415  few calls fail
    from perdure.tools.signs import Signs, Told, ended  # noqa: PLC0415  few calls fail

    code, signal_ = ended(returned)
    return Told("", message, signs=Signs(exit_code=code, signal=signal_, errors=(DIED,), message=message))


def _how(process: Process) -> str:
    code = process.returncode
    if code is None:
        return "hung up"
    return f"was ended by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code} and no result"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


async def _keep_tail(process: Process, tail: bytearray) -> None:
    """The last bytes the process prints. They are read all the time, or it would wait for us."""
    assert process.stderr is not None  # noqa: S101  for the types
    while more := await process.stderr.read(65_536):
        tail += more
        if len(tail) > TAIL:  # from the beginning of a line, if there is one: half a secret would not be known as one
            start = tail.find(b"\n", -TAIL) + 1
            del tail[: start or -TAIL]


def _kill(process: Process) -> None:
    """The process and all it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def attempt_from(request: Mapping[str, Any]) -> Attempt:
    """The attempt a request tells of."""
    return Attempt(call=Call("tool", request["name"], request["arguments"]), **request["attempt"])
