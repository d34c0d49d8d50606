"""Paths into values: `inputs.url`, `steps.a.output.items[0]`, `steps.?a.output["odd key"]`.

A path is a lookup. What is not there is an error that says what is; behind a part that is marked with a
question mark it is null. Nothing here knows CEL, though every path is written as CEL writes it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Self, cast

from perdure.plan.expr.errors import NO_VALUE, SYNTAX, UNKNOWN, ExpressionError, nearest, quoted, shown
from perdure.plan.raw import OBJECT, Raw, is_list, is_mapping

ROOTS: Final = ("inputs", "steps", "item", "index", "output", "secrets", "run", "exit")
"""Every name that an expression can start from."""
LITERALS: Final = frozenset({"true", "false", "null"})
KEYWORDS: Final = frozenset({"in", *LITERALS})
"""Words that CEL does not take for a name."""

_OTHER_LITERALS: Final = {"True": "true", "False": "false", "None": "null", "nil": "null", "undefined": "null"}

Part = str | int
Scope = Mapping[str, Raw]

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_PART: Final = rf"""\.(\??)({_NAME})|\[(\??)(?:([0-9]{{1,9}})|"([^"\\\r\n]*)"|'([^'\\\r\n]*)')\]"""
_PATH: Final = re.compile(rf"\s*({_NAME})((?:{_PART})*)\s*")
_PARTS: Final = re.compile(_PART)
_SHOWN_KEYS: Final = 10


class _Missing:
    """What stands where no value is."""


MISSING: Final = _Missing()


@dataclass(frozen=True)
class Reference:
    """A value that an expression names."""

    root: str
    parts: tuple[Part, ...]
    optional: bool
    """Whether it may be missing: a part is marked with `?` or tested with `has()`."""
    offset: int
    """Where it starts in the source."""
    required: int = field(default=0, compare=False, kw_only=True)
    """How many parts must be there even so: those before the first such part."""
    tested: bool = field(default=False, compare=False, kw_only=True)
    """Whether only its being there matters."""

    @classmethod
    def of(
        cls, root: str, parts: tuple[Part, ...], marked: Sequence[bool], offset: int, *, tested: bool = False
    ) -> Self:
        """A reference by its parts, and which of them are marked as optional."""
        required = marked.index(True) if True in marked else len(parts)
        return cls(root, parts, required < len(parts), offset, required=required, tested=tested)

    def __str__(self) -> str:
        return written(self.root, self.parts)


def written(root: str, parts: tuple[Part, ...]) -> str:
    """A path as people write it: `steps.a.output.items[0]["odd key"]`."""
    return root + "".join(_written_part(part) for part in parts)


def _written_part(part: Part) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if re.fullmatch(_NAME, part) and part not in KEYWORDS else f"[{quoted(part)}]"


# ------------------------------------------------------------------------------- reading


def read_path(source: str) -> Reference | None:
    """The path that a source is, or nothing if it is more than a path."""
    match = _PATH.fullmatch(source)
    if not match or match[1] in KEYWORDS:
        return None
    root, offset = match[1], match.start(1)
    if root not in ROOTS:
        raise unknown_root(root, offset)
    found = list(_PARTS.finditer(source, match.end(1), match.end(2)))
    marked = [bool(part[1] or part[3]) for part in found]
    parts = tuple(_part_of(part) for part in found)
    return Reference.of(root, parts, marked, offset)


def _part_of(match: re.Match[str]) -> Part:
    name, number = match[2], match[4]
    if name in KEYWORDS:
        raise ExpressionError(SYNTAX, f'"{name}" cannot follow a dot', f'write ["{name}"]', match.start(2))
    if number:
        return int(number)
    return name or match[5] or match[6] or ""


def unknown_root(name: str, offset: int) -> ExpressionError:
    """The error for a name that nothing stands behind."""
    literal = _OTHER_LITERALS.get(name)
    advice = f"write {literal}" if literal else nearest(name, ROOTS) or f"write one of: {', '.join(ROOTS)}"
    return ExpressionError(UNKNOWN, f"{quoted(name)} is unknown here", advice, offset)


# ------------------------------------------------------------------------------- looking up


def step_into(value: Raw, part: Part) -> Raw:
    """The value one part further, or `MISSING`."""
    if type(value) is OBJECT:
        return value.get(part, MISSING)
    if is_mapping(value):
        return cast("Mapping[Part, Raw]", value).get(part, MISSING)
    if is_list(value) and isinstance(part, int) and 0 <= part < len(value):
        return value[part]
    return MISSING


def look_up(reference: Reference, scope: Scope, otherwise: Raw = None) -> Raw:
    """The value at a path; an error where there is none, or something else (null) behind an optional part."""
    value = scope.get(reference.root, MISSING)
    if value is MISSING:
        raise ExpressionError(NO_VALUE, f"{reference.root} has no value here", offset=reference.offset)
    for depth, part in enumerate(reference.parts):
        inner = step_into(value, part)
        if inner is MISSING:
            if reference.optional and depth >= reference.required:
                return otherwise
            raise _no_value(reference, depth, value)
        value = inner
    return value


def _no_value(reference: Reference, depth: int, value: Raw) -> ExpressionError:
    here = written(reference.root, reference.parts[:depth])
    part = reference.parts[depth]
    if here == "secrets":
        told = f"there is no secret {part}: set PERDURE_SECRET_{part}, or write it into secrets.toml"
        return ExpressionError(NO_VALUE, told, "", reference.offset)
    message = f"{written(reference.root, reference.parts[: depth + 1])} has no value: {here} {_holds(value)}"
    near = nearest(part, value) if isinstance(part, str) and is_mapping(value) else ""
    mark = f"[?{part}]" if isinstance(part, int) else f'[?"{part}"]' if "[" in _written_part(part) else f".?{part}"
    return ExpressionError(NO_VALUE, message, near or f"write {here}{mark} if it may be missing", reference.offset)


def _holds(value: Raw) -> str:
    if is_mapping(value):
        keys = [shown(str(key), 40) for key in islice(value, _SHOWN_KEYS)]
        more = f" and {len(value) - _SHOWN_KEYS} more" if len(value) > _SHOWN_KEYS else ""
        return f"has {', '.join(keys)}{more}" if keys else "is empty"
    if is_list(value):
        return f"is a list of {len(value)}"
    return f"is {kind_of(value)}"


def kind_of(value: Raw) -> str:
    """What a value is, in a word."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, (int, float)):
        return "a number"
    return "a list" if is_list(value) else "an object" if is_mapping(value) else f"of type {type(value).__name__}"
