"""Messages over HTTP: to one host that was judged, without following it elsewhere, and bounded in size.

What HTTP says by a status, and what the network says by failing, becomes an error of the protocol that tells whether
the request can have reached the server.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
from mcp.client.streamable_http import streamable_http_client

from perdure.tools.mcp.wire import LONGEST

NOT_SENT: Final = -32_990
"""The request cannot have reached the server."""
LOST: Final = -32_991
"""Nobody knows whether it did."""
STATUS: Final = -32_992
"""The server answered with a status and nothing else; `data` has it."""
STREAM: Final = 8 * LONGEST
"""Bytes of one stream of messages."""
CONNECTING: Final = 10.0
READING: Final = 300.0
_BAD: Final = 400
_JSON: Final = "application/json"


@asynccontextmanager
async def over_http(url: str, headers: Mapping[str, str]) -> AsyncGenerator[Any]:
    """The streams of a session."""
    timeout = httpx2.Timeout(CONNECTING, read=READING)
    plain = {**headers, "accept-encoding": "identity"}
    # Nothing of the environment: neither proxies nor passwords that lie about for a host.
    async with (
        httpx2.AsyncClient(transport=_Bounded(), headers=plain, timeout=timeout, trust_env=False) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=LONGEST) as streams,
    ):
        yield streams


class _Bounded(httpx2.AsyncBaseTransport):
    """Reads no more than anybody needs, and tells what went wrong instead of raising it into everybody's face."""

    def __init__(self) -> None:
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._inner.handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol) as error:
            return _told(NOT_SENT, f"it cannot be reached: {error or type(error).__name__}")
        except httpx2.TransportError as error:
            return _told(LOST, f"the connection broke: {error or type(error).__name__}")
        return await self._checked(response)

    async def _checked(self, response: httpx2.Response) -> httpx2.Response:
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            return _told(LOST, "the answer is compressed, which was not asked for")
        is_json = response.headers.get("content-type", "").lower().startswith(_JSON)
        if response.status_code >= _BAD and not is_json:
            after = response.headers.get("retry-after", "")
            await response.aclose()
            return _told(STATUS, f"HTTP status {response.status_code}", status=response.status_code, after=after)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Limited(response.stream, LONGEST if is_json else STREAM)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Limited(httpx2.AsyncByteStream):
    """A body that ends in an error where it gets too long."""

    def __init__(self, inner: httpx2.AsyncByteStream, most: int) -> None:
        self._inner = inner
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        seen = 0
        try:
            async for chunk in self._inner:
                seen += len(chunk)
                if seen > self._most:
                    raise httpx2.StreamError(f"the answer is larger than {self._most:,} bytes")
                yield chunk
        except httpx2.TransportError as error:  # which would end the session, and all that is under way in it
            raise httpx2.StreamError(f"the connection broke: {error or type(error).__name__}") from error

    async def aclose(self) -> None:
        await self._inner.aclose()


def _told(code: int, message: str, **data: Any) -> httpx2.Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message, "data": data}}
    return httpx2.Response(502, headers={"content-type": _JSON}, content=json.dumps(body).encode())
