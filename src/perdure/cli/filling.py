"""Parameters that a model takes out of a goal, where names, types and forms alone do not tell them (X8)."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from perdure.agents.planners import PLANNERS, Asked, Made
from perdure.cli.carrying import Carry
from perdure.core.ladder import UNASKED
from perdure.errors import PerdureError
from perdure.plan import Plan
from perdure.plan.raw import Raw, is_mapping

FILLER: Final = "extracting"
"""The agent that takes values out of requests."""
FILLING: Final[Mapping[str, Any]] = {
    "perdure": 1,
    "name": "filling",
    "goal": "Find what is missing in: ${inputs.goal}",
    "inputs": {"goal": {"type": "string"}},
    "budget": {"calls": 8},
    "recovery": UNASKED,
    "output": "${steps.find.output}",
}
"""The plan by which values are found. It asks nobody: what is not found is asked for by the plan that misses it."""


def filled_in(made: Made, asked: Asked, carry: Carry) -> Made:
    """The same plan with what a model finds in the goal of all that would be asked for; the rest is asked for still."""
    try:
        run, result = carry(_plan_for(made.form), {"goal": asked.goal})
    except PerdureError as error:
        return replace(made, why=(*made.why, f"no model was asked for {', '.join(made.asks)}: {error.message}"))
    found: Any = result.output
    if not is_mapping(found):
        why = result.failure.message if result.failure else result.status
        return replace(made, why=(*made.why, f"a model found nothing: {why}: perdure show {run}"))
    again = PLANNERS[made.planner](replace(asked, filled=found)) if found and made.planner in PLANNERS else made
    told = f"{_told(found)} in the goal, by a model: perdure show {run}"
    return replace(again, why=(*again.why, told)) if isinstance(again, Made) else made


def _told(found: Mapping[str, Raw]) -> str:
    values = (f"{name} {json.dumps(value, ensure_ascii=False)[:80]}" for name, value in found.items())
    return f"found {', '.join(values)}" if found else "found nothing"


def _plan_for(form: Mapping[str, Raw]) -> Plan:
    step = {"id": "find", "agent": FILLER, "task": "${inputs.goal}", "returns": dict(form)}
    return Plan.model_validate({**FILLING, "steps": [step]})
