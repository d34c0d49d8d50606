"""A value that a JSON Schema allows: what a step might give, where nobody knows what it will give."""

from typing import Any, Final

from perdure.plan.raw import Raw, is_list, is_mapping

DEEPEST: Final = 8
_PLAIN: Final[dict[str, Any]] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "null": None,
    "array": [],
    "object": {},
}


def sample(schema: Raw, depth: int = 0) -> Any:
    """The plainest value that fits, as far as that is easily told. None where nothing is said."""
    if not is_mapping(schema) or depth > DEEPEST:
        return None
    for word in ("const", "default"):
        if word in schema:
            return schema[word]
    for word in ("enum", "examples"):
        if is_list(given := schema.get(word)) and given:
            return given[0]
    for word in ("anyOf", "oneOf", "allOf"):
        if is_list(given := schema.get(word)) and given:
            return sample(given[0], depth + 1)
    return _of_type(schema, depth)


def _of_type(schema: Any, depth: int) -> Any:
    kind: Any = schema.get("type")
    kind = kind[0] if is_list(kind) and kind else kind
    if kind == "object" or "properties" in schema:
        return _object(schema, depth)
    if kind == "array" and schema.get("minItems"):
        return [sample(schema.get("items"), depth + 1)]
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return _PLAIN.get(kind) if isinstance(kind, str) else None


def _object(schema: Any, depth: int) -> dict[str, Any]:
    fields: Any = schema.get("properties")
    return {name: sample(each, depth + 1) for name, each in fields.items()} if is_mapping(fields) else {}
