"""What `perdure serve` has beside the API: MCP over HTTP, where the library for it is installed."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Any

from perdure.engine import Engine
from perdure.world import World


@asynccontextmanager
async def beside(engine: Engine, world: World) -> AsyncGenerator[dict[str, Any]]:
    """Apps by their path."""
    if find_spec("mcp") is None:
        yield {}
        return
    from perdure.mcp import ByEngine, server_of  # noqa: PLC0415  it needs what may not be installed
    from perdure.mcp.http import PATH, over_http  # noqa: PLC0415  as above

    async with over_http(server_of(ByEngine(engine), world, _caller)) as app:
        yield {PATH: app}


def _caller(context: Any) -> Any:
    """Whoever the guard has let in, with what their key is good for."""
    from perdure.mcp import Caller  # noqa: PLC0415  as above
    from perdure.mcp.scopes import via  # noqa: PLC0415  as above
    from perdure.server.callers import caller_of  # noqa: PLC0415  as above

    known = caller_of(context.request_context.request)
    return Caller(via(known.name, context), frozenset(known.scopes))
