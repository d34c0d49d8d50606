"""How large a value is to a model, told without asking one: three letters are a token, and so is every other byte.

Letters are those of ASCII, and blanks. A digit, a bracket, and each byte of any other script count as a token of their
own, as they do for the models that cut most finely; most take fewer. What has to be the same on every machine and at
every replay is measured here, and so is what a call is promised before it begins, so that it is rather too much than
too little. It is no bound: where letters follow each other by chance, as in Base64, fine models take more; to promise
each letter as a token would take three times too much for what people write. What a call has really taken is what its
provider says; beyond the promise it is an overrun.
"""

import json
import string
from typing import Any, Final

PIECES: Final = 3
"""The pieces of a token. A letter is one; all else is a token by itself."""
FRAME: Final = 32
"""The tokens that a provider puts around a call: who speaks, where it begins and ends, a few words of its own."""
DEEPER: Final = 2**53
"""The size of what is nested too deep to be written."""
_LETTERS: Final = f"{string.ascii_letters} \n\t".encode()
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def tokens_in(pieces: int) -> int:
    """How many tokens so many pieces are."""
    return -(-pieces // PIECES)


def pieces_in(text: str) -> int:
    """How many pieces of tokens a text has."""
    data = text.encode("utf-8", "surrogatepass")
    return len(data) + (PIECES - 1) * len(data.translate(None, _LETTERS))


def tokens_of(text: str) -> int:
    """How many tokens a text counts for."""
    return tokens_in(pieces_in(text))


def size_of(value: Any) -> int:
    """How many pieces of tokens a value has as JSON, without spaces."""
    try:
        return pieces_in(_COMPACT.encode(value))
    except RecursionError:
        return DEEPER
