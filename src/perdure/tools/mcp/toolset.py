"""Tools of MCP servers as tools of ours: what was approved can be called, anything else is refused."""

import os
import time
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from perdure.errors import PerdureError
from perdure.plan.problems import did_you_mean
from perdure.plan.visible import visible
from perdure.tools.context import Context
from perdure.tools.declaring import Declaration
from perdure.tools.failure import ToolFailure
from perdure.tools.given import Given
from perdure.tools.hands import Hands, Tier
from perdure.tools.mcp.answers import value_of
from perdure.tools.mcp.definition import Definition, Offer, difference
from perdure.tools.mcp.errors import CHANGED, UNAPPROVED, NotInstalled, UnknownServer
from perdure.tools.mcp.pins import Pins, Standing
from perdure.tools.mcp.reading import read_servers
from perdure.tools.mcp.references import Values
from perdure.tools.mcp.servers import Server
from perdure.tools.tool import AnyTool, Tool

OFTEN: Final = 0.1
"""Seconds between two reports of progress that are handed on."""
LIBRARY: Final = ("mcp", "mcp_types", "httpx2", "httpcore2", "anyio")
LINES: Final = 40
"""Lines of a difference that a refusal shows."""


class Toolset:
    """The servers of a file and what is known of their tools. Nothing is started before it is needed."""

    def __init__(
        self, servers: Mapping[str, Server], pins: Pins, values: Values | None = None, tier: Tier = "bwrap"
    ) -> None:
        self.servers: Final = servers
        self.pins: Final = pins
        self._values: Final = values or Values()
        self._hands: Final = Hands(Path("/"), pins.path.parent.absolute(), tier)
        self._connections: dict[str, Any] = {}

    def tools(self) -> tuple[AnyTool, ...]:
        """Every tool that some server was seen to have, also those that are not approved: they say so when called."""
        return tuple(self._known())

    def _known(self) -> Iterator[AnyTool]:
        for name, server in self.servers.items():
            for tool, pin in self.pins.of(name).items():
                if definition := pin.approved or pin.offered:
                    yield self._tool(server, tool, definition)

    def approved(self) -> Iterator[tuple[AnyTool, Standing]]:
        """The tools that a person has approved, in the words that were approved, and how they stand."""
        for name, server in self.servers.items():
            for tool, pin in self.pins.of(name).items():
                if pin.approved is not None:
                    yield self._tool(server, tool, pin.approved), pin.standing

    def unseen(self) -> list[str]:
        """Servers that were never asked for their tools."""
        return [name for name in self.servers if not self.pins.knows(name)]

    async def look(self, server: str) -> Offer:
        """Ask a server for its tools, and note what it offers."""
        if server not in self.servers:
            hint = did_you_mean(server, self.servers)
            raise UnknownServer(f'there is no MCP server "{server}"', hint or "name one in the file of servers")
        return await self._connection(server).offer()

    async def close(self) -> None:
        """End all connections. Another call would connect anew."""
        while self._connections:
            _, connection = self._connections.popitem()
            await connection.close()

    def _connection(self, server: str) -> Any:
        if server not in self._connections:
            seen = partial(self.pins.see, server)
            self._connections[server] = connections().Connection(self.servers[server], self._values, self._hands, seen)
        return self._connections[server]

    # ------------------------------------------------------------ one tool

    def _tool(self, server: Server, name: str, definition: Definition) -> AnyTool:
        trust = server.trusted(definition.name)

        async def call(arguments: dict[str, Any], context: Context) -> Any:
            self._refuse_unapproved(server, name, definition)
            if server.command:
                context.kept_in(self._hands.tier)
            await self._check(server, name, definition)
            connection = self._connection(server.name)
            told = _Reporting(context).told
            return value_of(await connection.call(definition.name, arguments, context.key, trust.repeat, told))

        call.__module__, call.__qualname__ = "mcp", server.name  # where people are told that it comes from
        declared = Declaration(effects=trust.effects, hosts=server.hosts, origin=f"mcp:{server.name}")
        signature = Given(definition.inputs, definition.returns, {"pinned": definition.digest})
        return Tool(name, call, definition.summary, signature, trust.repeat, timeout=server.timeout, declared=declared)

    async def _check(self, server: Server, name: str, definition: Definition) -> None:
        """Go on only if the server still says what was approved."""
        try:
            offer = await self._connection(server.name).offer()
        except PerdureError as error:
            raise ToolFailure("unavailable", f"{error.code}: {error.message}") from None
        offered = offer.tools.get(name)
        if offered is None:
            raise ToolFailure("unavailable", f'the MCP server "{server.name}" does not offer {name} any more')
        if offered.digest != definition.digest:
            raise _changed(server, name, definition, offered)

    def _refuse_unapproved(self, server: Server, name: str, definition: Definition) -> None:
        pin = self.pins.pin(server.name, name)
        approved = pin.approved
        if approved is None:
            raise ToolFailure(
                "denied",
                f'{UNAPPROVED}: {name} of the MCP server "{server.name}" was never approved; look at it and approve it '
                f"with: perdure mcp approve {server.name}",
            )
        if approved.digest != definition.digest:
            raise _changed(server, name, definition, approved)


def _changed(server: Server, name: str, old: Definition, new: Definition) -> ToolFailure:
    lines = difference(old, new)
    shown = "\n".join(lines[:LINES]) + ("\n…" if len(lines) > LINES else "")
    return ToolFailure(
        "denied",
        f"{CHANGED}: {name} is not what was approved; look at it and approve it anew with: "
        f"perdure mcp approve {server.name}\n{shown}",
        detail={"approved": old.digest, "offered": new.digest},
    )


class _Reporting:
    """Hands progress on, but not more often than anybody looks."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._last = 0.0

    async def told(self, progress: float, total: float | None, message: str | None) -> None:
        now = time.monotonic()
        if now - self._last >= OFTEN:
            self._last = now
            fraction = progress / total if total and total > 0 else 0.0
            self._context.progress(fraction, visible(message or "", 200))


def connections() -> Any:
    """What speaks to servers, loaded when one is first talked to; `NotInstalled` where the library is not there."""
    try:
        return import_module("perdure.tools.mcp.connection")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in LIBRARY:
            raise
        raise NotInstalled(
            "talking to MCP servers needs a library that is not installed", 'pip install "perdure[mcp]"'
        ) from error


@asynccontextmanager
async def mcp_tools(
    file: Path,
    pins: Path,
    *,
    secrets: Mapping[str, str] | None = None,
    servers: Collection[str] | None = None,
    tier: Tier = "bwrap",
) -> AsyncGenerator[tuple[AnyTool, ...]]:
    """The tools of the servers in a file, for `Engine.open(tools=...)`; connections end when this does.

    Servers that were never seen are asked for their tools now, and are on record as not approved. The others are
    connected when a tool of theirs is called. `servers` names those that are wanted, if not all are. `tier` is what
    they are kept in, as for the commands of an engine.
    """
    found = read_servers(file, (pins.parent,))
    wanted = {name: each for name, each in found.items() if servers is None or name in servers}
    toolset = Toolset(wanted, Pins(pins), Values(secrets or {}, os.environ), tier)
    try:
        for name in toolset.unseen():
            await toolset.look(name)
        yield toolset.tools()
    finally:
        await toolset.close()
