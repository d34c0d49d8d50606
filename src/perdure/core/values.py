"""JSON values in facts: small ones written where they stand, larger ones kept once under their digest."""

import hashlib
import json
from collections.abc import Callable
from math import isfinite
from typing import Any, Final, cast

import msgspec
import rfc8785

from perdure.plan.canonical import canonical_json

MOST_INLINE: Final = 1024
"""The most bytes of JSON that are written into an event."""
DEEPEST: Final = 64
_BRACKETS: Final = MOST_INLINE // DEEPEST
"""What a list or an object is reckoned for, so that small values are not nested deep either."""
_EXACT: Final = 2**53
_ASCII: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False)

Read = Callable[[str], Any]
"""The value kept under a digest."""


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A JSON value, or where to find it."""

    data: Any = None
    sha256: str = ""
    """The digest of its bytes, if it is kept apart."""

    def load(self, read: Read) -> Any:
        """The value itself."""
        return read(self.sha256) if self.sha256 else self.data


NULL: Final = Value()


def keep(value: Any, kept: dict[str, bytes]) -> Value:
    """A value as facts hold it; if it is large, its bytes are put with those to be kept. `ValueError`: not JSON."""
    if value is None:
        return NULL
    small = copied(value)
    return Value(data=small[0]) if small is not None and small[1] >= 0 else _kept(value, kept)


def copied(value: Any, room: int = MOST_INLINE) -> tuple[Any, int] | None:
    """A copy of a value that is plainly JSON and small, and the room it leaves. Most are, and this is quickly seen.

    Each value is reckoned as long as it can possibly be when it is written, whatever its letters are.
    """
    kind = cast("Any", type(value))
    if kind is dict:
        return _copied_dict(value, room - _BRACKETS)
    if kind is list:
        return _copied_list(value, room - _BRACKETS)
    if kind is str:
        return (value, room - _length(value)) if len(value) <= room and value.isascii() else None
    if kind is int:
        return (value, room - 20) if -_EXACT < value < _EXACT else None
    if kind is float:
        return (value, room - 25) if isfinite(value) else None
    return (value, room - 5) if value is None or kind is bool else None


def _length(text: str) -> int:
    """The most that a text takes when it is written: a letter that is not printed is written as six."""
    return len(text) + text.count('"') + text.count("\\") + 2 if text.isprintable() else 6 * len(text) + 2


def _copied_dict(value: dict[Any, Any], room: int) -> tuple[Any, int] | None:
    copy: dict[str, Any] = {}
    for key, each in value.items():
        room -= _length(key) + 2 if type(key) is str and key.isascii() else MOST_INLINE
        found = copied(each, room) if room >= 0 else None
        if found is None:
            return None
        copy[key], room = found
    return copy, room


def _copied_list(value: list[Any], room: int) -> tuple[Any, int] | None:
    copy: list[Any] = []
    for each in value:
        found = copied(each, room - 1) if room > 0 else None
        if found is None:
            return None
        room = found[1]
        copy.append(found[0])
    return copy, room


def _kept(value: Any, kept: dict[str, bytes]) -> Value:
    data = to_json(value)
    if len(data) <= MOST_INLINE and _is_plain(data):
        return Value(data=json.loads(data))  # as it will be read again: a tuple is a list
    digest = hashlib.sha256(data).hexdigest()
    kept[digest] = data
    return Value(sha256=digest)


def to_json(value: Any) -> bytes:
    """A value in ASCII, so that half a Unicode pair is safe too. `ValueError`: it is not JSON."""
    try:
        return _ASCII.encode(value).encode("ascii")
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except TypeError as error:
        raise ValueError(str(error)) from None


def well_formed(text: str) -> str:
    """A text in which every half of a Unicode pair is written out."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _is_plain(data: bytes) -> bool:
    """Whether it can stand in an event: no half of a Unicode pair, and not nested deep."""
    return rb"\ud" not in data and data.count(b"[") + data.count(b"{") <= DEEPEST


# ------------------------------------------------------------------------------- digests


def digest_of(value: Any) -> str:
    """The SHA-256 of a value's RFC 8785 form; of its ASCII form where RFC 8785 has none."""
    try:
        data = canonical_json(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, TypeError):  # huge integers, half a Unicode pair
        data = b"ascii:" + json.dumps(value, separators=(",", ":"), sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()
