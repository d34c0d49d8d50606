"""The values an expression is given and gives: only those it names, only JSON, and not too much of it."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, cast

from perdure.plan.expr.errors import NOT_JSON, TOO_MUCH, ExpressionError
from perdure.plan.expr.path import MISSING, Part, Reference, Scope, step_into
from perdure.plan.raw import Raw, is_list, is_mapping

MAX_SIZE: Final = 1024 * 1024
"""The most that the values given to an expression, or its result, may take as JSON."""
MAX_VALUES: Final = 50_000
"""The most values and keys that may be in them: many small values are more work than few large ones."""
MAX_DEPTH: Final = 64
MAX_GIVEN_INTEGER: Final = 2**63 - 1
MAX_RESULT_INTEGER: Final = 2**53 - 1
_ZERO: Final = "\0"
_SCALAR, _COMMA, _KEY = 2, 2, 6  # bytes that are counted besides the letters

# ------------------------------------------------------------------------------- choosing


class Given:
    """As much of a scope as leads to the values that are named. What is missing is left out.

    A list that is only passed through becomes a mapping by position.
    """

    def __init__(self, references: Iterable[Reference], scope: Scope) -> None:
        self._given: dict[Part, Raw] = {}
        self.values: list[tuple[Reference, Raw]] = []
        """What was taken whole."""
        self._ways = {id(self._given)}
        for reference in sorted(references, key=_whole_values_first):
            self._take(reference, scope)

    @property
    def roots(self) -> Mapping[str, Raw]:
        """What was taken, by root."""
        return cast("dict[str, Raw]", self._given)

    def _take(self, reference: Reference, scope: Scope) -> None:
        here: dict[Part, Raw] = self._given
        value: Raw = scope
        *way, last = (reference.root, *reference.parts)
        for depth, part in enumerate(way):
            value = step_into(value, part)
            if value is MISSING:
                return
            if part not in here:
                here[part] = self._way(reference, depth, value)
            here = here[part]
            if id(here) not in self._ways:
                return  # a whole value: what is looked for is in it, or is not there
        value = step_into(value, last)
        if value is not MISSING and last not in here:
            here[last] = self._whole(reference, value)

    def _way(self, reference: Reference, depth: int, value: Raw) -> Raw:
        leads_on = is_mapping(value) or is_list(value) or (reference.optional and depth >= reference.required)
        if not leads_on:
            return self._whole(reference, value)
        way: dict[Part, Raw] = {}
        self._ways.add(id(way))
        return way

    def _whole(self, reference: Reference, value: Raw) -> Raw:
        if reference.tested:
            return None
        self.values.append((reference, value))
        return value


def _whole_values_first(reference: Reference) -> tuple[bool, int]:
    length = len(reference.parts)
    return reference.tested, -length if reference.tested else length


# ------------------------------------------------------------------------------- weighing


@dataclass(slots=True)
class Size:
    """How large values are, together."""

    bytes: int = 0
    """About as many as their JSON has."""
    nodes: int = 0
    """Values, and values in them."""
    keys: int = 0
    """Keys in them, and one more for each list or object."""

    def add(self, value: Raw) -> None:
        """Add a value; raise `ValueError` if CEL cannot be given it, and `OverflowError` once there is too much."""
        level = [value]
        for _ in range(MAX_DEPTH):
            try:
                level = self._add_level(level)
            except TypeError:
                raise ValueError("a key that is not a text") from None
            if not level:
                return
        raise ValueError(f"values nested more than {MAX_DEPTH} deep")

    def _add_level(self, level: list[Raw]) -> list[Raw]:
        """Add the values themselves, and give those in them. Every value passes here, so nothing is done twice."""
        below: list[Raw] = []
        self.nodes += len(level)
        if self.nodes + self.keys > MAX_VALUES:
            raise OverflowError
        room = MAX_SIZE - self.bytes - len(level) * _SCALAR
        for value, kind in zip(level, map(type, level), strict=True):
            if kind is str:
                room -= len(value) if value.isascii() and _ZERO not in value else _checked_length(value)
            elif kind is dict or kind is list:
                room -= len(value) * (_KEY if kind is dict else _COMMA)
                if room < 0:
                    raise OverflowError  # before anything is copied
                self.keys += 1
                below += value if kind is list else value.values()
                if kind is dict:
                    keys = "".join(value)
                    room -= len(keys) if keys.isascii() and _ZERO not in keys else _checked_length(keys)
                    self.keys += len(value)
            elif kind is not bool and value is not None:
                _check_number(value)
            if room < 0:
                raise OverflowError
        self.bytes = MAX_SIZE - room
        return below


def _checked_length(text: str) -> int:
    if len(text) > MAX_SIZE:
        raise OverflowError
    if _ZERO in text:
        raise ValueError("a text with the character U+0000, at which CEL would cut it off")
    try:
        return len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError:
        raise ValueError("half of a Unicode pair (a lone surrogate)") from None


def _check_number(value: Raw) -> None:
    if type(value) is int:
        if abs(value) > MAX_GIVEN_INTEGER:
            raise ValueError("an integer of more than 64 bits")
    elif type(value) is not float:
        raise ValueError(f"a value of type {type(value).__name__}")
    elif not math.isfinite(value):
        raise ValueError("NaN or Infinity")


def weigh(given: Given) -> Size:
    """The size of all values given; an error if CEL cannot be given them, or they are too much."""
    size = Size()
    for reference, value in given.values:
        try:
            size.add(value)
        except ValueError as flaw:
            message = f"{reference} cannot be given to an expression: it holds {flaw}"
            raise ExpressionError(NOT_JSON, message, offset=reference.offset) from None
        except OverflowError:
            raise _too_large(reference) from None
    return size


def _too_large(reference: Reference) -> ExpressionError:
    message = f"with {reference}, the expression is given more than 1 MB or {MAX_VALUES:,} values"
    return ExpressionError(TOO_MUCH, message, "name only the parts that are needed", reference.offset)


# ------------------------------------------------------------------------------- results

_ADVICE: Final = {
    "datetime": "write string(…) around a time",
    "timedelta": "write string(…) around a duration",
    "bytearray": "write string(…) around bytes",
}


def checked(result: Raw) -> Raw:
    """A text, number or truth that CEL gave; an error if it is none of these, or no JSON."""
    if isinstance(result, float) and not math.isfinite(result):
        raise ExpressionError(NOT_JSON, "the result holds NaN or Infinity, which is not JSON")
    if isinstance(result, int) and abs(result) > MAX_RESULT_INTEGER:
        raise ExpressionError(NOT_JSON, "the result holds an integer beyond ±(2^53-1)", "write string(…) around it")
    if not isinstance(result, (str, int, float)):
        advice = _ADVICE.get(type(result).__name__, "")
        raise ExpressionError(NOT_JSON, "the result holds something that is not JSON", advice)
    return result


def checked_keys(keys: Collection[Raw]) -> list[str]:
    """The keys of an object that CEL gave, sorted, because CEL keeps them in no order."""
    if not all(isinstance(key, str) for key in keys):
        raise ExpressionError(NOT_JSON, "the result holds a key that is not a text", 'write "1" for 1')
    return sorted(keys)
