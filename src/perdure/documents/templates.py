"""Templates: plans with blanks, for goals that are known."""

from collections.abc import Iterable
from typing import Any

from perdure.agents.templates import Template


def templates_document(templates: Iterable[Template]) -> dict[str, Any]:
    """All of them."""
    return {"schema": "perdure.templates/1", "templates": list(map(_template, templates))}


def _template(found: Template) -> dict[str, Any]:
    said = found.head.model_dump(mode="json")
    return {"name": found.name, "origin": found.origin, **said, "goal": found.plan.goal, "inputs": found.plan.inputs}
