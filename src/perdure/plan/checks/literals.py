"""Literals: arguments that stand in the plan as they are, held against what their tool takes.

What an expression gives is known only when the plan runs, and is looked at then.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from perdure.plan.conforming import flaws, has_references, unusable
from perdure.plan.expr import ExpressionError, fill, templates_in
from perdure.plan.problems import Path, Problem
from perdure.plan.raw import KINDS, Raw, is_a, is_list, is_mapping

TELLING: Final = frozenset({"type", "enum", "title", "description", "default", "examples"})
"""Words of a schema that need no library: most arguments have no others, and it takes long to load."""
SHARED: Final = ("$defs", "definitions")
"""Where a schema has what its parts refer to."""


def check_literals(tool: str, schema: Mapping[str, Raw], with_: Mapping[str, Raw], path: Path) -> Iterator[Problem]:
    """Arguments that the tool would refuse whatever comes before it."""
    properties = schema.get("properties")
    known: Mapping[str, Raw] = properties if is_mapping(properties) else {}
    for name, value in with_.items():
        wanted = known.get(name)
        if is_mapping(wanted) and not _plainly_fits(value, wanted) and _is_literal(value):
            for flaw in _flaws(value, wanted, schema):
                message = f'"{tool}" does not take this as "{name}": {flaw}'
                yield Problem("PRD1403", message, (*path, "with", name), _hint(name, wanted))


def _plainly_fits(value: Raw, wanted: Mapping[str, Raw]) -> bool:
    """Whether it can be seen at once that a value fits; if not, it may do so all the same."""
    kind, choices, ways = wanted.get("type"), wanted.get("enum"), wanted.get("anyOf")
    if is_list(ways):
        return wanted.keys() <= {*TELLING, "anyOf"} and any(
            is_mapping(way) and _plainly_fits(value, way) for way in ways
        )
    typed = isinstance(kind, str) and kind in KINDS and is_a(kind, value)
    return typed and wanted.keys() <= TELLING and (not is_list(choices) or value in choices)


def _is_literal(value: Raw) -> bool:
    try:
        return all(each.is_literal for _, each in templates_in(value))
    except ExpressionError:
        return False  # what is wrong with it is told elsewhere


def _flaws(value: Raw, wanted: Mapping[str, Raw], schema: Mapping[str, Raw]) -> list[str]:
    """What is wrong with a value; nothing, where nobody can hold a value against what the tool says of it."""
    shared = {word: schema[word] for word in SHARED if word in schema} if has_references(wanted) else {}
    whole = {**wanted, **shared} if shared else wanted  # one and the same is made ready once
    return [] if unusable(whole) else flaws(fill(value, {}), whole, 1)


def _hint(name: str, wanted: Mapping[str, Raw]) -> str:
    kind = wanted.get("type")
    return f"write {name} as {kind}" if isinstance(kind, str) else "`perdure tools show` tells what it takes"
