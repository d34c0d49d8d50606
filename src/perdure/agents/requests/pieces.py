"""What stands in a request that could be a value: quoted texts, addresses, dates, paths and numbers, each in its place.

Nothing is understood here. A piece is found by its form alone, and its value is what stands there, letter by letter.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Final, Literal

Kind = Literal["url", "email", "date", "path", "number", "text"]

_HOSTS: Final = frozenset({"com", "org", "net", "edu", "gov", "info", "example", "invalid", "localhost"})
"""Endings of hosts, which look like those of files."""
_QUOTED: Final = r"\"(?P<q1>[^\"\n]+)\"|“(?P<q2>[^“”\n]+)”|`(?P<q3>[^`\n]+)`|(?<!\w)'(?P<q4>[^'\n]+)'(?!\w)"
_KINDS: Final[tuple[Kind, ...]] = ("url", "email", "date", "path", "number")
_FORMS: Final[dict[Kind, str]] = {
    "url": r"(?<![\w+.-])[a-z][a-z0-9+.-]{0,20}://[^\s<>\"'`“”]+(?<![.,;:!?)\]])",
    "email": r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "date": r"(?<![\w-])\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?(?![\w-])",
    "path": (
        r"(?<![\w/.~@+-])(?:(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]+)*/?|[\w.@+-]+(?:/[\w.@+-]+)*/(?!\w)"
        r"|(?:[\w@+-][\w.@+-]*/)*(?:[\w@+-][\w.@+-]+\.[a-z]\w{0,7}|[\w@+-]+\.[a-z]\w{1,7}))(?<!\.)(?![\w/])"
    ),
    "number": r"(?<![\w.,/-])[-+]?\d{1,15}(?:\.\d{1,15})?(?![\w%/]|[.,]\d)",
}
_ANY: Final = re.compile("|".join([_QUOTED, *(f"(?P<{kind}>{form})" for kind, form in _FORMS.items())]), re.IGNORECASE)
_WHOLE: Final = {kind: re.compile(form, re.IGNORECASE) for kind, form in _FORMS.items()}


@dataclass(frozen=True)
class Piece:
    """Something that could be a value. `request[start:end]` is its text, without quotation marks."""

    kind: Kind
    text: str
    start: int
    end: int
    quoted: bool = False

    @property
    def outer(self) -> tuple[int, int]:
        """Where it begins and ends, with quotation marks."""
        return (self.start - 1, self.end + 1) if self.quoted else (self.start, self.end)

    @property
    def number(self) -> int | float:
        """What a number is worth."""
        return float(self.text) if "." in self.text else int(self.text)


def pieces_in(request: str) -> tuple[Piece, ...]:
    """All that could be a value, from left to right; none lies within another one."""
    return tuple(chain.from_iterable(map(_piece, _ANY.finditer(request))))


def _piece(found: re.Match[str]) -> Iterator[Piece]:
    name = found.lastgroup or ""
    text, (start, end) = found[name], found.span(name)
    if name.startswith("q"):
        yield Piece(_kind_of(text), text, start, end, quoted=True)
    for kind in _KINDS:
        if kind == name and _is(kind, text):
            yield Piece(kind, text, start, end)


def _kind_of(text: str) -> Kind:
    """What is in quotation marks: an address, a date or a path if it is nothing else, or else a text."""
    found: list[Kind] = [kind for kind in _KINDS if _WHOLE[kind].fullmatch(text) and _is(kind, text)]
    return found[0] if found else "text"


def _is(kind: Kind, text: str) -> bool:
    if kind == "date":
        return _is_date(text)
    return kind != "path" or text.rpartition(".")[2].casefold() not in _HOSTS


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def without(request: str, pieces: tuple[Piece, ...]) -> str:
    """The request with blanks in the place of its pieces: only the words that say what is to be done."""
    kept, at = "", 0
    for piece in pieces:
        start, end = piece.outer
        kept += request[at:start] + " " * (end - start)
        at = end
    return kept + request[at:]
