"""The other side: one request, one answer."""

import asyncio
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from perdure.control.address import address_of
from perdure.control.errors import NoAnswer, NoOwner, Stranger
from perdure.control.peer import check_owner, peer_of
from perdure.control.wire import Lines, reply_in, request_line

_AGAIN: Final = 0.02
_IN_DOUBT: Final = "it may or may not have been done; look before you ask again"


async def ask(path: Path, request: Mapping[str, Any], timeout: float = 10) -> dict[str, Any]:  # noqa: ASYNC109  a bound of the whole
    """What the owner says to a request. `NoOwner` if there is none, `NoAnswer` if it says nothing in time."""
    line = request_line(request)
    try:
        async with asyncio.timeout(timeout):
            answer = await _exchange(path, line)
    except TimeoutError:
        raise NoAnswer(f"the owner did not answer at {path} within {timeout:g} seconds", _IN_DOUBT) from None
    if answer is None:
        raise NoAnswer(f"the owner hung up at {path} without an answer", _IN_DOUBT)
    return reply_in(answer)


async def _exchange(path: Path, line: bytes) -> bytes | None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(0)
        await _connect(connection, path)
        check_owner(peer_of(connection))
        with suppress(ConnectionError):  # an owner that hangs up may have said why before
            await asyncio.get_running_loop().sock_sendall(connection, line)
        with suppress(ConnectionError):
            return await Lines(connection).next()
    return None


async def _connect(connection: socket.socket, path: Path) -> None:
    try:
        while not _connected(connection, path):  # noqa: ASYNC110  no event tells when the owner has a place
            await asyncio.sleep(_AGAIN)
    except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError):
        raise NoOwner(f"nobody listens at {path}", "start the process that owns the journal") from None
    except PermissionError:
        raise Stranger(f"{path} belongs to another user", "do it as the user who owns the journal") from None


def _connected(connection: socket.socket, path: Path) -> bool:
    """Whether it worked. If too many wait the kernel says no at once; `loop.sock_connect` would take that for a yes."""
    try:
        with address_of(path) as address:
            connection.connect(address)
    except BlockingIOError:
        return False
    return True
