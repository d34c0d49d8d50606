"""The connections to a provider: none is followed elsewhere, and none can fill the memory."""

import ssl
from collections.abc import AsyncIterator
from functools import cache
from typing import Final

import httpx2

MOST_BYTES: Final = 64 * 1024 * 1024
"""Of one answer; the longest ones that providers give, with all that comes along, are smaller by far."""
CONNECT: Final = 10.0
"""Seconds until a connection is there."""
SILENT: Final = 600.0
"""Seconds that a server may say nothing; a step's `timeout` is shorter, where it has one."""


class TooMuch(Exception):
    """A server does not stop."""


def opened(*, here: bool) -> httpx2.AsyncClient:
    """Connections that are kept for the next call. A server here is never asked through a proxy of the environment."""
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(SILENT, connect=CONNECT),
        verify=_trusted(),
        trust_env=not here,
        follow_redirects=False,
        event_hooks={"response": [_bounded]},
    )


@cache
def _trusted() -> ssl.SSLContext:
    """Whom to believe; it takes a while to read, and is the same for all."""
    return httpx2.create_ssl_context()


async def _bounded(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    """Bytes as they come, up to a limit."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream: Final = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_BYTES
        async for piece in self._stream:
            left -= len(piece)
            if left < 0:
                raise TooMuch
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
