"""What is said to a server that is connected: which tools it has, and a call of one."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import mcp_types as types
from mcp import MCPError
from mcp.client import Client
from pydantic import RootModel, ValidationError

from perdure.core.calls import Repeat
from perdure.plan.raw import Raw, is_mapping
from perdure.plan.sayings import sentence
from perdure.tools.mcp.answers import doubt, failure_from
from perdure.tools.mcp.definition import MOST, Offer, offer_of
from perdure.tools.rulebook import CLOSED, LOST

LISTING: Final = 30.0
"""Seconds for a listing."""
FRESH: Final = 60.0
"""Seconds after which it is asked for again before a call: a server need not tell that it has changed."""
PAGES: Final = 100
KEY: Final = "perdure/idempotency-key"
"""Under which the key of a call goes along."""
Progress = Callable[[float, float | None, str | None], Coroutine[Any, Any, None]]
_GONE: Final = 404


class _Answer(RootModel[dict[str, Any]]):
    """Read as it is: the library would hold it to the server's own schema, with patterns that may take for ever."""


@dataclass
class Session:
    """A connection while it lasts."""

    server: str
    client: Client
    offer: Offer = field(default_factory=Offer)
    listed: float = 0.0
    stale: bool = True
    """Whether the server has said that its tools are others now."""

    @property
    def is_fresh(self) -> bool:
        """Whether what is known of its tools can be relied on."""
        return not self.stale and time.monotonic() - self.listed < FRESH

    def grow_stale(self) -> None:
        """The tools are others now."""
        self.stale = True

    async def listing(self) -> Offer:
        """Ask for the tools."""
        self.stale = False
        async with asyncio.timeout(LISTING):
            listed = await self._pages()
        self.offer = await asyncio.to_thread(offer_of, self.server, listed)
        self.listed = time.monotonic()
        return self.offer

    async def _pages(self) -> list[Raw]:
        listed: list[Raw] = []
        cursor: str | None = None
        for _ in range(PAGES):
            params = types.PaginatedRequestParams(cursor=cursor) if cursor else None
            page = await self.client.session.list_tools(params=params)
            listed += [each.model_dump(by_alias=True, mode="json", exclude_unset=True) for each in page.tools]
            cursor = page.next_cursor
            if not cursor or len(listed) > MOST:
                break
        return listed

    async def call(self, tool: str, arguments: Mapping[str, Any], key: str, progress: Progress) -> Raw:
        """Call a tool by the server's name of it; what it answered."""
        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments), _meta={KEY: key})  # pyright: ignore[reportArgumentType]
        request = types.CallToolRequest(params=params)
        return (await self.client.session.send_request(request, _Answer, progress_callback=_named(progress))).root


def _named(progress: Progress) -> Any:
    """As the library wants it to be typed."""
    return progress


def failure_of_call(error: Exception, why: str, repeat: Repeat) -> Exception:
    """What an exception out of a call means; `why` is what is known of a connection that was lost."""
    match error:
        case MCPError():
            return failure_from(error.code, why or error.message, error.data, repeat)
        case ValidationError() | RecursionError():
            return doubt(f"the answer is none: {first_line(error)}", repeat)
        case _:
            return error


def is_lost(error: Exception) -> bool:
    """Whether the session has to be begun anew."""
    if not isinstance(error, MCPError):
        return False
    return error.code in (CLOSED, LOST) or (is_mapping(error.data) and error.data.get("status") == _GONE)


def first_line(error: BaseException) -> str:
    """What an exception says, in short."""
    if isinstance(error, ValidationError):
        return sentence(error.errors(include_url=False, include_context=False, include_input=False)[0])
    return (str(error) or type(error).__name__).partition("\n")[0]
