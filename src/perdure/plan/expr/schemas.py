"""What is known of the types of values before a run, from JSON Schema."""

import re
from collections.abc import Mapping
from typing import Final

from perdure.plan.expr.path import KEYWORDS, Part, Reference
from perdure.plan.raw import Raw, is_mapping

Schemas = Mapping[str, str | Mapping[str, Raw]]
"""Dotted paths with the JSON Schema of what is there, or only its `type`."""

_CEL: Final = {"string": "string", "integer": "int", "number": "double", "boolean": "bool"}
_DEPTH: Final = 4
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def type_of(schema: Raw) -> str:
    """The `type` a schema names, if it names just one."""
    word = schema.get("type") if is_mapping(schema) else schema
    return word if isinstance(word, str) else ""


def schema_at(reference: Reference, schemas: Schemas) -> Raw:
    """What is known of a path: said of it, or of something that it leads through; or nothing."""
    names = _dotted(reference)
    for length in range(len(names), 0, -1):
        if names[length - 1] in schemas:
            return _descend(schemas[names[length - 1]], reference.parts[length - 1 :])
    return None


def _dotted(reference: Reference) -> list[str]:
    names = [reference.root]
    for part in reference.parts:
        if not isinstance(part, str):
            break
        names.append(f"{names[-1]}.{part}")
    return names


def _descend(schema: Raw, parts: tuple[Part, ...]) -> Raw:
    for part in parts:
        if not is_mapping(schema):
            return None
        inside = schema.get("items" if isinstance(part, int) else "properties")
        schema = inside if isinstance(part, int) else inside.get(part) if is_mapping(inside) else None
    return schema


def cel_types(references: tuple[Reference, ...], schemas: Schemas) -> tuple[tuple[str, str], ...]:
    """The CEL types of all that lies on the way to the values named, by dotted name.

    CEL would take `has(inputs.n)` for the value of a declared `inputs.n`; so what is tested stays undeclared.
    """
    tested = {str(reference) for reference in references if reference.tested}
    found: dict[str, str] = {}
    for reference in references:
        for length in range(1, len(reference.parts) + 1):
            way = Reference(reference.root, reference.parts[:length], optional=False, offset=0)
            if not all(isinstance(part, str) and _is_name(part) for part in way.parts):
                break
            if str(way) not in tested and (word := _cel_type(schema_at(way, schemas))) != "dyn":
                found[str(way)] = word
    return tuple(sorted(found.items()))


def _is_name(part: str) -> bool:
    return bool(_NAME.fullmatch(part)) and part not in KEYWORDS


def _cel_type(schema: Raw, depth: int = _DEPTH) -> str:
    word = type_of(schema)
    if word == "array":
        items = schema.get("items") if is_mapping(schema) else None
        return f"list<{_cel_type(items, depth - 1) if depth else 'dyn'}>"
    return "map<string, dyn>" if word == "object" else _CEL.get(word, "dyn")
