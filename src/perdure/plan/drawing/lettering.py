"""How wide a text is, without a font: estimated from the widest of the fonts a reader may have."""

from functools import lru_cache
from typing import Final
from unicodedata import category, combining, east_asian_width

_EMS: Final = {
    0.30: "'ijl",
    0.33: " ,.IJ",
    0.38: "-/:;\\f|·",
    0.43: "!()[]rt",
    0.52: '"*_`s',
    0.56: "?Lcz",
    0.63: "EFTYaehknouvxy",
    0.68: "$0123456789KPSbdgpq{}",
    0.73: "ABCRUVXZ",
    0.80: "&DGHNOQ",
    0.88: "#+<=>M^w~≤→",
    1.00: "%@Wm",
}
_EM: Final = {letter: em for em, letters in _EMS.items() for letter in letters}
_LATIN: Final = 0x250
BOLD: Final = 1.15


@lru_cache(maxsize=4096)
def _em(letter: str) -> float:
    known = _EM.get(letter)
    if known is not None:
        return known
    if combining(letter):
        return 0.0
    if east_asian_width(letter) in "WF":
        return 1.05 if ord(letter) < 0x1F000 else 1.4  # noqa: PLR2004  pictures begin here, and are wider
    return 0.85 if ord(letter) < _LATIN else 1.1


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a text, rather too large than too small."""
    return sum(map(_em, text)) * size * (BOLD if bold else 1.0)


def fitted(text: str, size: float, most: float, *, bold: bool = False) -> str:
    """The text, cut with an `…` where it would be wider than `most`."""
    if width_of(text, size, bold=bold) <= most:
        return text
    room = most - width_of("…", size, bold=bold)
    return text[: _fitting(text, room / (size * (BOLD if bold else 1.0)))].rstrip() + "…"


def folded(text: str, size: float, most: float, lines: int) -> list[str]:
    """The text on so many lines at most, broken between words where there are words."""
    found: list[str] = []
    while text and len(found) < lines - 1 and width_of(text, size) > most:
        place = _fitting(text, most / size)
        place -= place > 1 and _closes(text[place])
        space = text.rfind(" ", place // 2, place + 1)
        found.append(text[: space if space > 0 else place].rstrip())
        text = text[space + 1 if space > 0 else place :].lstrip()
    return [*found, fitted(text, size, most)] if text else found


def _closes(letter: str) -> bool:
    """Whether no line begins with it in scripts that write without spaces."""
    return ord(letter) > 0x3000 and category(letter) in ("Po", "Pe", "Pf", "Lm")  # noqa: PLR2004  where they begin


def _fitting(text: str, ems: float) -> int:
    """How many letters fit into a width; one at least."""
    for place, letter in enumerate(text):
        ems -= _em(letter)
        if ems < 0:
            return max(place, 1)
    return len(text)
