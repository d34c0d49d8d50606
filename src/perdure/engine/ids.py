"""Names of runs: they sort by the time they were made, and nobody else has made the same one."""

import os
from typing import Final

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_DIGITS: Final = 26


def new_id(kind: str, at: int) -> str:
    """`r_` and the like, then a UUIDv7 in Crockford's base 32. `at`: milliseconds since 1970."""
    chance = int.from_bytes(os.urandom(10))
    number = (at & (1 << 48) - 1) << 80 | 0x7 << 76 | (chance >> 68 & 0xFFF) << 64 | 0b10 << 62 | chance & (1 << 62) - 1
    return f"{kind}_" + "".join(_ALPHABET[number >> 5 * place & 31] for place in reversed(range(_DIGITS)))
