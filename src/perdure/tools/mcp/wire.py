"""Messages over the standard streams of a process, as lines of JSON: bounded in length, in number and in nonsense.

The library's own transport starts processes by itself and reads lines of any length; a server may come from a stranger.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from perdure.tools.mcp.spawning import Spawned

LONGEST: Final = 8 * 1024 * 1024
"""Bytes of one message."""
NONSENSE: Final = 100
"""Lines that are no messages; servers print things by mistake."""
FLOOD: Final = 20_000
"""Messages within a window."""
WINDOW: Final = 10.0
_CHUNK: Final = 64 * 1024

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


class Misbehaved(Exception):
    """The server does what no server may; the text says what."""


@dataclass
class Meter:
    """Counts what comes in."""

    nonsense: int = 0
    seen: int = 0
    since: float = field(default_factory=time.monotonic)

    def count(self) -> None:
        """One more message."""
        self.seen += 1
        if self.seen <= FLOOD:
            return
        now = time.monotonic()
        if now - self.since < WINDOW:
            raise Misbehaved(f"it sent more than {FLOOD:,} messages within {WINDOW:g} seconds")
        self.seen, self.since = 0, now

    def stray(self) -> None:
        """One more line that is no message."""
        self.nonsense += 1
        if self.nonsense > NONSENSE:
            raise Misbehaved(f"it sent more than {NONSENSE} lines that are no messages")


@asynccontextmanager
async def over_pipes(process: Spawned, lost: Callable[[str], None]) -> AsyncGenerator[Streams]:
    """The streams of a session. `lost` is told once, when nothing more can come, and why."""
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_hear(process, incoming, lost)),
        asyncio.create_task(_say(process, outgoing, incoming)),
    ]
    try:
        yield read, write
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for stream in (incoming, read, write, outgoing):
            stream.close()


async def _hear(process: Spawned, incoming: Incoming, lost: Callable[[str], None]) -> None:
    """Hand on what the server says, until it hangs up or misbehaves."""
    meter, why = Meter(), "it hung up"
    try:
        async for line in _lines(process.stdout):
            meter.count()
            message = _message(line)
            if message is None:
                meter.stray()
            else:
                await incoming.send(SessionMessage(message))
    except Misbehaved as refusal:
        why = str(refusal)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        why = "the connection broke"
    lost(why)  # not when we are the ones who leave
    incoming.close()


def _message(line: bytes) -> Any:
    if not line.strip():
        return None
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except (ValueError, RecursionError):
        return None


async def _lines(stream: asyncio.StreamReader) -> AsyncGenerator[bytes]:
    """Lines, each within bounds; an unfinished last one is none."""
    rest = bytearray()
    while more := await stream.read(_CHUNK):
        start = 0
        while (end := more.find(b"\n", start)) >= 0:
            rest += more[start:end]
            _refuse_long(rest)
            yield bytes(rest)
            rest.clear()
            start = end + 1
        rest += more[start:]
        _refuse_long(rest)


def _refuse_long(line: bytearray) -> None:
    if len(line) > LONGEST:
        raise Misbehaved(f"it sent a message of more than {LONGEST:,} bytes")


async def _say(process: Spawned, outgoing: MemoryObjectReceiveStream[SessionMessage], incoming: Incoming) -> None:
    """Hand on what we say. A server that cannot be written to any more is lost, even if it still talks."""
    try:
        async for each in outgoing:
            text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode("utf-8", "surrogatepass") + b"\n")
            await process.stdin.drain()
    except (OSError, ValueError):
        with contextlib.suppress(anyio.ClosedResourceError):
            incoming.close()
