"""What the functions and operators of an expression cost, and what they can give."""

from collections.abc import Callable
from typing import Final

from perdure.plan.expr.data import Size
from perdure.plan.expr.functions import ARITHMETIC, CLOCK, COMPARING, CONVERTING, INDEXING, PASSING
from perdure.plan.expr.held import Held, Lump, Sizes, elements
from perdure.plan.raw import Raw

# Units for one call, on top of those for any node.
_ERROR: Final = 1000
_EXTRA: Final = {
    **dict.fromkeys(CONVERTING, 1000),
    **dict.fromkeys(CLOCK, 500),
    **dict.fromkeys(INDEXING, 350),
    **dict.fromkeys(PASSING, 350),
    "size": 350,
    "@in": 250,
}
# Units for each value that is looked at, or for each byte.
_EQUAL_NODE: Final = 130
_SEARCH_NODE: Final = 50
_COUNT_BYTE: Final = 2
_CONVERT_BYTE: Final = 20
_KEY_BYTE: Final = 12
_FIND_BYTE: Final = 10
COMPARE_BYTES: Final = 16
"""Bytes for one unit."""
_FIND_PAIRS: Final = 40


def price(function: str, arguments: list[Held], count: int, sizes: Sizes) -> int:
    """The most that all calls of a function cost."""
    units = _EXTRA.get(function, 0) + (0 if _fits(function, [each.kinds for each in arguments]) else _ERROR)
    looking = _LOOKING.get(function)
    return units * count + (looking(sizes, *arguments) if looking else 0)


# ------------------------------------------------------------------------------- looking at values


def _bytes(sizes: Sizes, held: Held) -> int:
    size = sizes.of(held)
    return held.at_most(size.bytes, size.most_bytes)


def _nodes(sizes: Sizes, held: Held) -> int:
    size = sizes.of(held)
    return held.at_most(size.nodes, size.most_nodes)


def _comparing(sizes: Sizes, one: Held, other: Held) -> int:
    nodes = min(_nodes(sizes, one), _nodes(sizes, other))
    return nodes * _EQUAL_NODE + min(_bytes(sizes, one), _bytes(sizes, other)) // COMPARE_BYTES


def _finding(sizes: Sizes, text: Held, wanted: Held) -> int:
    return _bytes(sizes, text) * (_FIND_BYTE + sizes.of(wanted).most_bytes // _FIND_PAIRS)


def _counting(sizes: Sizes, held: Held) -> int:
    return 0 if held.kinds <= {list, dict} else _bytes(sizes, held) * _COUNT_BYTE


def _searching(sizes: Sizes, wanted: Held, held: Held) -> int:
    if held.kinds <= {dict}:
        return _bytes(sizes, wanted)
    return _nodes(sizes, held) * _SEARCH_NODE + (_bytes(sizes, held) + _bytes(sizes, wanted)) // COMPARE_BYTES


def _converting(sizes: Sizes, held: Held) -> int:
    return _bytes(sizes, held) * _CONVERT_BYTE


def _keying(sizes: Sizes, held: Held, key: Held) -> int:
    del held
    return _bytes(sizes, key) * _KEY_BYTE  # a key that is missing is written into the error


_LOOKING: Final[dict[str, Callable[..., int]]] = {
    **dict.fromkeys(COMPARING, _comparing),
    **dict.fromkeys(CONVERTING, _converting),
    **dict.fromkeys(INDEXING, _keying),
    "contains": _finding,
    "size": _counting,
    "@in": _searching,
}

# ------------------------------------------------------------------------------- failing

_Kinds = tuple[frozenset[type], ...]
_NUMBERS: Final[_Kinds] = (frozenset({int}), frozenset({float}))
_ORDERED: Final[_Kinds] = (frozenset({int, float}), frozenset({str}), frozenset({bool}))
_TRUTH: Final[_Kinds] = (frozenset({bool}),)
_TEXT: Final[_Kinds] = (frozenset({str}),)
_SIZED: Final[_Kinds] = (frozenset({str, list, dict}),)
_FITTING: Final[dict[str, _Kinds]] = {
    **dict.fromkeys(ARITHMETIC, _NUMBERS),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _ORDERED),
    **dict.fromkeys(("startsWith", "endsWith", "contains"), _TEXT),
    **dict.fromkeys(("_&&_", "_||_", "!_"), _TRUTH),
    "size": _SIZED,
}
"""What types the arguments may have together."""


def _fits(function: str, kinds: list[frozenset[type]]) -> bool:
    """Whether the types of the arguments are sure to fit; an error costs more than a result."""
    if function in _FITTING:
        together = frozenset[type]().union(*kinds)
        return any(together <= fitting for fitting in _FITTING[function])
    if function == "_?_:_":
        return kinds[0] <= {bool}
    return function != "@in" or kinds[1] <= {list, dict}


# ------------------------------------------------------------------------------- giving

_SAME: Final = frozenset({"dyn", "value", "optional.of", "optional.ofNonZeroValue"})
_EITHER: Final = {"_?_:_": 1, "or": 0, "orValue": 0}
"""What gives one of its arguments, from this one on."""
_READ: Final[dict[str, type]] = {"int": int, "double": float, "string": str, "bool": bool}


def given_by(function: str, arguments: list[Held], count: int, sizes: Sizes) -> Held:
    """What a call can give."""
    if function in _SAME:
        return arguments[0]
    if function in _EITHER:
        choice = arguments[_EITHER[function] :]
        return Held([value for each in choice for value in each.values], max(each.times for each in choice), count)
    if function in INDEXING or function in ("first", "last"):
        return Held(elements(arguments[0].values), count, count)
    if function in CONVERTING:
        return Held([_converted(function, arguments[0], sizes)], count, count)
    if function in ARITHMETIC:
        return Held(list(_one_of_each_kind(arguments).values()), count, count)
    return Held([0 if function == "size" or function in CLOCK else True], count, count)


def _converted(function: str, held: Held, sizes: Sizes) -> Lump:
    return Lump(Size(sizes.of(held).most_bytes + 32, 1), _READ.get(function, Lump), 0)


def _one_of_each_kind(arguments: list[Held]) -> dict[type, Raw]:
    return {type(value): value for argument in arguments for value in argument.values}
