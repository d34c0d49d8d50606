"""Redaction: the values of secrets are taken out of whatever comes back, in the forms in which they come back.

A text is searched for each form with the search of the language itself: on ten million letters that is ten times
faster than one pattern with all forms in it, and its time grows with the length of the text and no faster.
"""

import base64
import html
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast
from urllib.parse import quote, quote_plus

from perdure.plan.raw import is_list, is_mapping
from perdure.tools.values import NotJson, as_json_text

SHORTEST: Final = 4
"""Letters of a secret. A shorter one would be found everywhere, so it is refused where it is asked for."""
SHORTEST_FORM: Final = 6
"""Letters of an encoded form; a shorter one would be found by chance in what is not secret, and spoil it."""
SHORTEST_LINE: Final = 12
"""Letters of a line of a longer secret, such as a key in PEM, that is a secret by itself."""
CUT: Final = 6
"""Letters at the end of a text that was cut which are taken for the beginning of a secret."""

Span = tuple[int, int, str]
"""Where a secret begins and ends, and what to write there."""


def forms_of(value: str) -> set[str]:
    """The ways in which a secret is written: as it is, and encoded for JSON, Python, URLs, HTML, in hex and base64."""
    data = value.encode("utf-8", "surrogatepass")
    escaped = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    escaped |= {json.dumps(form)[1:-1] for form in escaped} | {html.escape(value)}  # JSON in JSON is common
    printed = {repr(value)[1:-1], repr(data)[2:-1]}
    linked = {quote(data, safe=""), quote(data), quote_plus(data)}
    plain = {*escaped, *printed, *linked, *map(_lower_hex, linked), data.hex(), data.hex().upper(), *_base64_of(data)}
    return {value} | {form for form in plain if len(form) >= SHORTEST_FORM}


def _lower_hex(text: str) -> str:
    """Percent signs with small letters after them, as some write them."""
    first, *rest = text.split("%")
    return "%".join([first, *(part[:2].lower() + part[2:] for part in rest)])


def _base64_of(data: bytes) -> Iterator[str]:
    """What stands for the bytes in base64 whatever is before and after them, at each of the three offsets."""
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + data).decode()
        sure = encoded[-(-offset * 8 // 6) : (offset + len(data)) * 8 // 6]
        yield sure
        yield sure.replace("+", "-").replace("/", "_")


def _parts_of(value: str) -> Iterator[str]:
    """The secret, and each line of it if it has several."""
    yield value.strip() or value
    lines = value.strip().splitlines()
    for line in lines if len(lines) > 1 else ():
        if len(line.strip()) >= SHORTEST_LINE and not line.startswith("-----"):
            yield line.strip()


class Redactor:
    """Takes some secrets out of texts and values."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        found = {
            form: f"«secret {name}»"
            for name, value in secrets.items()
            for part in _parts_of(value)
            if len(part) >= SHORTEST
            for form in forms_of(part)
        }
        self._marks: Final = dict(sorted(found.items(), key=lambda each: -len(each[0])))
        """What to write instead of each form; a form comes before those it holds."""
        self._needles: Final = [as_json_text(form, is_plain=True)[1:-1] for form in self._marks if _is_whole(form)]
        self._longest: Final = max(map(len, self._marks), default=0)

    # ------------------------------------------------------------ texts

    def text(self, text: str) -> str:
        """A text without secrets."""
        return self.joined([text])[0]

    def joined(self, pieces: list[str]) -> list[str]:
        """Pieces of one text without secrets, also where one begins in a piece and ends in another."""
        whole = "".join(pieces)
        spans = self._spans(whole)
        if not spans:
            return pieces
        found: list[str] = []
        at = 0
        for piece in pieces:
            found.append(_without(whole, at, at + len(piece), spans))
            at += len(piece)
        return found

    def _spans(self, text: str) -> list[Span]:
        """Where secrets are; those that overlap are one."""
        found = sorted(span for form, mark in self._marks.items() for span in _places(text, form, mark))
        merged: list[Span] = []
        for start, end, mark in found:
            if merged and start < merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]), merged[-1][2])
            else:
                merged.append((start, end, mark))
        return merged

    def cut_text(self, text: str) -> str:
        """A text that may have been cut: the beginning of a secret at its end goes too."""
        clean = self.text(text)
        whole = clean.removesuffix("…")
        kept, mark = self._without_beginning(whole)
        return f"{kept}{mark}{clean[len(whole) :]}" if mark else clean

    def _without_beginning(self, text: str) -> tuple[str, str]:
        for form, mark in self._marks.items():
            for length in range(min(len(form) - 1, len(text)), CUT - 1, -1):
                if text.endswith(form[:length]):
                    return text[:-length], mark
        return text, ""

    def flow(self) -> "Flow":
        """For texts that follow on each other."""
        return Flow(self, max(1, self._longest - 1))

    # ------------------------------------------------------------ values

    def is_in(self, data: bytes) -> bool:
        """Whether there is a secret in JSON text, also one that goes on in the next text of a list."""
        return any(needle in data for needle in self._needles) or self._is_split(data)

    def _is_split(self, data: bytes) -> bool:
        closed = data.replace(b'","', b"") if b'","' in data else b""
        return any(needle in closed for needle in self._needles)

    def value(self, value: Any, text: bytes = b"") -> Any:
        """A JSON value without secrets; the same object if there were none. `text`: the value as JSON."""
        try:
            found = self.is_in(text or as_json_text(value, is_plain=True))
        except NotJson:
            found = True  # whoever keeps it will say what is wrong; until then it is looked at piece by piece
        return self._cleaned(value, self.text) if found else value

    def cut_value(self, value: Any) -> Any:
        """As `value`, for a small one whose texts may have been cut."""
        return self._cleaned(value, self.cut_text)

    def _cleaned(self, value: Any, clean: Callable[[str], str]) -> Any:
        """A copy without secrets, made without recursion: a value may be deep."""
        whole: list[Any] = [value]
        stack: list[tuple[Any, Any]] = [(whole, 0)]
        while stack:
            holder, key = stack.pop()
            each = holder[key]
            if isinstance(each, str):
                holder[key] = clean(each)
            elif is_mapping(each):
                holder[key] = copy = {self.text(str(name)): inner for name, inner in each.items()}
                stack += [(copy, name) for name in copy]
            elif is_list(each):
                holder[key] = items = self._items(list(each))
                stack += [(items, n) for n in range(len(items))]
        return whole[0]

    def _items(self, items: list[Any]) -> list[Any]:
        are_texts = len(items) > 1 and all(isinstance(each, str) for each in items)
        return cast("list[Any]", self.joined(items)) if are_texts else items


class Flow:
    """Texts that follow on each other: a secret that begins in one and ends in the next is seen."""

    def __init__(self, redactor: Redactor, reach: int) -> None:
        self._redactor: Final = redactor
        self._reach: Final = reach
        self._before = ""

    def text(self, text: str) -> str:
        """The next text, without secrets."""
        _, clean = self._redactor.joined([self._before, text])
        self._before = (self._before + text)[-self._reach :]
        return self._redactor.cut_text(clean)


def _places(text: str, form: str, mark: str) -> Iterator[Span]:
    at = text.find(form)
    while at >= 0:
        yield at, at + len(form), mark
        at = text.find(form, at + len(form))


def _without(whole: str, start: int, end: int, spans: list[Span]) -> str:
    """A part of a text; a mark stands where its secret begins."""
    kept: list[str] = []
    at = start
    for first, last, mark in spans:
        if last > start and first < end:
            kept += [whole[at : max(at, first)], mark if first >= start else ""]
            at = max(at, min(last, end))
    return "".join([*kept, whole[at:end]])


def _is_whole(form: str) -> bool:
    """Whether it can stand in JSON text at all: not with half of a Unicode pair in it."""
    try:
        form.encode()
    except UnicodeEncodeError:
        return False
    return True
