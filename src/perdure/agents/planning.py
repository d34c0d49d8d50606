"""Planning as tools (X2), for agents that plan while they work.

`planning.create` and `planning.mend` only make plans, as data. `planning.replan`, which every engine has, changes the
plan that is under way.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from perdure.agents.planner import create_execution_plan, plan_id, with_lookups
from perdure.agents.replanning import ReplanRequest, replan
from perdure.agents.requests.selecting import PLANNING, Catalogue
from perdure.errors import PerdureError
from perdure.plan.problems import did_you_mean
from perdure.plan.reading.numbered import ExecutionPlan
from perdure.plan.sayings import sentence
from perdure.tools.builtin import planning
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.tool import AnyTool, tool


def create_planning_tools(known: Mapping[str, AnyTool]) -> tuple[AnyTool, AnyTool, AnyTool]:
    """`planning.create`, `planning.replan` and `planning.mend`, over all tools that are known but those that plan."""
    able = {name: each for name, each in known.items() if not name.startswith(PLANNING)}
    catalogue = Catalogue(able)

    @tool(name="planning.create", repeat="safe", effects=[])
    def create(
        request: str, attempt: Context, tools: list[str] | None = None, context: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Make a plan for a request: tools in order, each with its parameters and where they come from.

        Args:
            request: What is to be done.
            tools: Names of the tools to use, in order; left out: those that a search finds for the request.
            context: Values that are known already, by the names of parameters.
        """
        selected = [_named(each, able) for each in tools] if tools is not None else catalogue.select(request).tools
        try:
            found = with_lookups(request, selected, able)
            return written(create_execution_plan(request, found, context, id=plan_id(attempt.key)))
        except (PerdureError, ValidationError) as error:
            raise refusal(error) from None

    @tool(name="planning.mend", repeat="safe", effects=[])
    def again(
        current_plan: dict[str, Any],
        failed_steps: list[int],
        reason: str,
        execution_state: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Find another way where steps of a plan have failed; what is done stays as it is.

        Args:
            current_plan: The plan, as `planning.create` gives it.
            failed_steps: The numbers of the steps that failed.
            reason: Why they failed.
            execution_state: `completed_steps` by number, and `facts` that have become known.
        """
        asked = {"current_plan": current_plan, "failed_steps": failed_steps, "reason": reason}
        try:
            request = ReplanRequest.model_validate({**asked, "execution_state": execution_state or {}})
            return written(replan(request, able))
        except (PerdureError, ValidationError) as error:
            raise refusal(error) from None

    return create, planning.replan, again


def written(plan: ExecutionPlan) -> dict[str, Any]:
    """A plan as JSON."""
    return plan.model_dump(mode="json", exclude_defaults=True)


def refusal(error: PerdureError | ValidationError) -> ToolFailure:
    """Why no plan came of it, for whoever asked."""
    if isinstance(error, PerdureError):
        return ToolFailure("invalid", f"{error.message} ({error.help})" if error.help else error.message)
    return ToolFailure("invalid", "; ".join(sentence(each) for each in error.errors(include_url=False)[:5]))


def _named(name: str, known: Mapping[str, AnyTool]) -> AnyTool:
    if name in known:
        return known[name]
    hint = did_you_mean(name, known)
    raise ToolFailure("invalid", f'there is no tool "{name}"' + (f" ({hint})" if hint else ""))
