"""Messages over HTTP: to one host that was judged, without following it elsewhere, and bounded in size.

What HTTP says by a status, and what the network says by failing, becomes an error of the protocol that tells whether
the request can have reached the server.
"""

import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol, cast

import httpcore2
import httpx2
from mcp.client.streamable_http import streamable_http_client

from perdure.tools.failure import ToolFailure
from perdure.tools.mcp.dialling import Dialling
from perdure.tools.mcp.wire import LONGEST
from perdure.tools.net import Gate
from perdure.tools.rulebook import LOST, NOT_SENT, REFUSED, STATUS

STREAM: Final = 8 * LONGEST
"""Bytes of one stream of messages."""
CONNECTING: Final = 10.0
READING: Final = 300.0
CONNECTIONS: Final = 100
"""To one server at once."""
_BAD: Final = 400
_JSON: Final = "application/json"
_UNSENT: Final = (
    httpcore2.ConnectError, httpcore2.ConnectTimeout, httpcore2.PoolTimeout, httpcore2.UnsupportedProtocol,
)  # fmt: skip
_BROKEN: Final = (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError)


@asynccontextmanager
async def over_http(url: str, headers: Mapping[str, str], gate: Gate) -> AsyncGenerator[Any]:
    """The streams of a session. Whatever the library asks for, only what the gate lets through is reached."""
    timeout = httpx2.Timeout(CONNECTING, read=READING)
    plain = {**headers, "accept-encoding": "identity"}
    # Nothing of the environment: neither proxies nor passwords that lie about for a host.
    async with (
        httpx2.AsyncClient(transport=_Bounded(gate), headers=plain, timeout=timeout, trust_env=False) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=LONGEST) as streams,
    ):
        yield streams


class _Bounded(httpx2.AsyncBaseTransport):
    """Reads no more than anybody needs, and tells what went wrong instead of raising it into everybody's face."""

    def __init__(self, gate: Gate) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=ssl.create_default_context(), max_connections=CONNECTIONS, network_backend=Dialling(gate)
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            answer = await self._pool.handle_async_request(_sent(request))
        except ToolFailure as refused:
            return _told(REFUSED if refused.failure.kind == "denied" else NOT_SENT, str(refused))
        except _UNSENT as error:
            return _told(NOT_SENT, f"it cannot be reached: {error or type(error).__name__}")
        except _BROKEN as error:
            return _told(LOST, f"the connection broke: {error or type(error).__name__}")
        body = _Limited(cast("AsyncBody", answer.stream))
        return await self._checked(httpx2.Response(answer.status, headers=answer.headers, stream=body))

    async def _checked(self, response: httpx2.Response) -> httpx2.Response:
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            return _told(LOST, "the answer is compressed, which was not asked for")
        is_json = response.headers.get("content-type", "").lower().startswith(_JSON)
        if response.status_code >= _BAD and not is_json:
            after = response.headers.get("retry-after", "")
            await response.aclose()
            return _told(STATUS, f"HTTP status {response.status_code}", status=response.status_code, after=after)
        if is_json and isinstance(response.stream, _Limited):
            response.stream.most = LONGEST
        return response

    async def aclose(self) -> None:
        await self._pool.aclose()


def _sent(request: httpx2.Request) -> httpcore2.Request:
    url = request.url
    return httpcore2.Request(
        request.method,
        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=cast("httpx2.AsyncByteStream", request.stream),
        extensions=request.extensions,
    )


class AsyncBody(Protocol):
    """The body of an answer, as it comes in."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...
    async def aclose(self) -> None: ...  # noqa: D102  as its name says


class _Limited(httpx2.AsyncByteStream):
    """A body that ends in an error where it gets too long."""

    def __init__(self, inner: AsyncBody) -> None:
        self._inner = inner
        self.most = STREAM
        """Bytes."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        seen = 0
        try:
            async for chunk in self._inner:
                seen += len(chunk)
                if seen > self.most:
                    raise httpx2.StreamError(f"the answer is larger than {self.most:,} bytes")
                yield chunk
        except _BROKEN as error:  # which would end the session, and all that is under way in it
            raise httpx2.StreamError(f"the connection broke: {error or type(error).__name__}") from error

    async def aclose(self) -> None:
        await self._inner.aclose()


def _told(code: int, message: str, **data: Any) -> httpx2.Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message, "data": data}}
    return httpx2.Response(502, headers={"content-type": _JSON}, content=json.dumps(body).encode())
