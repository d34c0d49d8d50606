"""Running commands in a sandbox to their end, or to the end of their time.

When `run` returns or raises, no process of the command is left: see `sandboxed`.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Final

from perdure.tools.sandbox.command import Command, Hear, Ran, Stream
from perdure.tools.sandbox.ending import GRACE
from perdure.tools.sandbox.errors import SandboxFailed
from perdure.tools.sandbox.keeping import Kept
from perdure.tools.sandbox.sandboxed import Sandboxed, spawn

CHUNK: Final = 65_536
WATCH: Final = 0.25
"""Seconds between looks at what a stage has grown to."""
Watch = Callable[[], str]
"""Says why a command must be ended now; empty: it may go on. Asked in a thread."""


async def run(command: Command, hear: Hear | None = None, watch: Watch | None = None) -> Ran:
    """Run a command to its end, or to the end of its time, and tell what came of it."""
    began = time.monotonic()
    process = await spawn(command)
    kept: dict[Stream, Kept] = {"stdout": Kept(command.limits.output), "stderr": Kept(command.limits.output)}
    talking = [
        asyncio.create_task(_listen(process.stdout, "stdout", kept, hear)),
        asyncio.create_task(_listen(process.stderr, "stderr", kept, hear)),
        asyncio.create_task(_say(process.stdin, command.stdin)),
    ]
    try:
        stopped = await _ended(process, command.seconds, watch)
        await process.end()
        await asyncio.wait(talking[:2], timeout=GRACE)
    finally:
        await process.close()
        for task in talking:
            task.cancel()
        await asyncio.gather(*talking, return_exceptions=True)
    code = 137 if stopped else process.code
    out, err = kept["stdout"], kept["stderr"]
    if not process.began:
        raise SandboxFailed(_why(err), "`perdure doctor` tells what is missing")
    took = time.monotonic() - began
    return Ran(code, out.data(), err.data(), out.truncated or err.truncated, took, command.tier, stopped)


async def _listen(reader: asyncio.StreamReader, name: Stream, kept: dict[Stream, Kept], hear: Hear | None) -> None:
    while more := await reader.read(CHUNK):
        kept[name].add(more)
        if hear is not None:
            hear(name, more)


async def _say(writer: asyncio.StreamWriter, text: bytes) -> None:
    with contextlib.suppress(ConnectionError):  # it may have closed its input, or ended
        writer.write(text)
        await writer.drain()
        writer.close()


async def _ended(process: Sandboxed, seconds: float | None, watch: Watch | None) -> str:
    """Wait for the end; why we have to make it ourselves, if we have to."""
    waiting = asyncio.ensure_future(process.wait())
    deadline = None if seconds is None else time.monotonic() + seconds
    try:
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            await asyncio.wait([waiting], timeout=left if watch is None else min(WATCH, left or WATCH))
            if waiting.done():
                return ""
            if watch is not None and (why := await asyncio.to_thread(watch)):
                return why
            if deadline is not None and time.monotonic() >= deadline:
                return "time"
    finally:
        waiting.cancel()


def _why(err: Kept) -> str:
    return (
        f"the sandbox could not be set up: {err.data().decode('utf-8', 'replace').strip()[:1000] or 'it said nothing'}"
    )
