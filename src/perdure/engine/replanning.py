"""Who reads wishes for another plan, and who plans anew: made when the first is heard, which is seldom."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from perdure.core.events import REPLANNER
from perdure.core.state import Rules
from perdure.tools import AnyTool

if TYPE_CHECKING:
    from perdure.agents.revising import Replanner

Lent = Callable[[str], Sequence[str] | None]
"""What an agent may call, by its name; None: there is no such agent."""


def let_replan(rules: Rules, tools: Mapping[str, AnyTool], lent: Lent) -> None:
    """Have the core ask about results of `planning.replan`, and about failures of plans that name a planner."""

    @cache
    def replanner() -> "Replanner":
        from perdure.agents.revising import Replanner  # noqa: PLC0415  few runs change their plan, and it loads much

        return Replanner(tools, lent)

    def revised(occasion: Any, wish: Any) -> Any:
        return replanner().revised(occasion, wish)

    def planned(occasion: Any) -> Any:
        return replanner().planned(occasion)

    rules.revisers, rules.planner = {REPLANNER: revised}, planned
