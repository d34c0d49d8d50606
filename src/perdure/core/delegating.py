"""Delegation, as far as the core tells it from other work: a group whose first step chooses who does the rest."""

from typing import Final

from perdure.core.cells import Cell, Grown
from perdure.plan.model.steps import ToolStep

CHOOSE: Final = "agents.choose"
"""The tool that finds one."""


def is_delegating(cell: Cell) -> bool:
    """Whether a step has its work done by an agent that it chooses; it counts for nobody's work itself."""
    body = cell.body if cell.result is None or cell.is_live else cell.result.body
    if not isinstance(body, Grown) or not body.added:
        return False
    first = body.added[0][0].step
    return isinstance(first, ToolStep) and first.tool == CHOOSE
