"""The line to a server: bounded answers, no redirects, and each failure in our own words."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

import httpx2

from perdure.core.values import from_json, to_json
from perdure.errors import PerdureError
from perdure.remote.errors import InDoubt, OtherServer, ServerRefused, Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

MOST_BYTES: Final = 256 * 1024 * 1024
"""Of one answer; an export comes piece by piece and has no such bound."""
_CONNECT: Final = 10.0
_SILENT: Final = 60.0
"""Seconds that a server may say nothing."""
_EXIT_CODES: Final = range(1, 256)
_NO_ROUTE: Final = "PRD6001"
_UNKNOWN: Final = 401
_NO_KEY: Final = "put a key into PERDURE_KEY; where the journal is, `perdure keys new NAME` makes one"


class Line:
    """A server, and the key that opens it."""

    def __init__(self, url: str, key: str = "", transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self.url: Final = url
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._manner: dict[str, Any] = {
            "base_url": url,
            "headers": self._headers,
            "timeout": httpx2.Timeout(_SILENT, connect=_CONNECT),
            "follow_redirects": False,
            "trust_env": False,  # the key goes to the server and to nobody in between
        }
        self._client = httpx2.AsyncClient(transport=transport, **self._manner)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def get(self, path: str, **params: Any) -> bytes:
        """What is at a path."""
        async with self._asked("GET", path, params=_said(params)) as answer:
            return await _whole(answer)

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """What comes of something that is done."""
        headers = {"Content-Type": "application/json"}
        async with self._asked("POST", path, content=to_json(body), headers=headers) as answer:
            return _mapping(await _whole(answer))

    async def lines(self, path: str) -> AsyncIterator[bytes]:
        """What is at a path, line by line."""
        async with self._asked("GET", path) as answer:
            rest = b""
            async for piece in answer.aiter_bytes():
                *whole, rest = (rest + piece).split(b"\n")
                for line in whole:
                    yield line + b"\n"
            if rest:
                raise Unreachable(f"{self.url} broke off", "say it again")

    def fetch(self, path: str) -> bytes:
        """What is at a path, at once: for a value that somebody waits for who cannot let others go on."""
        try:
            with httpx2.Client(**self._manner) as client:
                answer = client.get(path)
        except httpx2.HTTPError as error:
            self._failed("GET", error)
        if answer.is_success:
            return answer.content
        raise _refusal(answer, answer.content)

    @asynccontextmanager
    async def _asked(self, method: str, path: str, **more: Any) -> "AsyncGenerator[httpx2.Response]":
        try:
            async with self._client.stream(method, path, **more) as answer:
                if not answer.is_success:
                    raise _refusal(answer, await _whole(answer))
                yield answer
        except httpx2.HTTPError as error:
            self._failed(method, error)

    def _failed(self, method: str, error: Exception) -> NoReturn:
        told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        if method == "GET" or isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout)):
            hint = "is it the address of `perdure serve`?"
            raise Unreachable(f"{self.url} cannot be reached: {told}", hint) from error
        raise InDoubt(
            f"{self.url} went away before it had answered: {told}",
            "it may or may not have been done; look before you ask again",
        ) from error


def _said(params: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of a question; None is not said."""
    return {name: value for name, value in params.items() if value is not None}


async def _whole(answer: httpx2.Response) -> bytes:
    found = bytearray()
    async for piece in answer.aiter_bytes():
        found += piece
        if len(found) > MOST_BYTES:
            raise OtherServer(f"the server sends more than {MOST_BYTES:,} bytes", "look at the address of the server")
    return bytes(found)


def _mapping(data: bytes) -> dict[str, Any]:
    try:
        found = from_json(data.decode())
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise OtherServer("what answers is no Perdure", "look at the address of the server")
    return found  # pyright: ignore[reportUnknownVariableType]  a mapping of JSON has texts as keys


def _refusal(answer: httpx2.Response, data: bytes) -> PerdureError:
    """Why a server did not do it, in its words."""
    if "problem+json" not in answer.headers.get("content-type", ""):
        told = f"what answers there is no Perdure: it says {answer.status_code}"
        return OtherServer(told, "look at the address of the server")
    said = _mapping(data)
    code, exit_code = str(said.get("code") or ""), said.get("exit_code")
    if code == _NO_ROUTE:
        hint = "use the same release of Perdure on both sides"
        return OtherServer("the server does not know what is asked: it is of another release", hint)
    known = exit_code if isinstance(exit_code, int) and exit_code in _EXIT_CODES else 1
    told = str(said.get("detail") or "the server did not do it")
    hint = _NO_KEY if answer.status_code == _UNKNOWN else str(said.get("help") or "")
    return ServerRefused(told, hint, code, known)
