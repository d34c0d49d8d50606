"""What goes over the socket: lines of JSON, each with the version of the protocol.

    → {"control": 1, "request": {…}}
    ← {"control": 1, "reply": {…}}
    ← {"control": 1, "error": {"code": …, "message": …, "help": …, "exit_code": …}}

Every version to come keeps lines, JSON and the word `control`, so that two versions can always tell each other apart.
"""

import asyncio
import json
import socket
from collections.abc import Mapping
from typing import Any, Final, NoReturn, cast

from perdure.control.errors import Garbled, OtherVersion, OwnerRefused, TooLong
from perdure.errors import PerdureError

VERSION: Final = 1
LONGEST_LINE: Final = 2_000_000
TOO_LONG: Final = (
    "wait until the process that has the journal has left, name another journal with --db,"
    " or put large values into files that steps read"
)
_CHUNK: Final = 65_536
_EXIT_CODES: Final = range(1, 256)


class Lines:
    """The lines that come in through a socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._rest = bytearray()

    async def next(self) -> bytes | None:
        """A line without its end. None if the other side has hung up; half a line counts for nothing."""
        loop, seen = asyncio.get_running_loop(), 0
        while (end := self._rest.find(b"\n", seen)) < 0:
            seen = len(self._rest)
            _check_length(seen)
            chunk = await loop.sock_recv(self._connection, _CHUNK)
            if not chunk:
                return None
            self._rest += chunk
        _check_length(end)
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line


def request_line(body: Mapping[str, Any]) -> bytes:
    """A request to the owner."""
    return _line("request", body)


def reply_line(body: Mapping[str, Any]) -> bytes:
    """What the owner has to say."""
    return _line("reply", body)


def error_line(error: PerdureError) -> bytes:
    """Why the owner did not do it."""
    told = {"code": error.code, "message": error.message, "help": error.help, "exit_code": error.exit_code}
    return _line("error", told)


def request_in(line: bytes) -> dict[str, Any]:
    """The request of a line."""
    message = _message(line)
    _check_version(message, "the client", "the owner")
    return _part(message, "request")


def reply_in(line: bytes) -> dict[str, Any]:
    """The reply of a line. An error of the owner's is raised as if it had happened here."""
    message = _message(line)
    _check_version(message, "the owner", "this process")
    if "error" in message:
        raise _refusal(_part(message, "error"))
    return _part(message, "reply")


def _line(part: str, body: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps({"control": VERSION, part: dict(body)}, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise Garbled(f"the {part} cannot be written as JSON: {error}") from None
    if len(text) > LONGEST_LINE:
        told = f"the {part} has {len(text):,} bytes, and what goes through a socket has at most {LONGEST_LINE:,}"
        raise TooLong(told, TOO_LONG)
    return text.encode() + b"\n"


def _message(line: bytes) -> dict[str, Any]:
    try:
        message: Any = json.loads(line.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Garbled("the line is not JSON") from None
    if not isinstance(message, dict):
        raise Garbled("the line is not a JSON object")
    return cast("dict[str, Any]", message)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(word)


def _part(message: dict[str, Any], name: str) -> dict[str, Any]:
    part: Any = message.get(name)
    if not isinstance(part, dict):
        raise Garbled(f"the line has no {name}")
    return cast("dict[str, Any]", part)


def _refusal(told: dict[str, Any]) -> OwnerRefused:
    code, message, help_, exit_code = (told.get(name) for name in ("code", "message", "help", "exit_code"))
    return OwnerRefused(
        str(message or "the owner did not do it"),
        str(help_ or ""),
        str(code or ""),
        exit_code if isinstance(exit_code, int) and exit_code in _EXIT_CODES else 1,
    )


def _check_version(message: dict[str, Any], they: str, we: str) -> None:
    theirs: Any = message.get("control")
    if not isinstance(theirs, int):
        raise Garbled("the line does not say its version in `control`")
    if theirs != VERSION:
        raise OtherVersion(
            f"{they} speaks version {theirs} of the control protocol, {we} speaks version {VERSION}",
            "use the same release of Perdure on both sides",
        )


def _check_length(length: int) -> None:
    if length > LONGEST_LINE:
        raise Garbled(f"a line has at most {LONGEST_LINE:,} bytes")
