"""Records of a journal as JSON, and back. Both sides of the wire use these two functions, so they cannot disagree."""

from collections.abc import Sequence
from typing import Any, Final, TypeVar

import msgspec

from perdure.core.values import from_json, to_json
from perdure.remote.errors import OtherServer

SCHEMA: Final = "perdure.journal/1"
Record = TypeVar("Record")


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """The process that has the journal."""

    journal: str
    """How records cross over: `SCHEMA`."""
    version: str
    """Of Perdure."""
    owner: str
    """A word that is another one when another process has it."""
    driven: bool
    """Whether it carries runs on."""
    writer: str
    """Who that is, for people."""


def owner_in(data: bytes) -> Owner:
    """What a server says of the process."""
    try:
        return msgspec.json.decode(data, type=Owner)
    except ValueError as error:
        raise OtherServer(f"what answers is no Perdure: {error}", "look at the address of the server") from error


def packed(records: Sequence[Any]) -> bytes:
    """Records as they cross over. Bytes of a body go as they are stored, in base64."""
    return to_json({"schema": SCHEMA, "items": msgspec.to_builtins(records)})


def unpacked(data: bytes, kind: type[Record]) -> list[Record]:
    """The records that came. `OtherServer` if they are none."""
    try:
        said = from_json(data.decode())
        if said["schema"] != SCHEMA:
            raise OtherServer(
                f"the server sends {str(said['schema'])[:60]}, and this release reads {SCHEMA}",
                "use the same release of Perdure on both sides",
            )
        return msgspec.convert(said["items"], type=list[kind])
    except (ValueError, KeyError, TypeError) as error:  # also what msgspec says
        raise OtherServer(f"what answers sends no journal: {error}", "look at the address of the server") from error
