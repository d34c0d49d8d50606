"""How large a value is to a model, told without asking one: three bytes of UTF-8 are a token.

Every model counts in its own way, and most texts come out below this: prose and code in any script take fewer. What has
to be the same on every machine and at every replay is measured here, and so is what a call is promised before it
begins, so that it is rather too much than too little. What a call has really taken is what its provider says.
"""

import json
from typing import Any, Final

BYTES: Final = 3
"""The bytes of a token."""
FRAME: Final = 32
"""The tokens that a provider puts around a call: who speaks, where it begins and ends, a few words of its own."""
DEEPER: Final = 2**53
"""The size of what is nested too deep to be written."""
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def tokens_in(size: int) -> int:
    """How many tokens so many bytes count for."""
    return -(-size // BYTES)


def bytes_in(text: str) -> int:
    """How many bytes a text has."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def tokens_of(text: str) -> int:
    """How many tokens a text counts for."""
    return tokens_in(bytes_in(text))


def size_of(value: Any) -> int:
    """How many bytes a value has as JSON, without spaces."""
    try:
        return bytes_in(_COMPACT.encode(value))
    except RecursionError:
        return DEEPER
