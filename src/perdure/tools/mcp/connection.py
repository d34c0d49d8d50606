"""One server, connected when it is first needed, by a task that owns the connection and alone may end it."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any, Final, cast

import mcp_types as types
from mcp.client import Client

from perdure.core.calls import Repeat
from perdure.errors import PerdureError
from perdure.plan.raw import Raw
from perdure.plan.visible import visible
from perdure.tools.failure import ToolFailure
from perdure.tools.hands import Hands
from perdure.tools.mcp.definition import Offer
from perdure.tools.mcp.errors import Unreachable
from perdure.tools.mcp.gating import gate_for
from perdure.tools.mcp.references import Values
from perdure.tools.mcp.remote import over_http
from perdure.tools.mcp.servers import Server
from perdure.tools.mcp.session import Progress, Session, failure_of_call, first_line, is_lost
from perdure.tools.mcp.spawning import hint_for, spawned
from perdure.tools.mcp.wire import over_pipes

CONNECTING: Final = 30.0
"""Seconds for a server to start, to agree on a protocol and to list its tools."""
CLOSING: Final = 5.0
"""Seconds to end a connection in order."""
GIVING_UP: Final = 1.0
"""Seconds to wait for a connection that is to be ended before it has begun."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds to stay away from a server that fails; they double each time."""
SETTLED: Final = 10.0
"""Seconds after which a server counts as one that works."""
WORDS: Final = 300
for _name in ("mcp", "client"):  # what the library says of servers is said on no terminal unless somebody asks for it
    logging.getLogger(_name).addHandler(logging.NullHandler())

Ready = asyncio.Future[Session]


class Connection:
    """A server that is there when somebody asks. May be used from any task of one event loop."""

    def __init__(self, server: Server, values: Values, hands: Hands, seen: Callable[[Offer], None]) -> None:
        self.server: Final = server
        self._values: Final = values
        self._hands: Final = hands
        self._seen: Final = seen
        """Told of every listing before anybody can rely on it."""
        self._turn: Final = asyncio.Lock()
        self._owner: asyncio.Task[None] | None = None
        self._ready: Ready | None = None
        self._stale: Callable[[], None] = lambda: None
        """Called when the server says that its tools are others now."""
        self._leave = asyncio.Event()
        self._why = ""
        """Why the last connection ended, if nobody wanted it to."""
        self._pause = 0.0
        self._not_before = 0.0

    async def offer(self) -> Offer:
        """The tools as the server has listed them just now, or nearly."""
        async with self._turn:
            session = await self._connected()
            if not session.is_fresh:
                await self._list_again(session)
            return session.offer

    async def call(self, tool: str, arguments: Mapping[str, Any], key: str, repeat: Repeat, progress: Progress) -> Raw:
        """Call a tool by the server's name of it; what it answered. `ToolFailure` of the right kind if it did not."""
        async with self._turn:
            session = await self._connected()
        try:
            return await session.call(tool, arguments, key, progress)
        except Exception as error:
            if is_lost(error):
                self._leave.set()
            raise failure_of_call(error, self._why, repeat) from error

    async def close(self) -> None:
        """End the connection. Another call would connect anew."""
        async with self._turn:
            await self._ended()

    # ------------------------------------------------------------ for those whose turn it is

    async def _connected(self) -> Session:
        """Who is cancelled while it waits leaves the others waiting, and the connection to come."""
        if self._ready is None or self._leave.is_set():
            await self._ended()
            self._refuse_hurry()
            self._begin()
        assert self._ready is not None  # noqa: S101  for the types
        return await asyncio.shield(self._ready)

    def _refuse_hurry(self) -> None:
        left = self._not_before - time.monotonic()
        if left > 0:
            message = f'the MCP server "{self.server.name}" has just failed: {self._why}'
            raise ToolFailure("unavailable", message, retry_after=round(left, 3))

    def _begin(self) -> None:
        self._leave, self._why = asyncio.Event(), ""
        self._ready = asyncio.get_running_loop().create_future()
        self._ready.add_done_callback(lambda done: done.cancelled() or done.exception())  # also if nobody waits
        self._owner = asyncio.create_task(self._own(self._ready), name=f"mcp:{self.server.name}")

    async def _ended(self) -> None:
        self._leave.set()
        owner, ready, self._owner, self._ready = self._owner, self._ready, None, None
        if owner is not None:
            is_there = ready is not None and ready.done()
            if not (await asyncio.wait([owner], timeout=CLOSING if is_there else GIVING_UP))[0]:
                owner.cancel()
                await asyncio.wait([owner], timeout=CLOSING)

    async def _list_again(self, session: Session) -> None:
        try:
            self._seen(await session.listing())
        except PerdureError:
            raise
        except Exception as error:
            self._leave.set()
            raise self._unreachable(f"it does not list its tools: {_reason(error)}") from error

    # ------------------------------------------------------------ for the owner

    async def _own(self, ready: Ready) -> None:
        """Enter and leave the connection in one task; the library insists on it, and so does order."""
        began = time.monotonic()
        try:
            async with (
                asyncio.timeout(CONNECTING) as limit,
                self._streams() as streams,
                self._client(streams) as client,
            ):
                session = Session(self.server.name, client)
                self._stale = session.grow_stale
                self._seen(await session.listing())
                limit.reschedule(None)
                ready.set_result(session)
                await self._leave.wait()
                limit.reschedule(asyncio.get_running_loop().time() + CLOSING)
        except BaseException as error:  # noqa: BLE001  whatever it is: who waits is told, and the server is gone
            self._tell(_innermost(error), ready)
        finally:
            self._leave.set()
            self._note_pause(time.monotonic() - began)

    @asynccontextmanager
    async def _streams(self) -> AsyncGenerator[Any]:
        server = self.server
        if server.url:
            async with over_http(server.url, self._filled(server.headers), gate_for(server)) as streams:
                yield streams
            return
        async with spawned(server, self._filled(server.env), self._hands) as process:

            def lost(why: str) -> None:
                words = visible(process.last_words, WORDS)
                self._why = self._why or (f"{why} ({words})" if words else why)
                self._leave.set()

            async with over_pipes(process, lost) as streams:
                yield streams

    def _filled(self, given: Mapping[str, str]) -> dict[str, str]:
        return {name: self._values.fill(each, f"{self.server.name}: {name}") for name, each in given.items()}

    def _client(self, streams: Any) -> Client:
        us = types.Implementation(name="perdure", version=import_module("perdure").__version__)
        return Client(_Handed(streams), cache=None, message_handler=self._heard, client_info=us)

    async def _heard(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._stale()

    def _tell(self, error: BaseException, ready: Ready) -> None:
        self._why = self._why or _reason(error)
        if not ready.done():
            ready.set_exception(error if isinstance(error, PerdureError) else self._unreachable(self._why))

    def _unreachable(self, why: str) -> Unreachable:
        message = f'the MCP server "{self.server.name}" cannot be used: {why}'
        return Unreachable(message, hint_for(self.server))

    def _note_pause(self, lived: float) -> None:
        """A server that keeps failing is left alone for longer and longer."""
        self._pause = 0.0 if lived > SETTLED or not self._why else min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * self._pause))
        self._not_before = time.monotonic() + self._pause


class _Handed:
    """Streams that are open already, as the library wants to be handed them."""

    def __init__(self, streams: Any) -> None:
        self._streams = streams

    async def __aenter__(self) -> Any:
        return self._streams

    async def __aexit__(self, *_: object) -> None:
        pass


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def _reason(error: BaseException) -> str:
    match error:
        case TimeoutError():
            return f"it did not answer within {CONNECTING:g} seconds"
        case asyncio.CancelledError():
            return "it was given up"
        case _:
            return visible(first_line(error), WORDS)
