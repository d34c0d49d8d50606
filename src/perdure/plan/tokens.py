"""How large a value is to a model, told without asking one: four characters are a token.

Every model counts in its own way, and most words of English come out near this. What has to be the same on every
machine and at every replay is measured here; what a call has really taken is what its provider says.
"""

import json
from typing import Any, Final

CHARACTERS: Final = 4
"""The characters of a token."""
DEEPER: Final = 2**53
"""The size of what is nested too deep to be written."""
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def tokens_of(text: str) -> int:
    """How many tokens a text counts for."""
    return -(-len(text) // CHARACTERS)


def size_of(value: Any) -> int:
    """How many characters a value has as JSON, without spaces."""
    try:
        return len(_COMPACT.encode(value))
    except RecursionError:
        return DEEPER
