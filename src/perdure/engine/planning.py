"""The gate of planning: whether plans may change by rule while they are carried out."""

from inspect import iscoroutinefunction
from typing import ClassVar

from perdure.core.adjusting import Adjuster
from perdure.core.outline import Outline
from perdure.core.state import Rules
from perdure.errors import PerdureError


class PlanningOff(PerdureError):
    """Something was given that plans, and nothing is to be planned."""

    code: ClassVar[str] = "PRD3020"
    exit_code: int = 2


def check_gate(adjust: Adjuster | None, *, is_open: bool) -> None:
    """`PlanningOff` if there is an adjuster that nobody would ask, `TypeError` if it is one that has to be awaited."""
    if iscoroutinefunction(adjust):
        raise TypeError("an adjuster is a plain function: it is asked within a turn, where nothing can be awaited")
    if adjust is not None and not is_open:
        told = "an adjuster was given, and it would never be asked: planning is off"
        raise PlanningOff(told, "open the engine with agent_planning=True, or without the adjuster")


def may_grow(rules: Rules, outline: Outline) -> bool:
    """Whether steps may come into a plan while it is carried out."""
    traits = [outline.traits(node) for node in outline.index.nodes] if rules.planning else []
    grows = any(each.grows is not None or each.tool in rules.revisers for each in traits)
    return rules.planning and (grows or outline.plan.adjust is not None or rules.adjust is not None)
