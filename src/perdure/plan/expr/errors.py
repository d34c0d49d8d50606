"""What can be wrong with an expression, and where in its text."""

import json
from collections.abc import Iterable
from itertools import islice
from typing import Final, Self

from perdure.errors import PerdureError

SYNTAX: Final = "PRD1201"
LEFT_OUT: Final = "PRD1206"
MISTYPED: Final = "PRD1207"
UNKNOWN: Final = "PRD1209"
NO_VALUE: Final = "PRD1210"
TOO_MUCH: Final = "PRD1211"
NOT_JSON: Final = "PRD1212"

_COMPARED_WORDS: Final = 100
_COMPARED_LETTERS: Final = 40


class ExpressionError(PerdureError):
    """An expression cannot be read, or gives no value. `offset` counts characters of its text."""

    def __init__(self, code: str, message: str, help: str = "", offset: int = 0) -> None:  # noqa: A002  the word users read
        super().__init__(message, help)
        vars(self)["code"] = code  # other errors have one code for their class; this one has one for each way to fail
        self.offset = offset

    def moved(self, by: int) -> Self:
        """The same error in a longer text, in which the expression starts later."""
        self.offset += by
        return self


def nearest(word: str, known: Iterable[str]) -> str:
    """The start of a hint: the known word that is nearest, or nothing. Long words and long lists are not searched."""
    from difflib import get_close_matches  # noqa: PLC0415  most programs never meet a wrong word

    choices = [each for each in islice(known, _COMPARED_WORDS) if len(each) <= _COMPARED_LETTERS]
    near = get_close_matches(word[:_COMPARED_LETTERS], choices, n=1, cutoff=0.6)
    return f"did you mean {quoted(near[0])}?" if near else ""


def shown(text: str, most: int) -> str:
    """A text in one line, cut where it is too long for a sentence."""
    cut = text if len(text) <= most else f"{text[: most - 1]}…"
    return json.dumps(cut.encode(errors="backslashreplace").decode(), ensure_ascii=False)[1:-1]


def quoted(text: str, most: int = 60) -> str:
    """A text in quotes, fit for a sentence."""
    return f'"{shown(text, most)}"'
