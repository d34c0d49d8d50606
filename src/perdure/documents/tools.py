"""Tools: what plans may use, and all that is declared about it."""

from collections.abc import Iterable, Mapping
from typing import Any

from perdure.errors import PerdureError


def tools_document(tools: Iterable[Mapping[str, Any]], refused: Iterable[PerdureError] = ()) -> dict[str, Any]:
    """Tools that are described, by name; and why some that are offered cannot be had."""
    told = [{"code": flaw.code, "message": flaw.message, "hint": flaw.help} for flaw in refused]
    return {"schema": "perdure.tools/1", "tools": sorted(tools, key=lambda each: each["name"]), "refused": told}


def tool_document(tool: Mapping[str, Any]) -> dict[str, Any]:
    """One tool that is described."""
    return {"schema": "perdure.tool/1", **tool}
