"""Names of tools, out of names that strangers chose."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from perdure.plan.model.parts import TOOL_PATTERN

LONGEST: Final = 200
"""Letters of a whole name."""
_ODD: Final = re.compile(r"[^A-Za-z0-9_-]+")


def domain_of(given: str) -> str:
    """A server's name as the first part of its tools' names; empty if nothing is left of it."""
    return _part(given)


def name_of(domain: str, tool: str) -> str:
    """`server.tool`; empty if nothing that plans could name is left of it."""
    parts = [_part(each) for each in tool.split(".")]
    name = ".".join((domain, *parts))
    return name if all(parts) and len(name) <= LONGEST and re.fullmatch(TOOL_PATTERN, name) else ""


def _part(text: str) -> str:
    """Letters that names do not have become `_`; a digit or a hyphen does not come first."""
    plain = _ODD.sub("_", text)
    if not plain.strip("_-"):
        return ""
    return plain if plain[0].isalpha() or plain[0] == "_" else f"_{plain}"


def twice(names: Iterable[str]) -> frozenset[str]:
    """Names that stand for more than one thing."""
    return frozenset(name for name, count in Counter(names).items() if count > 1)
