"""The little of the protobuf wire format that is needed to read what CEL makes of an expression."""

from collections.abc import Iterator
from struct import unpack
from typing import Final

_VARINT: Final = 0
_FIXED: Final = {1: 8, 5: 4}
_MORE: Final = 128
"""The bit of a byte that says that more follows."""


class Message:
    """The fields of one message by number. Each may have been written more than once."""

    def __init__(self, data: bytes) -> None:
        self._fields: dict[int, list[int | bytes]] = {}
        for number, value in _fields(data):
            self._fields.setdefault(number, []).append(value)

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


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        length, at = (_FIXED[kind], at) if kind in _FIXED else _varint(data, at)
        yield key >> 3, data[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value, shift = data[at], 7
    if value < _MORE:  # nearly all are this short
        return value, at + 1
    value &= _MORE - 1
    while True:
        at += 1
        byte = data[at]
        value |= (byte & (_MORE - 1)) << shift
        if byte < _MORE:
            return value, at + 1
        shift += 7
