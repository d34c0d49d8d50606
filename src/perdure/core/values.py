"""JSON values in facts: small ones written where they stand, larger ones kept once under their digest."""

import hashlib
import json
import math
from collections.abc import Callable
from typing import Any, Final

import msgspec
import rfc8785

from perdure.plan.canonical import canonical_json

MOST_INLINE: Final = 8 * 1024
"""The most bytes of JSON that are written into an event."""
DEEPEST: Final = 64
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


def keep(value: Any, kept: dict[str, bytes], text: bytes = b"") -> Value:
    """A value as facts hold it; if it is large, its bytes are put with those to be kept. `ValueError`: not JSON.

    `text`: the value as JSON, if it was just read from there, so that it is neither written nor read once more.
    """
    if value is None:
        return NULL
    data = text or to_json(value)
    if len(data) <= MOST_INLINE and _is_plain(data):
        return Value(value if text else msgspec.json.decode(data))  # as it will be read again: a tuple is a list
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


def from_json(text: str) -> Any:
    """The value that a text says. `ValueError`: it is not JSON, which has no NaN and no number beyond all numbers."""
    try:
        return json.loads(text, parse_float=_number, parse_constant=_number)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _number(word: str) -> float:
    if not math.isfinite(found := float(word)):
        raise ValueError(f"{word[:20]} is no number of JSON")
    return found


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
