"""How much there is to a request, without a model (A1): its parts, the tools for them, and what no tool fits.

A request is simple if one tool does it, compound if there is more to it, and large if it has very many parts or many of
them fit no tool: then somebody has to think about how they belong together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from perdure.agents.requests.extracting import Request
from perdure.agents.requests.selecting import Catalogue, parts_of, without_joint
from perdure.tools.tool import AnyTool

Complexity = Literal["simple", "compound", "large"]
MANY: Final = 6
"""Parts from which on a request is large."""
UNCLEAR: Final = 3
"""Parts that no tool fits, from which on it is too."""


@dataclass(frozen=True)
class Assessment:
    """What there is to a request, and why."""

    complexity: Complexity
    parts: tuple[str, ...]
    """What it asks for, in its own words."""
    tools: tuple[str, ...]
    """The tools that fit, in the order of the parts."""
    unclear: tuple[str, ...]
    """Parts that no tool fits, or more than one."""
    why: str


def assess(request: str, tools: Mapping[str, AnyTool]) -> Assessment:
    """How much there is to a request, with the tools that there are."""
    found = Catalogue(tools).select(request)
    parts = tuple(without_joint(request[slice(*span)]) for span in parts_of(Request(request)))
    complexity, why = _judged(len(parts), len(found.unmatched))
    return Assessment(complexity, parts, tuple(tool.name for tool in found.tools), found.unmatched, why)


def _judged(parts: int, unclear: int) -> tuple[Complexity, str]:
    if parts >= MANY:
        return "large", f"it has {parts} parts"
    if unclear >= UNCLEAR:
        return "large", f"{unclear} of its {parts} parts fit no tool"
    if parts > 1:
        return "compound", f"it has {parts} parts"
    return ("compound", "no tool fits it") if unclear or not parts else ("simple", "one tool does it")
