"""YAML as plans use it: the 1.2 core rules, and nothing that makes a reader think.

`no` is a text, `012` is twelve, a key is always a text. Anchors, aliases, tags, duplicate keys and
several documents in a file are refused. The C parser gives the events; composing them is ours, so
that it needs no recursion and every refusal knows its line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

import yaml
from yaml import events as ev

from perdure.plan.limits import Limits
from perdure.plan.problems import Path, Problem, Segment
from perdure.plan.raw import Raw
from perdure.plan.reading.source import LONGEST_NUMBER, Finder, Position, Unreadable

LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

WORDS: Final[dict[str, Raw]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
INTEGER: Final = re.compile(r"[-+]?[0-9]+")
RADIX: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
TOO_LARGE: Final = 1 << 64
"""Stands for every number that is refused anyway, so that nobody computes ten thousand digits."""


def scalar_of(text: str) -> Raw:
    """The value of an unquoted scalar, by the core rules of YAML 1.2."""
    if text in WORDS:
        return WORDS[text]
    return _number_of(text) if text[0] in "+-.0123456789" else text


def _number_of(text: str) -> Raw:
    if NOT_FINITE.fullmatch(text):
        return float(text.replace(".", "", 1))
    if INTEGER.fullmatch(text):
        return int(text) if len(text) < LONGEST_NUMBER else TOO_LARGE
    if RADIX.fullmatch(text):
        return int(text[2:], 8 if text[1] == "o" else 16)
    return float(text) if FLOAT.fullmatch(text) else text


def _position(event: ev.Event) -> Position:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _events(text: str) -> Iterator[ev.Event]:
    try:
        yield from cast("Iterator[ev.Event]", yaml.parse(text, Loader=LOADER))  # pyright: ignore[reportUnknownMemberType]  untyped in its stubs
    except yaml.MarkedYAMLError as error:
        raise Unreadable(_syntax_problem(error)) from error
    except yaml.reader.ReaderError as error:
        message = f"the character {chr(error.character)!r} may not stand in YAML"
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        hint = "take it out, or write it as an escape in double quotes"
        raise Unreadable(Problem("PRD1002", message, help=hint, line=line, column=column)) from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise Unreadable(Problem("PRD1002", f"this is not YAML: {error}", line=1, column=1)) from error


def _syntax_problem(error: yaml.MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    what = ", ".join(part for part in (error.context, error.problem) if part)
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    hint = "indent with spaces, and quote a text that holds `: `, `#`, `{` or starts with a special character"
    return Problem("PRD1002", f"this is not YAML: {what}", help=hint, line=line, column=column)


@dataclass
class _Frame:
    """A list or a mapping that is still open."""

    value: dict[str, Raw] | list[Raw]
    key: str | None = None
    repeated: bool = False

    @property
    def segment(self) -> Segment:
        return len(self.value) if isinstance(self.value, list) else self.key or ""

    @property
    def expects_key(self) -> bool:
        return isinstance(self.value, dict) and self.key is None

    def put(self, value: Raw) -> None:
        if isinstance(self.value, list):
            self.value.append(value)
        elif self.key is not None:
            if not self.repeated:
                self.value[self.key] = value
            self.key, self.repeated = None, False


class Composer:
    """Turns events into plain data. What is wrong is noted, and reading goes on where it can."""

    def __init__(self, limits: Limits, finder: Finder | None = None) -> None:
        self.problems: list[Problem] = []
        self._nesting = limits.nesting
        self._finder = finder
        self._frames: list[_Frame] = []
        self._result: Raw = None
        self._documents = 0

    def compose(self, text: str) -> Raw:
        """The data in a text."""
        for event in _events(text):
            if isinstance(event, ev.DocumentStartEvent) and self._documents:
                self._note(event, "PRD1007", "the file holds several documents", "keep one plan in a file")
                break
            self._take(event)
        return self._result

    def _take(self, event: ev.Event) -> None:
        match event:
            case ev.ScalarEvent():
                self._scalar(event)
            case ev.MappingStartEvent():
                self._open(event, {})
            case ev.SequenceStartEvent():
                self._open(event, [])
            case ev.MappingEndEvent() | ev.SequenceEndEvent():
                self._close()
            case ev.AliasEvent():
                self._note(event, "PRD1007", "an alias (*) refers to another part of the file", "write the value out")
                self._put(event, None)
            case ev.DocumentStartEvent():
                self._documents += 1
            case _:
                pass

    def _scalar(self, event: ev.ScalarEvent) -> None:
        self._plain(event)
        frame = self._frames[-1] if self._frames else None
        if frame and frame.expects_key:
            self._key(event, frame)
        else:
            self._put(event, event.value if event.style else scalar_of(event.value))

    def _key(self, event: ev.ScalarEvent, frame: _Frame) -> None:
        frame.key = event.value
        if event.value in frame.value:
            frame.repeated = True
            self._note(event, "PRD1006", f'the key "{event.value}" stands here twice', "keep one of them")

    def _open(self, event: ev.MappingStartEvent | ev.SequenceStartEvent, value: dict[str, Raw] | list[Raw]) -> None:
        self._plain(event)
        if self._frames and self._frames[-1].expects_key:
            self._note(event, "PRD1007", "a list or a mapping is used as a key", "write a text as the key")
            self._frames[-1].key = ""
        if len(self._frames) >= self._nesting:
            line, column = _position(event)
            message = f"the document is nested more than {self._nesting} deep"
            raise Unreadable(Problem("PRD1004", message, help="flatten it", line=line, column=column))
        self._see(event)
        self._frames.append(_Frame(value))

    def _close(self) -> None:
        value = self._frames.pop().value
        if self._frames:
            self._frames[-1].put(value)
        else:
            self._result = value

    def _put(self, event: ev.Event, value: Raw) -> None:
        self._see(event)
        if self._frames:
            self._frames[-1].put(value)
        else:
            self._result = value

    def _plain(self, event: ev.ScalarEvent | ev.MappingStartEvent | ev.SequenceStartEvent) -> None:
        if event.anchor is not None:
            self._note(
                event, "PRD1007", f"an anchor (&{event.anchor}) is used", "write the value out where it is needed"
            )
        if event.tag is not None:
            self._note(event, "PRD1007", f"a tag ({event.tag}) is used", "quote the value if it is meant as a text")

    def _path(self) -> Path:
        return tuple(frame.segment for frame in self._frames)

    def _see(self, event: ev.Event) -> None:
        if self._finder:
            self._finder.see(self._path(), _position(event))

    def _note(self, event: ev.Event, code: str, message: str, hint: str) -> None:
        line, column = _position(event)
        self.problems.append(Problem(code, message, self._path(), hint, line=line, column=column))


def read_yaml(text: str, limits: Limits) -> tuple[Raw, list[Problem]]:
    """The data in a YAML text, and what is wrong with the text."""
    composer = Composer(limits)
    return composer.compose(text), composer.problems


def find_in_yaml(text: str, finder: Finder, limits: Limits) -> None:
    """Tell the finder where everything stands."""
    Composer(limits, finder).compose(text)
