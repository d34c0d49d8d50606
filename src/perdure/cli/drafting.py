"""Plans that a model makes: each is the work of a planning agent, in a run that is remembered like any other."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from perdure.agents.planners import SERVING, Made, NoPlanner
from perdure.agents.requests.assessing import assess
from perdure.agents.requests.selecting import Catalogue
from perdure.cli.driving import Manner
from perdure.cli.interrupts import carried_out
from perdure.config import Settings
from perdure.core.ladder import UNASKED
from perdure.engine.result import Result
from perdure.models.answering import read_value
from perdure.models.tiers import CONFIGURE
from perdure.plan import Plan
from perdure.plan.raw import is_mapping
from perdure.plan.reading import read_data
from perdure.tools import AnyTool

SHOWN: Final = 40
"""Tools that a model is shown, those first that a search finds for the goal."""
PLANNING: Final[Mapping[str, Any]] = {
    "perdure": 1,
    "name": "planning",
    "goal": "Plan: ${inputs.goal}",
    "inputs": {"goal": {"type": "string"}, "tools": {"type": "array", "items": {"type": "string"}}},
    "budget": {"calls": 8},
    "recovery": UNASKED,
    "output": "${steps.plan.output}",
}
"""The plan by which plans are made. It asks nobody: whoever waits for a plan hears why there is none."""
PLANNERS: Final = {"simple": "planning", "compound": "planning", "large": "comprehensive_planner"}
"""Who makes a plan, by how much there is to the goal."""

ANEW: Final[Mapping[str, Any]] = {"planner": "planning", "otherwise": SERVING, "most": 6}
"""What is done where a step of such a plan fails for good: it is planned anew, three times at most, then served.

Where a person is still to be asked it is not served, but fails: nobody goes on without a plan past a question.
"""


def drafted(goal: str, tools: Sequence[AnyTool], settings: Settings, own: Sequence[AnyTool]) -> Made:
    """A plan for a goal, by the model that is configured. `own`: those of the tools that do not come with us."""
    if not settings.heads.tiers:
        raise NoPlanner("no plan could be made: model: no model is configured", CONFIGURE)
    known = {each.name: each for each in tools}
    shown, found = Catalogue(known).ranked(goal)[:SHOWN], assess(goal, known)
    agent = PLANNERS[found.complexity]
    run, result = carried_out(_asked(agent, {"goal": goal, "tools": shown}, Manner(settings, tuple(own))))
    if result.status != "succeeded":
        why = result.failure.message if result.failure else result.status
        raise NoPlanner(f"no plan could be made: model: {why}", f"see: perdure show {run}")
    plan = _plan_in(result.output, agent, run)
    why = f"the goal is {found.complexity}: {found.why}"
    return Made(plan, "model", (why, f"the agent {agent} made it: perdure show {run}"))


async def _asked(agent: str, inputs: Mapping[str, Any], manner: Manner) -> tuple[str, Result]:
    step = {"id": "plan", "agent": agent, "task": "${inputs.goal}", "with": {"tools": "${inputs.tools}"}}
    async with manner.engine() as engine:
        run = await engine.start(Plan.model_validate({**PLANNING, "steps": [step]}), inputs)
        return run.id, await run.result()


def _plan_in(output: Any, agent: str, run: str) -> Plan:
    """The plan that an agent gave. One of the user's own may work in another way, and write its plan as a text."""
    found: Any = read_value(output, None)[0] if isinstance(output, str) else output
    read = read_data({**found, "adjust": ANEW} if is_mapping(found) else found)
    if read.plan is not None and not read.errors:
        return read.plan
    told = f'what the agent "{agent}" has answered is no plan: {read.errors[0].message}'
    hint = f"give it `strategy: draft`, or have it answer with a plan as JSON; see: perdure show {run}"
    raise NoPlanner(f"no plan could be made: model: {told}", hint)
