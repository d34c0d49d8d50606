"""Planning as a tool: who works in a run asks for another plan. It gives a wish, which the run takes or refuses."""

from typing import Annotated, Any

from pydantic import Field

from perdure.core.events import REPLANNER
from perdure.tools.builtin.bounds import Short
from perdure.tools.tool import tool

Reason = Annotated[str, Field(min_length=1, max_length=20_000)]
Names = Annotated[list[Short], Field(max_length=100)]
Written = Annotated[list[dict[str, Any]], Field(max_length=100)]


@tool(name=REPLANNER, repeat="safe", effects=())
async def replan(  # noqa: PLR0913, PLR0917  as much can be said about a plan
    reason: Reason,
    failed_steps: Names | None = None,
    steps: Written | None = None,
    edits: Written | None = None,
    tools: Names | None = None,
    otherwise: Short = "",
) -> dict[str, Any]:
    """Changes the plan of this run: what is done stays, what is still to come becomes another way.

    Say what cannot go on as it was planned. Without `steps` and `edits`, tools with the same skills stand in for the
    steps that failed. It gives the plan as it is then; what cannot be is refused as a whole, with every reason. Called
    with a reason alone, it tells the plan and changes nothing.

    Args:
        reason: Why the plan has to change.
        failed_steps: Ids of the steps of the plan that failed, or will.
        steps: What is to be done in their place: `{id, tool, with, needs}` each, as in a plan.
        edits: Any change instead: `{insert: STEP, after: ID}`, `{replace: ID, step: STEP}`, `{remove: ID}` or
            `{amend: ID, fields: {…}}`.
        tools: In a plan: what new steps may call. An agent's may call what it may call itself.
        otherwise: In a plan: the agent that does what is left, where no other way is found.
    """
    said = {"failed_steps": failed_steps, "steps": steps, "edits": edits, "tools": tools, "otherwise": otherwise}
    return {"replan": {"reason": reason, **{word: value for word, value in said.items() if value}}}
