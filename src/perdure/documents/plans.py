"""Plans: one that was made for a goal, and one that is shown by itself."""

from collections.abc import Sequence
from typing import Any

from perdure.agents.planners import Made
from perdure.plan import Plan
from perdure.plan.problems import Problem


def planned_document(made: Made, problems: Sequence[Problem]) -> dict[str, Any]:
    """A plan for a goal, who made it and why, and what stands in its way."""
    return {
        "schema": "perdure.planned/1",
        "planner": made.planner,
        "why": list(made.why),
        "asks": list(made.asks),
        "leaves_out": list(made.left),
        "problems": [problem.as_json() for problem in problems],
        "plan": made.plan.canonical(),
        "numbered": made.numbered.model_dump(mode="json", exclude_defaults=True) if made.numbered else None,
    }


def plan_document(plan: Plan, **about: Any) -> dict[str, Any]:
    """A plan in its canonical form."""
    return {"schema": "perdure.plan/1", **about, "hash": plan.hash, "plan": plan.canonical()}
