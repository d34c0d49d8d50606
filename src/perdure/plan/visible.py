"""Texts for people: what somebody else wrote with nothing hidden in it, and amounts as people write them."""

import re
from typing import Final

_BREAKS: Final = re.compile(r"[\t\n\r]+")

_HIDDEN: Final = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters, C0 and C1: an escape sequence starts with one
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidi: text that reads otherwise than it is stored
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    "\ufe00-\ufe0d\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # no width
    "\u2028\u2029"  # line breaks that only some programs know
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"  # no characters at all, and forbidden in XML
    + "".join(f"{chr(plane * 0x10000 + 0xFFFE)}{chr(plane * 0x10000 + 0xFFFF)}" for plane in range(1, 17))
    + "]"
)


def _written(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004  the end of the first plane


def visible(text: str, most: int | None = None) -> str:
    r"""The text on one line, hidden characters written as `\u…`, cut to `most` characters with an `…`."""
    if most is None:
        return _HIDDEN.sub(_written, _BREAKS.sub(" ", text))
    shown = visible(text[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1].rstrip() + "…"


# ------------------------------------------------------------------------------- amounts


def lapse(seconds: float) -> str:
    """A length of time: `10m`, `1m30s`, `250ms`."""
    if 0 < seconds < 1:
        return f"{max(1, round(seconds * 1000))}ms"
    rest, words = round(seconds), ""
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        number, rest = divmod(rest, size)
        words += f"{number}{unit}" if number else ""
    return words or "0s"


def money(usd: float) -> str:
    """An amount of money: two digits after the point, more only where there would be none."""
    return f"${usd:,.2f}" if usd == 0 or usd >= 0.01 else f"${usd:.2g}"  # noqa: PLR2004  one cent


def number_of(count: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 step`, `12,000 steps`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
