"""The reference: what the OpenAPI document says, in an order and in words that people read."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

Schema = Mapping[str, Any]
_PLAIN: Final = {
    "string": "text", "integer": "whole number", "number": "number", "boolean": "yes or no", "null": "null",
    "object": "object", "array": "list",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Field:
    """Something that is sent or answered."""

    name: str
    kind: str
    must: bool
    meaning: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One route."""

    noun: str
    method: str
    path: str
    scope: str
    about: str
    parameters: tuple[Field, ...]
    body: str
    """The record that is sent; empty: nothing is."""
    answers: tuple[str, ...]
    """Statuses of what went well, each with what is answered."""


def operations(document: Schema) -> Iterator[Operation]:
    """Every route, in its order."""
    for path, methods in document["paths"].items():
        for method, said in methods.items():
            yield Operation(
                said["tags"][0],
                method.upper(),
                path,
                said["x-scope"],
                said.get("description", ""),
                tuple(map(_parameter, said.get("parameters", ()))),
                _body(said.get("requestBody", {})),
                tuple(_answers(said["responses"])),
            )


def records(document: Schema) -> Iterator[tuple[str, str, tuple[Field, ...]]]:
    """Everything that is sent and answered: its name, what it is, its fields."""
    for name, schema in sorted(document["components"]["schemas"].items()):
        if "properties" in schema:
            yield name, schema.get("description", ""), tuple(_fields(schema))


def _fields(schema: Schema) -> Iterator[Field]:
    must = schema.get("required", ())
    for name, each in schema["properties"].items():
        yield Field(name, in_words(each), name in must, each.get("description", ""))


def _parameter(said: Schema) -> Field:
    schema = said["schema"]
    name = f"{said['name']}:" if said["in"] == "header" else said["name"]
    meaning = said.get("description") or schema.get("description", "")
    default = f" Else {schema['default']}." if schema.get("default") not in (None, "", False) else ""
    return Field(name, in_words(schema), said.get("required", False), meaning + default)


def _body(said: Schema) -> str:
    found = said.get("content", {}).get("application/json", {})
    return in_words(found["schema"]) if found else ""


def _answers(said: Schema) -> Iterator[str]:
    for status, each in said.items():
        if status.startswith("2"):
            content = each.get("content", {})
            kinds = (
                in_words(told["schema"]) if told.get("schema", {}).keys() - {"type"} else kind
                for kind, told in content.items()
            )
            yield f"{status} {' or '.join(kinds)}".strip()


def in_words(schema: Schema) -> str:
    """What a schema takes, in a few words; a record by its name."""
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema.get("enum", (schema.get("const"),)))
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(in_words, schema["anyOf"])))
    if schema.get("type") == "array":
        return f"list of {in_words(schema['items'])}" if schema.get("items") else "list"
    if isinstance(schema.get("additionalProperties"), Mapping) and schema["additionalProperties"]:
        return f"mapping of {in_words(schema['additionalProperties'])}"
    return _PLAIN.get(schema.get("type", ""), "anything")


def by_noun(found: Iterable[Operation]) -> dict[str, list[Operation]]:
    """Routes by what they are about."""
    nouns: dict[str, list[Operation]] = {}
    for each in found:
        nouns.setdefault(each.noun, []).append(each)
    return nouns
