"""What a node of an expression can be, before it is evaluated: some of the values given, and how often."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Final, cast

from perdure.plan.expr.data import Size
from perdure.plan.expr.path import MISSING, Part, step_into
from perdure.plan.raw import Raw

_SCALARS: Final = frozenset({int, float, bool, type(None)})
_CONTAINERS: Final = frozenset({list, dict})
_SCALAR_BYTES: Final = 8
_MOST_UTF8: Final = 4


@dataclass(frozen=True, slots=True)
class Lump:
    """A value that is known only by its size: nothing in it is larger."""

    size: Size
    kind: type
    length: int
    """As a list, the most that it has."""


@dataclass(frozen=True, slots=True)
class Held:
    """One of these values: each at most `times` times, all together at most `count` times."""

    values: list[Raw]
    times: int
    count: int

    @property
    def kinds(self) -> frozenset[type]:
        """The types it can have."""
        kinds = frozenset(map(type, self.values))
        return kinds if Lump not in kinds else frozenset(map(_kind_of, self.values))

    def at_most(self, total: int, most: int) -> int:
        """The most that something adds up to, of which all values have this total, and each no more than this."""
        return min(total * self.times, most * self.count)


def _kind_of(value: Raw) -> type:
    return value.kind if isinstance(value, Lump) else type(value)


# ------------------------------------------------------------------------------- parts


def length_of(value: Raw) -> int:
    """How often a loop over a value goes round."""
    if isinstance(value, Lump):
        return value.length
    return len(value) if type(value) in _CONTAINERS else 0


def members(values: list[Raw], part: Part) -> list[Raw]:
    """What is at a part of these, where it is there."""
    found = [_member(value, part) for value in values]
    return [value for value in found if value is not MISSING]


def _member(value: Raw, part: Part) -> Raw:
    if type(value) is dict:
        return cast("dict[Part, Raw]", value).get(part, MISSING)
    return value if isinstance(value, Lump) else step_into(value, part)


def elements(values: list[Raw]) -> list[Raw]:
    """What a part of one of these can be, if it is not known which."""
    return list(chain.from_iterable(_inside(value) for value in values))


def loop_variable(values: list[Raw]) -> list[Raw]:
    """What the variable of a loop over one of these can be: an element of a list, a key of an object."""
    inside = (cast("dict[str, Raw]", value) if type(value) is dict else _inside(value) for value in values)
    return list(chain.from_iterable(inside))


def _inside(value: Raw) -> Iterable[Raw]:
    if isinstance(value, Lump):
        return (Lump(value.size, Lump, value.size.nodes),)
    if type(value) is dict:
        return cast("dict[str, Raw]", value).values()
    return cast("list[Raw]", value) if type(value) is list else ()


# ------------------------------------------------------------------------------- sizes


@dataclass(frozen=True, slots=True)
class Summary:
    """How large some values are: all together, and the largest."""

    bytes: int
    most_bytes: int
    nodes: int
    most_nodes: int


class Sizes:
    """The sizes of values, each measured once."""

    def __init__(self) -> None:
        self._known: dict[int, Size] = {}
        self._summaries: dict[int, tuple[Summary, list[Raw]]] = {}
        self.measured = 0
        """How many values had to be looked at."""

    def of(self, held: Held) -> Summary:
        """The size of all that something can be."""
        known = self._summaries.get(id(held.values))
        if known is None:
            known = self._summaries[id(held.values)] = (self._summary(held.values), held.values)
        return known[0]

    def _summary(self, values: list[Raw]) -> Summary:
        kinds = frozenset(map(type, values))
        if kinds <= _SCALARS:
            return Summary(len(values) * _SCALAR_BYTES, _SCALAR_BYTES, len(values), 1)
        if kinds <= {str}:
            return _summary_of_texts(values)
        sizes = [self._size(value) for value in values]
        in_bytes, nodes = [size.bytes for size in sizes], [size.nodes for size in sizes]
        return Summary(sum(in_bytes), max(in_bytes), sum(nodes), max(nodes))

    def _size(self, value: Raw) -> Size:
        if isinstance(value, Lump):
            return value.size
        if type(value) not in _CONTAINERS:
            return Size(len(value) * _MOST_UTF8 if isinstance(value, (str, bytes)) else _SCALAR_BYTES, 1)
        size = self._known.get(id(value))  # an id is enough: the scope keeps its values
        if size is None:
            size = self._known[id(value)] = Size()
            size.add(value)
            self.measured += size.nodes
        return size


def _summary_of_texts(values: list[str]) -> Summary:
    factor = 1 if all(map(str.isascii, values)) else _MOST_UTF8
    lengths = list(map(len, values))
    return Summary(sum(lengths) * factor, max(lengths) * factor, len(values), 1)
