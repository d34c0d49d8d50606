"""Names of runs: they sort by the time they were made, and nobody else has made the same one."""

import os
from hashlib import sha256
from typing import Final

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_DIGITS: Final = 26
_OF_WHOSE: Final = 18


def new_id(kind: str, at: int) -> str:
    """`r_` and the like, then a UUIDv7 in Crockford's base 32. `at`: milliseconds since 1970."""
    chance = int.from_bytes(os.urandom(10))
    number = (at & (1 << 48) - 1) << 80 | 0x7 << 76 | (chance >> 68 & 0xFFF) << 64 | 0b10 << 62 | chance & (1 << 62) - 1
    return f"{kind}_{_written(number, _DIGITS)}"


def given_id(kind: str, whose: str, what: bytes) -> tuple[str, str]:
    """An id that follows from who asks and from what they ask; and its beginning, which follows from who asks alone."""
    beginning = f"{kind}_{_written(_number(whose.encode(errors='surrogatepass')), _OF_WHOSE)}"
    return beginning + _written(_number(what), _DIGITS - _OF_WHOSE), beginning


def _number(data: bytes) -> int:
    return int.from_bytes(sha256(data).digest())


def _written(number: int, digits: int) -> str:
    return "".join(_ALPHABET[number >> 5 * place & 31] for place in reversed(range(digits)))
