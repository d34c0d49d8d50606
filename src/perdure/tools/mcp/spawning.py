"""Starting the command of a server, in a sandbox: the one place that does.

A server sees the system's programs, its own, and what the user's file says; it has no home but an empty one, no network
but the hosts that are named, and nothing of our environment. It is gone with all it has started when the connection is.
Where the user's settings have lowered the sandbox, they have done so for servers as for commands.
"""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from perdure.tools.hands import Hands, Tier
from perdure.tools.mcp.errors import Unreachable
from perdure.tools.mcp.gating import gate_for
from perdure.tools.mcp.servers import Server
from perdure.tools.mcp.toolchain import INSIDE, Toolchain, toolchain_of
from perdure.tools.net import Proxy
from perdure.tools.sandbox import Bind, Command, Sandboxed, available, spawn
from perdure.tools.sandbox.outlet import needed

BUFFER: Final = 256 * 1024
"""Bytes that are read ahead of whoever reads."""
GRACE: Final = 1.0
"""Seconds to end by itself once nobody talks to it any more."""
TAIL: Final = 1_000
"""Bytes of what it printed last that a failure shows."""
_PROXIED: Final = {"NO_PROXY": "", "no_proxy": ""}
"""Also what is on this machine is reached through the proxy: inside there is nobody to talk to."""
ADDRESS: Final = 'look at its address; one behind your own walls is named by itself, as `url` or in "network" beside it'
FETCHERS: Final = ("npx", "bunx", "pnpx", "uvx", "pipx")


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
async def spawned(server: Server, env: Mapping[str, str], hands: Hands) -> AsyncGenerator[Spawned]:
    """A server's process. `Unreachable` if it cannot be started, `SandboxUnavailable` if it could not be kept in."""
    await available(hands)
    with _scratch(hands) as scratch:
        process = await spawn(command_for(server, env, hands, scratch), BUFFER)
        running = _Running(process)
        reading = asyncio.create_task(running.keep_tail())
        try:
            yield running
            await _farewell(process)
        finally:
            await process.close()
            rest = asyncio.create_task(_drained(process.stdout))
            await asyncio.wait([reading, rest], timeout=GRACE)
            reading.cancel()
            rest.cancel()


@contextmanager
def _scratch(hands: Hands) -> Generator[tuple[Path, ...]]:
    """An empty home where the sandbox has none of its own."""
    if hands.tier == "bwrap":
        yield ()
        return
    with tempfile.TemporaryDirectory(prefix="perdure-", ignore_cleanup_errors=True) as made:
        yield (Path(made).resolve(),)


def command_for(server: Server, env: Mapping[str, str], hands: Hands, scratch: tuple[Path, ...] = ()) -> Command:
    """What is run, and all of the world that it sees; `scratch` is its home, if it has to be given one."""
    search = env.get("PATH") or os.environ.get("PATH") or INSIDE
    try:
        tools = toolchain_of(server.command, search)
    except FileNotFoundError as error:
        raise _not_there(server, str(error)) from error
    home = {word: str(each) for each in scratch for word in ("HOME", "TMPDIR")}
    return Command(
        tools.argv,
        binds=[*_binds(server, tools), *(Bind(each, writable=True) for each in scratch)],
        env={**_PROXIED, **home, **env, "PATH": tools.path},
        network=way_out(server, hands.tier),
        cwd=server.cwd,
        tier=hands.tier,
    )


def way_out(server: Server, tier: Tier) -> Proxy | None:
    """The proxy that lets a server reach the hosts that the user's file names, and no others.

    In the tier `none` nothing holds it to them, and in `landlock` there is no network to reach them by.
    """
    if not server.network or tier == "none":
        return None
    if tier == "landlock":
        raise _not_there(server, "it names hosts, and the tier `landlock` has no way out")
    return Proxy(gate_for(server))


def _binds(server: Server, tools: Toolchain) -> Iterator[Bind]:
    read = (*tools.seen, *server.read, *([server.cwd] if server.cwd else []))
    for path in (*read, *server.write):
        if not path.exists():
            raise _not_there(server, f"there is no {path}")
    yield from needed() if server.network else ()
    yield from (Bind(path) for path in read if path not in server.write)
    yield from (Bind(path, writable=True) for path in server.write)


def _not_there(server: Server, why: str) -> Unreachable:
    return Unreachable(f'the MCP server "{server.name}" cannot be started: {why}', "look at its entry in mcp.json")


def hint_for(server: Server) -> str:
    """What may help with a server that cannot be used."""
    if server.command and Path(server.command[0]).name in FETCHERS:
        return f"{server.command[0]} fetches a program each time; install it, and write the installed program"
    reaching = 'it runs in a sandbox: what it has to reach is named by "read", "write" and "network"'
    return reaching if server.command else ADDRESS


@dataclass
class _Running:
    process: Sandboxed
    tail: bytearray = field(default_factory=bytearray)

    @property
    def stdin(self) -> asyncio.StreamWriter:
        return self.process.stdin

    @property
    def stdout(self) -> asyncio.StreamReader:
        return self.process.stdout

    @property
    def last_words(self) -> str:
        return self.tail.decode("utf-8", "replace").strip()

    async def keep_tail(self) -> None:
        """It is read all the time, or the server would wait for us."""
        while more := await self.process.stderr.read(65_536):
            self.tail += more
            del self.tail[:-TAIL]


async def _drained(stream: asyncio.StreamReader) -> None:
    """What nobody wants to read any more; a pipe that still holds something is not let go of."""
    while await stream.read(BUFFER):
        pass


async def _farewell(process: Sandboxed) -> None:
    """Hang up and let it put its things in order."""
    with contextlib.suppress(OSError, RuntimeError, TimeoutError):
        process.stdin.close()
        await asyncio.wait_for(process.wait(), GRACE)
