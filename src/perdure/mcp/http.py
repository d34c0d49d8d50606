"""The server over HTTP: an app for whoever stands at the door, and asks there who it is."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

PATH = "/mcp"
GUARDED = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""Hosts and origins are looked at by the guard before us."""


@asynccontextmanager
async def over_http(server: MCPServer[Any]) -> AsyncGenerator[Any]:
    """An ASGI app that speaks MCP as long as the block lasts."""
    server.streamable_http_app(transport_security=GUARDED)
    begun, over = asyncio.Event(), asyncio.Event()

    async def speak() -> None:  # in a task of its own: what goes wrong in the block is not wrapped in a group then
        async with server.session_manager.run():
            begun.set()
            await over.wait()

    speaking = asyncio.create_task(speak())
    await begun.wait()
    try:
        yield server.session_manager.handle_request
    finally:
        over.set()
        await speaking
