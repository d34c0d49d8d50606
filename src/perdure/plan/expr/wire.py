"""The little of the protobuf wire format that is needed to read what CEL makes of an expression."""

from collections.abc import Iterator
from struct import unpack
from typing import Final

_WIDTHS: Final = {1: 8, 2: 0, 5: 4}
"""How many bytes a field has, by the kind of its key; 0: as many as are written before it."""
_MORE: Final = 128
"""The bit of a byte that says that more follows."""


class Message:
    """The fields of one message by number. Each may have been written more than once."""

    __slots__ = ("_fields",)

    def __init__(self, data: bytes) -> None:
        self._fields: dict[int, list[int | bytes]] = {}
        at, end = 0, len(data)
        while at < end:
            key, at = (data[at], at + 1) if data[at] < _MORE else _varint(data, at)
            kind = key & 7
            if kind in _WIDTHS:
                value, at = _bytes(data, at, _WIDTHS[kind])
            else:
                value, at = (data[at], at + 1) if data[at] < _MORE else _varint(data, at)
            self._fields.setdefault(key >> 3, []).append(value)

    def __contains__(self, number: int) -> bool:
        return number in self._fields

    def number(self, field: int) -> int:
        """A whole number as it is written; 0 if it is not."""
        value = self._fields.get(field, [0])[-1]
        return value if isinstance(value, int) else 0

    def signed(self, field: int) -> int:
        """A whole number that may be negative."""
        value = self.number(field)
        return value - 2**64 if value >= 2**63 else value

    def double(self, field: int) -> float:
        """A floating-point number."""
        return float(unpack("<d", self.all(field)[-1])[0])

    def text(self, field: int) -> str:
        """A text; empty if it is not written."""
        return b"".join(self.all(field)[-1:]).decode()

    def all(self, field: int) -> list[bytes]:
        """Every writing of a field that holds bytes."""
        return [value for value in self._fields.get(field, ()) if isinstance(value, bytes)]

    def packed(self, field: int) -> Iterator[int]:
        """Whole numbers that are written one behind the other."""
        for data in self.all(field):
            at = 0
            while at < len(data):
                value, at = _varint(data, at)
                yield value

    def part(self, field: int) -> "Message":
        """The message inside a field; an empty one if it is not written."""
        return Message(b"".join(self.all(field)[-1:]))

    def parts(self, field: int) -> list["Message"]:
        """Every message inside a field."""
        return [Message(value) for value in self.all(field)]


def _bytes(data: bytes, at: int, width: int) -> tuple[bytes, int]:
    if not width:
        width, at = (data[at], at + 1) if data[at] < _MORE else _varint(data, at)
    return data[at : at + width], at + width


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & (_MORE - 1)) << shift
        at, shift = at + 1, shift + 7
        if byte < _MORE:
            return value, at
