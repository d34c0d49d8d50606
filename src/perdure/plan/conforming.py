"""Whether a value is what a JSON Schema (draft 2020-12) asks for. The one place that knows the library behind it.

A schema may come from a stranger, so nothing is fetched for it, no pattern backtracks, and it is refused when looking
at the value would take too long. References lead to places in the same schema: `#`, `#/$defs/name`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Any, Final, Protocol, cast

from perdure.plan.problems import Path, written
from perdure.plan.raw import OBJECT, Raw, is_list, is_mapping

DEEPEST: Final = 200
"""Lists and objects within each other; the library calls itself for each."""
MOST_PARTS: Final = 1_000_000
"""Values within a value."""
MOST_LOOKS: Final = 100_000
"""How often a part of a schema with references may be held against a part of the value."""
PATTERN_BYTES: Final = 1_000_000
"""Memory of one pattern."""
MOST_READY: Final = 4096
"""Schemas that are kept ready, with about two kilobytes each."""
FLAT: Final = 1_000
"""Values within a value that is not worth looking through."""
SCALARS: Final = frozenset({str, int, float, bool, type(None)})
SENTENCE: Final = 300
"""Letters of one flaw; the library quotes whole values."""

Looks = list[tuple[Raw, Raw]]
"""Parts of a schema, each with the part of the value it is held against."""


class _Error(Protocol):
    message: str
    instance_path: list[str | int]


class _Validator(Protocol):
    def is_valid(self, instance: Raw) -> bool: ...
    def iter_errors(self, instance: Raw) -> Iterator[_Error]: ...


class _Unusable(Exception):
    """The schema, or the value, cannot be looked at; its text says why."""


def flaws(value: Raw, schema: Mapping[str, Any], most: int = 5, place: Path = ()) -> list[str]:
    """What is wrong with a value, in sentences that begin with where it is wrong; empty if it conforms.

    `place` is where the value itself stands, as in `("inputs",)`.
    """
    try:
        if not _is_flat(value):
            _refuse_large(value)
        ready = _READY.get(id(schema)) or _made_ready(schema)
        if ready.refers:
            _refuse_long(schema, value)
        if ready.validator.is_valid(value):
            return []
        return [_told(error, place) for error in islice(ready.validator.iter_errors(value), most)]
    except _Unusable as refusal:
        return [_sentence(place, str(refusal))]
    except ValueError as error:  # the library meets a value that is not JSON
        return [_sentence(place, f"the value is not JSON: {error}")]


def unusable(schema: Mapping[str, Any]) -> str:
    """Why no value can be held against a schema; empty if values can."""
    try:
        ready = _READY.get(id(schema)) or _made_ready(schema)
        if ready.refers:
            _refuse_long(schema, {})
        _ = ready.validator
    except _Unusable as refusal:
        return _sentence((), str(refusal))
    except ValueError as error:
        return _sentence((), f"it is not JSON: {error}")
    return ""


class _Ready:
    """A schema that values can be held against. It is held itself, so that no other one comes to have its `id()`."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        _refuse_large(schema)
        self.schema: Final = schema
        self.refers: Final = has_references(schema)
        """Whether there are references in it; then it is weighed with each value before it is used."""

    @cached_property
    def validator(self) -> _Validator:
        """What the library makes of it."""
        return _validator(self.schema)


_READY: Final[dict[int, _Ready]] = {}
"""Made once for each schema: those of plans and tools are asked again and again, and never change."""


def _made_ready(schema: Mapping[str, Any]) -> _Ready:
    if len(_READY) >= MOST_READY:
        _READY.clear()
    made = _READY[id(schema)] = _Ready(schema)
    return made


def _told(error: _Error, place: Path) -> str:
    return _sentence((*place, *error.instance_path), error.message)


def _sentence(place: Path, text: str) -> str:
    from perdure.plan.visible import visible  # noqa: PLC0415  most values conform, and then nothing is told

    where = written(place)
    return visible(f"{where}: {text}" if where else text, SENTENCE)


def _validator(schema: Mapping[str, Any]) -> _Validator:
    import jsonschema_rs  # noqa: PLC0415  loaded when the first value is looked at

    try:
        return cast(
            "_Validator",
            jsonschema_rs.Draft202012Validator(
                dict(schema),
                offline=True,
                pattern_options=jsonschema_rs.RegexOptions(size_limit=PATTERN_BYTES),
            ),
        )
    except jsonschema_rs.ValidationError as error:
        raise _unusable(error.message, tuple(error.instance_path)) from None
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise _unusable(str(error)) from None


def _unusable(why: str, place: Path = ()) -> _Unusable:
    where = f" at {written(place)}" if place else ""
    return _Unusable(f"the schema cannot be used{where}: {why}")


# ------------------------------------------------------------------------------- bounds


def _is_flat(value: Raw) -> bool:
    """Whether it is an object with some plain values, as most results are: nothing in it is deep or large."""
    if type(value) is not OBJECT:
        return False
    inside: Collection[Raw] = value.values()
    return len(inside) <= FLAT and SCALARS.issuperset(map(type, inside))


def _refuse_large(value: Raw) -> None:
    """Level by level, so that depth is seen without going down."""
    level, parts = [value], 0
    for _ in range(DEEPEST + 1):
        level = [inner for each in level for inner in _inside(each)]
        parts += len(level)
        if not level:
            return
        if parts > MOST_PARTS:
            raise _Unusable(f"there are more than {MOST_PARTS:,} values in it")
    raise _Unusable(f"it is nested more than {DEEPEST} deep")


def _inside(value: Raw) -> list[Raw]:
    if type(value) in SCALARS:
        return []
    if is_mapping(value):
        return list(value.values())
    return list(value) if is_list(value) else []


def _refuse_long(schema: Mapping[str, Any], value: Raw) -> None:
    """Without references the work is at most schema times value; with them it can double at each one."""
    stack: list[tuple[Raw, Raw]] = [(schema, value)]
    for _ in range(MOST_LOOKS):
        if not stack:
            return
        part, inner = stack.pop()
        if is_mapping(part):
            _refuse_other_bases(part, schema)
            stack.extend(_looks(part, inner, schema))
    raise _Unusable(f"the schema asks for more than {MOST_LOOKS:,} looks at the value")


def has_references(schema: Raw) -> bool:
    """Whether parts of a schema stand elsewhere."""
    level = [schema]
    while level:
        if any(is_mapping(each) and not {"$ref", "$dynamicRef"}.isdisjoint(each) for each in level):
            return True
        level = [inner for each in level for inner in _inside(each)]
    return False


def _refuse_other_bases(part: Mapping[str, Raw], schema: Mapping[str, Any]) -> None:
    """`$id` would give the references below it another meaning than the one that was weighed."""
    if "$dynamicRef" in part or (part is not schema and "$id" in part):
        raise _unusable("references lead to places in the schema, without $id and $dynamicRef")


def _looks(part: Mapping[str, Raw], value: Raw, schema: Mapping[str, Any]) -> Iterator[tuple[Raw, Raw]]:
    """Which parts of the schema will be held against which parts of the value; rather too many than too few."""
    for word, asked in part.items():
        if word == "$ref":
            yield _at(schema, asked), value
        elif word in _LOOKS:
            yield from _LOOKS[word](asked, value)


def _once(asked: Raw, value: Raw) -> Looks:
    return [(asked, value)]


def _together(asked: Raw, value: Raw) -> Looks:
    return [(each, value) for each in _inside(asked)]


def _each(asked: Raw, value: Raw) -> Looks:
    return [(asked, inner) for inner in _inside(value)]


def _patterns(asked: Raw, value: Raw) -> Looks:
    return [(each, inner) for each in _inside(asked) for inner in _inside(value)]


def _in_order(asked: Raw, value: Raw) -> Looks:
    return list(zip(_inside(asked), _inside(value), strict=False))


def _named(asked: Raw, value: Raw) -> Looks:
    if not is_mapping(asked) or not is_mapping(value):
        return []
    return [(asked[name], inner) for name, inner in value.items() if name in asked]


def _names(asked: Raw, value: Raw) -> Looks:
    return [(asked, name) for name in value] if is_mapping(value) else []


_LOOKS: Final[Mapping[str, Callable[[Raw, Raw], Looks]]] = {
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "dependentSchemas"), _together),
    **dict.fromkeys(("not", "if", "then", "else"), _once),
    **dict.fromkeys(("items", "contains", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"), _each),
    "patternProperties": _patterns,
    "prefixItems": _in_order,
    "properties": _named,
    "propertyNames": _names,
}


def _at(schema: Mapping[str, Any], reference: Raw) -> Raw:
    """The part of a schema that a JSON Pointer leads to."""
    if not isinstance(reference, str) or (reference != "#" and not reference.startswith("#/")):
        raise _unusable(f"{reference!r} is not fetched; references lead to places in the schema, as in #/$defs/name")
    found: Raw = schema
    for word in reference.split("/")[1:]:
        key = word.replace("~1", "/").replace("~0", "~")
        if is_mapping(found) and key in found:
            found = found[key]
        elif is_list(found) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            raise _unusable(f"there is nothing at {reference!r}")
    return found
