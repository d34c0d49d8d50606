"""JSON, strictly: no duplicate keys, no NaN, no lone surrogates, no numbers that others would round.

The standard parser reads the text. Only when it saw something odd is the text scanned a second
time, by hand, to find out where.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from perdure.plan.limits import Limits
from perdure.plan.model.parts import MAX_INTEGER, SURROGATE
from perdure.plan.problems import Path, Problem, Segment
from perdure.plan.raw import Raw
from perdure.plan.reading.source import LONGEST_NUMBER, Finder, Position, Unreadable

TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
ESCAPED_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
BRACKET: Final = re.compile(r"[\[\]{}]")
STEPS: Final = {"[": 1, "{": 1, "]": -1, "}": -1}


class _OddError(Exception):
    """Something to look for in a second pass."""


def _pairs(pairs: list[tuple[str, Raw]]) -> dict[str, Raw]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _OddError
    return found


def _integer(text: str) -> int:
    if len(text) > LONGEST_NUMBER or abs(int(text)) > MAX_INTEGER:
        raise _OddError
    return int(text)


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise _OddError
    return number


def _constant(_: str) -> float:
    raise _OddError


def read_json(text: str, limits: Limits) -> tuple[Raw, list[Problem]]:
    """The data in a JSON text, and what is wrong with the text."""
    try:
        value = json.loads(
            text, object_pairs_hook=_pairs, parse_int=_integer, parse_float=_float, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        hint = "check quotes, commas and brackets near this place"
        problem = Problem("PRD1003", f"this is not JSON: {error.msg}", help=hint, line=error.lineno, column=error.colno)
        raise Unreadable(problem) from error
    except (_OddError, RecursionError):
        return _as_far_as_possible(text), _problems_in(text, limits)
    odd = ESCAPED_SURROGATE.search(text) or SURROGATE.search(text) or _depth(text) > limits.nesting
    return value, _problems_in(text, limits) if odd else []


def _as_far_as_possible(text: str) -> Raw:
    """What is odd was noted; the rest of the plan is read all the same."""
    try:
        return json.loads(
            text, parse_int=lambda number: int(number) if len(number) < LONGEST_NUMBER else MAX_INTEGER + 1
        )
    except RecursionError:
        return None


def _depth(text: str) -> int:
    """How deep lists and objects are nested, at the speed of the standard library."""
    brackets = BRACKET.findall(STRING.sub("", text))
    return max(accumulate(map(STEPS.__getitem__, brackets)), default=0)


@dataclass
class _Frame:
    """A list or an object that is still open."""

    is_list: bool
    count: int = 0
    key: str | None = None
    keys: set[str] = field(default_factory=set[str])

    @property
    def segment(self) -> Segment:
        return self.count if self.is_list else self.key or ""


class _Scan:
    """Walks over the tokens of a text that is known to be JSON, or nearly."""

    def __init__(self, text: str, limits: Limits) -> None:
        self.text = text
        self.problems: list[Problem] = []
        self._nesting = limits.nesting
        self._frames: list[_Frame] = []
        self._line, self._line_start = 1, 0
        self._counted = 0

    def values(self) -> Iterator[tuple[Path, Position]]:
        for token in TOKEN.finditer(self.text):
            place = self._position(token.start())
            word = token.group()
            if word in ("}", "]"):
                if self._frames:
                    self._frames.pop()
            elif word == ",":
                self._next()
            elif word != ":":
                yield from self._value(word, place)

    def _value(self, word: str, place: Position) -> Iterator[tuple[Path, Position]]:
        frame = self._frames[-1] if self._frames else None
        if frame and not frame.is_list and frame.key is None:
            self._key(frame, word, place)
            return
        yield tuple(each.segment for each in self._frames), place
        if word in ("{", "["):
            self._frames.append(_Frame(word == "["))
            if len(self._frames) > self._nesting:
                message = f"the document is nested more than {self._nesting} deep"
                raise Unreadable(Problem("PRD1004", message, help="flatten it", line=place[0], column=place[1]))
        else:
            self._look(word, place)

    def _key(self, frame: _Frame, word: str, place: Position) -> None:
        frame.key = _text(word)
        if frame.key in frame.keys:
            self._note("PRD1006", f'the key "{frame.key}" stands here twice', "keep one of them", place)
        frame.keys.add(frame.key)
        self._look(word, place)

    def _look(self, word: str, place: Position) -> None:
        if word.startswith('"'):
            if SURROGATE.search(_text(word)):
                self._note(
                    "PRD1008", "a text holds half of a Unicode pair (a lone surrogate)", "write the whole pair", place
                )
        elif word.lstrip("-") in ("NaN", "Infinity"):
            self._note("PRD1008", f"{word} is not JSON", "write null, or a text", place)
        elif word not in ("true", "false", "null") and not _fits(word):
            self._note("PRD1008", "the number is beyond ±(2^53-1)", "write it as a text", place)

    def _next(self) -> None:
        if self._frames:
            self._frames[-1].count += 1
            self._frames[-1].key = None

    def _position(self, offset: int) -> Position:
        between = self.text[self._counted : offset]
        if newlines := between.count("\n"):
            self._line += newlines
            self._line_start = self._counted + between.rfind("\n") + 1
        self._counted = offset
        return self._line, offset - self._line_start + 1

    def _note(self, code: str, message: str, hint: str, place: Position) -> None:
        path = tuple(frame.segment for frame in self._frames)
        self.problems.append(Problem(code, message, path, hint, line=place[0], column=place[1]))


def _text(word: str) -> str:
    try:
        return str(json.loads(word, strict=False))
    except ValueError:
        return word


def _fits(word: str) -> bool:
    if len(word) > LONGEST_NUMBER:
        return False
    try:
        return abs(int(word)) <= MAX_INTEGER
    except ValueError:
        return abs(float(word)) != float("inf")


def _problems_in(text: str, limits: Limits) -> list[Problem]:
    scan = _Scan(text, limits)
    for _ in scan.values():
        pass
    return scan.problems


def find_in_json(text: str, finder: Finder, limits: Limits) -> None:
    """Tell the finder where everything stands."""
    for path, position in _Scan(text, limits).values():
        finder.see(path, position)
