"""What a parameter wants, as far as its schema and its name tell: an address, a path, a number, one of some words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from perdure.agents.requests.pieces import Kind
from perdure.plan.conforming import flaws
from perdure.plan.raw import Raw, is_list, is_mapping

Sort = Literal[Kind, "choice", "flag", "id", "pattern", "secret", "other"]

_FORMATS: Final[dict[str, Sort]] = {
    "uri": "url", "url": "url", "iri": "url", "email": "email", "idn-email": "email", "date": "date",
    "date-time": "date", "path": "path", "file-path": "path", "directory-path": "path", "password": "secret",
    "uuid": "pattern",
}  # fmt: skip
_NAMES: Final[dict[str, Sort]] = {
    **dict.fromkeys(("url", "uri", "link", "href"), "url"),
    **dict.fromkeys(("email", "mail"), "email"),
    **dict.fromkeys(("path", "file", "filename", "directory", "folder", "dir"), "path"),
    **dict.fromkeys(("password", "passphrase", "secret", "token", "apikey"), "secret"),
    "date": "date",
    "id": "id",
}
"""By the last word of a name."""
_TEXTS: Final = frozenset({"text", "content", "message", "body", "query"})
_UUID: Final = r"^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
_JOINTS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")


@dataclass(frozen=True)
class Want:
    """One parameter of a tool, or one input of a plan."""

    name: str
    schema: Mapping[str, Raw]
    sort: Sort
    required: bool = False
    many: bool = False
    """Whether it is a list of such values."""
    numeric: bool = False
    words: tuple[str, ...] = field(default=())
    """The words of its name."""

    def fits(self, value: Raw) -> bool:
        """Whether it may be this value."""
        whole = "integer" not in _types(self.schema) or not isinstance(value, float)
        return whole and not flaws(value, self.schema, 1)

    @property
    def speaks(self) -> bool:
        """Whether its name says that it is what somebody has put in quotation marks, and nothing more special."""
        return self.sort == "text" and not self.many and not _TEXTS.isdisjoint(self.words[-1:])

    @property
    def default(self) -> Raw:
        """What it is where nobody says anything."""
        return self.schema.get("default")

    @property
    def choices(self) -> tuple[Raw, ...]:
        """The values that it may have, if they are counted up."""
        found = self.schema.get("enum")
        return tuple(found) if is_list(found) else ()

    @property
    def pattern(self) -> str:
        """The pattern that a whole text has to match; empty: none that says where it begins and ends."""
        found = _UUID if self.schema.get("format") == "uuid" else self.schema.get("pattern")
        return found if isinstance(found, str) and found.startswith("^") and found.endswith("$") else ""


def wants_of(inputs: Mapping[str, Raw] | None) -> tuple[Want, ...]:
    """The parameters that a JSON Schema of arguments names, in its order."""
    known: Raw = (inputs or {}).get("properties")
    required: Raw = (inputs or {}).get("required")
    needed = set(required) if is_list(required) else set[Raw]()
    shared = {"$defs": (inputs or {})["$defs"]} if "$defs" in (inputs or {}) else {}
    if not is_mapping(known):
        return ()
    return tuple(_want(name, _plain(schema, shared), name in needed) for name, schema in known.items())


def _plain(schema: Raw, shared: Mapping[str, Any]) -> dict[str, Raw]:
    """The schema itself, where it is one that is named elsewhere or one that may be null too."""
    if not is_mapping(schema):
        return {}
    said = {word: value for word, value in schema.items() if word in ("default", "description")}
    if isinstance(place := schema.get("$ref"), str):
        return {**_plain(shared.get("$defs", {}).get(place.rpartition("/")[2]), shared), **said}
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if is_mapping(branch) and branch.get("type") in ("string", "integer", "number", "boolean"):
            return {**branch, **said, **shared}
    return {**schema, **shared}


def words_in(name: str) -> tuple[str, ...]:
    """The words of a name: `customer_id`, `customerId` and `customer-id` have the same."""
    return tuple(each.casefold() for each in _JOINTS.split(name) if each)


def _want(name: str, schema: dict[str, Raw], required: bool) -> Want:  # noqa: FBT001  said once, below
    words = words_in(name)
    types, inside = _types(schema), schema.get("items")
    many = types == {"array"} and is_mapping(inside)
    sort = _sort(words, dict(inside) if many and is_mapping(inside) else schema)
    return Want(name, schema, sort, required, many, bool(types & {"integer", "number"}), words)


def _sort(words: tuple[str, ...], schema: Mapping[str, Raw]) -> Sort:
    types, said = _types(schema), schema.get("format")
    named = _NAMES.get(words[-1]) or _NAMES.get(words[-1].removesuffix("s")) if words else None
    if words[-2:] == ("api", "key") or (named == "secret" and not types & {"integer", "number"}):
        return "secret"
    if is_list(schema.get("enum")):
        return "choice"
    if types == {"boolean"}:
        return "flag"
    if types and types <= {"integer", "number"}:
        return "id" if named == "id" else "number"
    if types and "string" not in types:
        return "other"
    return _text_sort(named, _FORMATS.get(said) if isinstance(said, str) else None, schema)


def _text_sort(named: Sort | None, said: Sort | None, schema: Mapping[str, Raw]) -> Sort:
    """Of texts: what the format says counts before what the name says; a pattern is asked last."""
    pattern = schema.get("pattern")
    if said:
        return said
    if named == "id" or isinstance(pattern, str):
        return "pattern" if isinstance(pattern, str) else "id"
    return named or "text"


def _types(schema: Mapping[str, Raw]) -> set[str]:
    found = schema.get("type")
    return {each for each in (found if is_list(found) else [found]) if isinstance(each, str) and each != "null"}
