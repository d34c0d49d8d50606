"""Checks: everything that is wrong with a plan, at once, before anything runs.

Each problem has a stable code, a place, a sentence, and what to write instead: a model must be able
to repair its plan from that text.
"""

from perdure.plan.checks.contracts import check_contracts
from perdure.plan.checks.names import check_names
from perdure.plan.checks.order import check_order
from perdure.plan.checks.references import check_references
from perdure.plan.flow import SerialFlow
from perdure.plan.index import Index
from perdure.plan.model.document import Plan
from perdure.plan.problems import Problem
from perdure.plan.toolbox import Toolbox

__all__ = ["check"]


def check(plan: Plan, toolbox: Toolbox | None = None) -> list[Problem]:
    """Every problem of a plan, in the order of the document. Tools and agents are checked if a toolbox is given."""
    index = Index(plan)
    flow = SerialFlow(index)
    problems = [
        *check_names(index),
        *check_order(index, flow),
        *check_references(index, flow, toolbox),
        *check_contracts(index, toolbox),
    ]
    return sorted(problems, key=lambda problem: [segment for segment in problem.path if isinstance(segment, int)])
