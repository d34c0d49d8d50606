"""Starting the command of a server. The one place that does: what keeps servers in is put in here."""

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from perdure.tools.mcp.servers import Server

BUFFER: Final = 256 * 1024
"""Bytes that are read ahead of whoever reads."""
GRACE: Final = 1.0
"""Seconds to end by itself once nobody talks to it any more."""
TAIL: Final = 1_000
"""Bytes of what it printed last that a failure shows."""
PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_BEGIN: Final = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); "
    "os.getppid() == int(sys.argv[1]) or os._exit(1); os.execvp(sys.argv[2], sys.argv[2:])"
)
"""Asks the kernel to kill it when we die, also if that has happened just now; then becomes the server."""


class Spawned(Protocol):
    """A server that was started."""

    @property
    def stdin(self) -> asyncio.StreamWriter: ...  # noqa: D102  as in a process
    @property
    def stdout(self) -> asyncio.StreamReader: ...  # noqa: D102  as in a process
    @property
    def last_words(self) -> str:
        """What it printed last, beside what it said."""
        ...


@asynccontextmanager
async def spawned(server: Server, env: Mapping[str, str]) -> AsyncGenerator[Spawned]:
    """A server's process, in a directory of its own; it is gone with all it has started when this ends."""
    with tempfile.TemporaryDirectory(prefix="perdure-mcp-") as home:
        transport, process = await _started(server, _environment(env, home), Path(home))
        running = _Running(process)
        reading = asyncio.create_task(running.keep_tail())
        try:
            yield running
        finally:
            await _end(process)
            transport.close()  # else somebody who still holds the other end of a pipe would be waited for
            await process.wait()
            reading.cancel()


def _environment(env: Mapping[str, str], home: str) -> dict[str, str]:
    """Nothing of ours reaches a server but what the file says."""
    path = os.environ.get("PATH") or PATH
    return {"PATH": path, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", **env}


async def _started(server: Server, env: Mapping[str, str], home: Path) -> tuple[asyncio.SubprocessTransport, Process]:
    """As `create_subprocess_exec`, which keeps the transport, and with it the means to close the pipes, to itself."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: SubprocessStreamProtocol(BUFFER, loop),
        sys.executable, "-I", "-S", "-c", _BEGIN, str(os.getpid()), *server.command,
        stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True, env=dict(env), cwd=server.cwd or home,
    )  # fmt: skip
    return transport, Process(transport, protocol, loop)


@dataclass
class _Running:
    process: Process
    tail: bytearray = field(default_factory=bytearray)

    @property
    def stdin(self) -> asyncio.StreamWriter:
        assert self.process.stdin is not None  # noqa: S101  for the types
        return self.process.stdin

    @property
    def stdout(self) -> asyncio.StreamReader:
        assert self.process.stdout is not None  # noqa: S101  for the types
        return self.process.stdout

    @property
    def last_words(self) -> str:
        return self.tail.decode("utf-8", "replace").strip()

    async def keep_tail(self) -> None:
        """It is read all the time, or the server would wait for us."""
        assert self.process.stderr is not None  # noqa: S101  for the types
        while more := await self.process.stderr.read(65_536):
            self.tail += more
            del self.tail[:-TAIL]


async def _end(process: Process) -> None:
    """Hang up, wait a little, then kill it with all it has started."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
