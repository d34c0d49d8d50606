"""Plans as data: written, checked, drawn, compared and repaired before anything runs.

Names are imported when they are first used: a command that shows runs needs no plan model.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from perdure.plan.expr.template import escaped as escaped
    from perdure.plan.inlining import inlined as inlined
    from perdure.plan.limits import Limits as Limits
    from perdure.plan.model.document import Plan as Plan
    from perdure.plan.problems import PlanError as PlanError
    from perdure.plan.problems import Problem as Problem
    from perdure.plan.raw import is_list as is_list
    from perdure.plan.raw import is_mapping as is_mapping
    from perdure.plan.toolbox import Toolbox as Toolbox

_HOMES: Final = {
    "Limits": "perdure.plan.limits",
    "Plan": "perdure.plan.model.document",
    "PlanError": "perdure.plan.problems",
    "Problem": "perdure.plan.problems",
    "Toolbox": "perdure.plan.toolbox",
    "escaped": "perdure.plan.expr.template",
    "inlined": "perdure.plan.inlining",
    "is_list": "perdure.plan.raw",
    "is_mapping": "perdure.plan.raw",
}

__all__ = [
    "Limits",
    "Plan",
    "PlanError",
    "Problem",
    "Toolbox",
    "escaped",
    "inlined",
    "is_list",
    "is_mapping",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'perdure.plan' has no attribute {name!r}")
