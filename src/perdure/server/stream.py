"""A stream of events to one watcher (`text/event-stream`), from a number on and until they leave, or we do."""

import asyncio
from collections.abc import Collection
from typing import Final

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from perdure.server.following import Following

AGAIN: Final = 1_000
"""Milliseconds after which a watcher that was cut off should come back."""
STILL: Final = b": all is well\n\n"
HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Stream(Response):
    """What happens from now on. One page is in memory at a time, however far behind the watcher is."""

    media_type = "text/event-stream"

    def __init__(self, following: Following, after: int, runs: Collection[str]) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._following, self._after, self._runs = following, after, runs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  the signature of ASGI
        """Send until somebody leaves. Who does not take what is sent is cut off, and can come back for it."""
        await self._following.enter()
        gone = asyncio.ensure_future(_gone(receive))
        try:
            await self._send(send, {"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await self._say(send, b"retry: %d\nid: %d\n\n" % (AGAIN, self._after))
            while not gone.done() and self._following.is_open:
                await self._go_on(send, gone)
            if not gone.done():
                await self._say(send, b"", more=False)
        except TimeoutError:
            return
        finally:
            gone.cancel()
            await self._following.leave()

    async def _go_on(self, send: Send, gone: asyncio.Future[None]) -> None:
        news = self._following.news()  # before the look, so that nothing falls between
        self._after, messages = await self._following.page(self._after, self._runs)
        if messages:
            await self._say(send, b"".join(messages))
            return
        await asyncio.wait({news, gone}, timeout=self._following.quiet, return_when=asyncio.FIRST_COMPLETED)
        if not news.done() and not gone.done():
            await self._say(send, STILL)

    async def _say(self, send: Send, body: bytes, *, more: bool = True) -> None:
        await self._send(send, {"type": "http.response.body", "body": body, "more_body": more})

    async def _send(self, send: Send, message: Message) -> None:
        async with asyncio.timeout(self._following.patience):
            await send(message)


async def _gone(receive: Receive) -> None:
    """Until the other side has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
