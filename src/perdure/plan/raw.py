"""Values as they were read, before they are known to have any shape."""

from collections.abc import Mapping
from typing import Any, Final, TypeGuard

Raw = Any
OBJECT: Final[type] = dict
"""What JSON gives for an object: quicker to see than whether something is a mapping, where that counts."""

_KINDS: Final[Mapping[str, type]] = {
    "string": str, "boolean": bool, "integer": int, "number": float, "array": list, "object": dict, "null": type(None),
}  # fmt: skip
KINDS: Final = tuple(_KINDS)
"""The types of JSON Schema."""


def kind_of(value: Raw) -> str:
    """The narrowest type of a value in JSON Schema; empty, if JSON has none for it."""
    return next((kind for kind, made_of in _KINDS.items() if isinstance(value, made_of)), "")


def is_a(kind: str, value: Raw) -> bool:
    """Whether a value is of a type of JSON Schema: an integer is a number, and a whole number an integer."""
    found = kind_of(value)
    if kind == "number":
        return found in ("integer", "number")
    return found == kind or (kind == "integer" and found == "number" and value.is_integer())


def is_mapping(value: Raw) -> TypeGuard[Mapping[str, Raw]]:
    """Whether a value is a mapping; its keys were texts in the document."""
    return isinstance(value, Mapping)


def is_list(value: Raw) -> TypeGuard[list[Raw] | tuple[Raw, ...]]:
    """Whether a value is a list."""
    return isinstance(value, (list, tuple))
