"""Bodies: taken whole before anybody looks at them, if they are said to be JSON, are not too long, and come in time."""

import asyncio
from typing import Any, Final

from perdure.server.asgi import Receive
from perdure.server.errors import NotJson, TooLarge
from perdure.server.head import Head
from perdure.server.refusing import BodyTooSlow

LARGEST: Final = 20 * 1024 * 1024
SECONDS: Final = 30.0
_JSON: Final = "application/json"


async def taken(head: Head, receive: Receive, most: int = LARGEST, seconds: float = SECONDS) -> bytes | None:
    """The body of a request; None if whoever sends it has gone."""
    _check_type(head)
    length = head.header("content-length")
    if length.isdecimal() and int(length) > most:
        raise _too_large(most)
    if not head.has_body:
        return b""
    try:
        async with asyncio.timeout(seconds):
            return await _whole(receive, most)
    except TimeoutError:
        raise BodyTooSlow(f"the body did not come within {seconds:g} seconds") from None


def _check_type(head: Head) -> None:
    """Forms and plain text are what a page of a stranger's can send without asking first."""
    said = head.headers.get("content-type")
    if said is None and not head.has_body:
        return
    if head.is_safe or (said or "").partition(";")[0].strip().lower() != _JSON:
        raise NotJson(f"the body is {said or 'of no type'}", f"send JSON, and say so: Content-Type: {_JSON}")


async def _whole(receive: Receive, most: int) -> bytes | None:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return bytes(body)


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"a body has at most {most:,} bytes", "put large values into files that steps read")


def again(body: bytes, receive: Receive) -> Receive:
    """Receives a body that was taken, and then what comes after it."""
    is_told = False

    async def receive_again() -> Any:
        nonlocal is_told
        if is_told:
            return await receive()
        is_told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
