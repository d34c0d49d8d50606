"""Plans as data: written, checked, drawn, compared and repaired before anything runs.

Names are imported when they are first used: a command that shows runs needs no plan model.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from perdure.plan.limits import Limits as Limits
    from perdure.plan.model.document import Plan as Plan
    from perdure.plan.problems import PlanError as PlanError
    from perdure.plan.problems import Problem as Problem
    from perdure.plan.toolbox import Toolbox as Toolbox

_HOMES: Final = {
    "Limits": "perdure.plan.limits",
    "Plan": "perdure.plan.model.document",
    "PlanError": "perdure.plan.problems",
    "Problem": "perdure.plan.problems",
    "Toolbox": "perdure.plan.toolbox",
}

__all__ = ["Limits", "Plan", "PlanError", "Problem", "Toolbox"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'perdure.plan' has no attribute {name!r}")
