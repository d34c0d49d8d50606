"""Plans as data: written, checked, drawn, compared and repaired before anything runs."""

from perdure.plan.limits import Limits
from perdure.plan.model.document import Plan
from perdure.plan.problems import PlanError, Problem
from perdure.plan.toolbox import Toolbox

__all__ = ["Limits", "Plan", "PlanError", "Problem", "Toolbox"]
