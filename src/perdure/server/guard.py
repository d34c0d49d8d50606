"""The guard: all that comes in over HTTP goes through it first, and what it does not know it refuses.

Laws, held by the tests:

1. The head is looked at before anything else: one way to write it, a host of ours, no page of a stranger's.
2. Nothing is looked up, and no body is read, for somebody without a valid key or session. What is open to everybody
   says so itself, and is only read.
3. Each route has one scope, and one without is closed to all.
4. A cookie changes something only from a page of ours.
5. Every answer has the same shields, also one that refuses.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, cast

from starlette.routing import BaseRoute, Match

from perdure.server.asgi import App, Receive, Scoped, Send
from perdure.server.callers import CALLER, Caller
from perdure.server.doors import Doors
from perdure.server.entrance import Entrance, Visit
from perdure.server.errors import RequestError
from perdure.server.head import Head, head_of
from perdure.server.opening import PLACES, opened
from perdure.server.problems import problem
from perdure.server.refusing import LinkIsOver, Refusal, TooMany
from perdure.server.scopes import OPEN, Scope, scope_for
from perdure.server.shielding import shielded
from perdure.server.taking import again, taken

_STREAM: Final = b"text/event-stream"
_UNKNOWN: Final[Scope] = "read"
"""What an address needs at which there is nothing: whoever may look may know that."""
_CLOSE: Final = 4403


class Guard:
    """An app, and who is let into it."""

    def __init__(self, app: App, routes: Sequence[BaseRoute], doors: Doors, entrance: Entrance | None = None) -> None:
        self._app: Final = app
        self._routes: Final = routes
        self.doors: Final = doors
        self.entrance: Final = entrance or Entrance()

    async def __call__(self, scope: Scoped, receive: Receive, send: Send) -> None:
        """Let a request in, or answer why not."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._guarded(scope, receive, shielded(send))
        else:  # nothing of ours speaks anything else
            await send({"type": "websocket.close", "code": _CLOSE})

    async def _guarded(self, scope: Scoped, receive: Receive, send: Send) -> None:
        try:
            await self._let_in(scope, receive, send)
        except RequestError as error:
            headers = error.headers if isinstance(error, Refusal) else None
            await problem(error, headers)(scope, receive, send)

    async def _let_in(self, scope: Scoped, receive: Receive, send: Send) -> None:
        head = head_of(scope)
        need = _need_of(self._routes, scope)
        is_door, is_open = head.path in PLACES, need == OPEN and head.is_safe
        self.doors.names.check(head, is_public=is_open or is_door)
        if is_door:
            await self._open(scope, head, receive, send)
        elif is_open:
            await self._app(scope, again(b"", receive), send)
        else:
            caller = self.doors.let_in(head, await self._known(head), cast("Scope | None", need))
            await self._work(scope, head, caller, receive, send)

    async def _known(self, head: Head) -> Caller | None:
        caller = self.doors.caller(head)
        if caller is None:
            await self.entrance.guess()
        return caller

    async def _open(self, scope: Scoped, head: Head, receive: Receive, send: Send) -> None:
        body = await taken(head, receive, _SHORT)
        try:
            answer = await opened(self.doors, head, body or b"")
        except LinkIsOver:
            await self.entrance.guess()
            raise
        await answer(scope, receive, send)

    async def _work(self, scope: Scoped, head: Head, caller: Caller, receive: Receive, send: Send) -> None:
        with self.entrance.inside() as visit:
            body = await taken(head, receive)
            if body is None:
                return  # nobody is there any more
            scope.setdefault("state", {})[CALLER] = caller

            async def send_on(message: Any) -> None:
                if not self._goes_on(visit, head, message):
                    visit.end()
                    await asyncio.sleep(0)  # the end comes here
                await send(message)

            try:
                await self._app(scope, again(body, receive), send_on)
            except asyncio.CancelledError:
                if not visit.is_ended:
                    raise
                visit.forgive()
                if not visit.is_stream:
                    raise TooMany("too many streams are open", "close one; a stream can follow many runs") from None
                await send({"type": "http.response.body", "body": b""})

    def _goes_on(self, visit: Visit, head: Head, message: Any) -> bool:
        """Whether there is room for a stream, and whoever follows it still may."""
        if _begins_stream(message):
            return visit.become_stream()
        return not visit.is_stream or self.doors.caller(head) is not None


_SHORT: Final = 1_000
"""Bytes of a body that has a code in it."""


def _need_of(routes: Sequence[BaseRoute], scope: Scoped) -> str | None:
    """What a request needs. HEAD needs what GET does."""
    seen = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
    found = scope_for(routes, seen)
    if found is None and not any(each.matches(seen)[0] == Match.FULL for each in routes):
        return _UNKNOWN
    return found


def _begins_stream(message: Any) -> bool:
    if message["type"] != "http.response.start":
        return False
    return any(name.lower() == b"content-type" and value.startswith(_STREAM) for name, value in message["headers"])
