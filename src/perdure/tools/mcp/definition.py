"""What a server says of a tool, held by its hash: whoever changes a word of it has made another tool."""

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Final

from perdure.plan.canonical import canonical_json
from perdure.plan.conforming import unusable
from perdure.plan.raw import Raw, is_mapping
from perdure.plan.visible import visible
from perdure.tools.mcp.naming import name_of, twice

FIELDS: Final = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""What is pinned, because a person, a model or a check relies on it."""
LARGEST: Final = 256 * 1024
"""Bytes of one definition."""
DEEPEST: Final = 64
"""Lists and objects within each other."""
MOST: Final = 1_000
"""Tools of one server."""
SUMMARY: Final = 200
HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_SCHEMA_KEYS: Final = ("inputSchema", "outputSchema")


@dataclass(frozen=True)
class Definition:
    """A tool as its server describes it."""

    data: Mapping[str, Any]
    """The pinned fields, as they were sent."""

    @property
    def name(self) -> str:
        """The server's own name for it."""
        return self.data["name"]

    @cached_property
    def digest(self) -> str:
        """SHA-256 over RFC 8785."""
        return sha256(canonical_json(self.data)).hexdigest()

    @property
    def description(self) -> str:
        """What the server says it does. Shown to people only with nothing hidden in it."""
        return str(self.data.get("description") or self.data.get("title") or "")

    @property
    def summary(self) -> str:
        """The first line of the description."""
        return visible(self.description.strip().partition("\n")[0], SUMMARY)

    @cached_property
    def inputs(self) -> dict[str, Any]:
        """JSON Schema of the arguments. Which draft it was written for makes no difference to what we look at."""
        return _without_dialect(self.data["inputSchema"])

    @cached_property
    def returns(self) -> dict[str, Any] | None:
        """JSON Schema of the structured result, if one is promised."""
        found = self.data.get("outputSchema")
        return _without_dialect(found) if is_mapping(found) else None

    @property
    def hints(self) -> dict[str, bool]:
        """What the server says about effects. Nothing follows from it."""
        said = self.data.get("annotations")
        return {hint: said[hint] for hint in HINTS if is_mapping(said) and isinstance(said.get(hint), bool)}

    def lines(self) -> Iterator[str]:
        """The definition for people: every character of it visible, texts in lines."""
        for key in FIELDS:
            if key in self.data:
                yield from _shown(key, self.data[key])


def _shown(key: str, value: Raw) -> Iterator[str]:
    if isinstance(value, str):
        first, *more = value.replace("\r\n", "\n").split("\n")
        yield visible(f"{key}: {first}")
        yield from (visible(f"    {line}") for line in more)
    else:
        yield f"{key}:"
        text = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
        yield from (visible(f"    {line}") for line in text.split("\n"))


def difference(old: Definition, new: Definition) -> list[str]:
    """What changed, line by line; nothing hidden stays hidden."""
    told = difflib.unified_diff(list(old.lines()), list(new.lines()), "approved", "offered", lineterm="", n=1)
    return [line for line in told if not line.startswith("@@")]


# ------------------------------------------------------------------------------- what a server offers


@dataclass(frozen=True)
class Offer:
    """The tools of a server at one moment."""

    tools: Mapping[str, Definition] = field(default_factory=dict[str, Definition])
    """By the name that plans use."""
    refused: Sequence[tuple[str, str]] = ()
    """The server's names of tools that cannot be used, and why."""


def offer_of(server: str, listed: Iterable[Raw]) -> Offer:
    """What can be used of a listing."""
    found: list[tuple[str, Definition]] = []
    refused: list[tuple[str, str]] = []
    for raw in listed:
        if len(found) == MOST:
            refused.append(("…", f"a server may have {MOST:,} tools"))
            break
        why = _flaw_of(raw)
        name = "" if why else name_of(server, raw["name"])
        if name:
            found.append((name, Definition({key: raw[key] for key in FIELDS if raw.get(key) is not None})))
        else:
            refused.append((_named(raw), why or "plans have no way to write its name"))
    doubled = twice(name for name, _ in found)
    refused += [(each.name, f'two tools would be called "{name}"') for name, each in found if name in doubled]
    return Offer({name: each for name, each in found if name not in doubled}, refused)


def _named(raw: Raw) -> str:
    return visible(str(raw.get("name", "")) if is_mapping(raw) else "", SUMMARY)


def _flaw_of(raw: Raw) -> str:
    """Why a definition cannot be used."""
    if not is_mapping(raw) or not isinstance(raw.get("name"), str):
        return "it is no definition of a tool"
    if not isinstance(raw.get("description", ""), (str, type(None))):
        return "its description is no text"
    if _is_deep(raw):
        return f"it is nested more than {DEEPEST} deep"
    try:
        if len(canonical_json({key: raw.get(key) for key in FIELDS})) > LARGEST:
            return f"it is larger than {LARGEST:,} bytes"
    except (ValueError, TypeError):
        return "it holds what is not JSON"
    return _schema_flaw(raw)


def _schema_flaw(raw: Mapping[str, Raw]) -> str:
    for key in _SCHEMA_KEYS:
        schema = raw.get(key)
        if schema is None and key == "outputSchema":
            continue
        if not is_mapping(schema):
            return f"its {key} is no schema"
        if why := unusable(_without_dialect(schema)):
            return f"its {key} cannot be used: {why}"
    return ""


def _without_dialect(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "$schema"}


def _is_deep(raw: Raw) -> bool:
    level: list[Raw] = [raw]
    for _ in range(DEEPEST):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return False
    return True


def _inside(each: Raw) -> Iterable[Raw]:
    if is_mapping(each):
        return each.values()
    return each if isinstance(each, list) else ()  # pyright: ignore[reportUnknownVariableType]
