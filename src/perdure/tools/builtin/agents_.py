"""The tool that finds an agent for a piece of work. What it says is a fact of the run, with its reasons."""

from typing import Annotated, Any

from msgspec.structs import asdict
from pydantic import Field

from perdure.core.delegating import CHOOSE
from perdure.ports import Wanted
from perdure.tools.context import Context
from perdure.tools.tool import tool

Names = Annotated[list[str], Field(max_length=100)]


@tool(name=CHOOSE, repeat="safe", effects=())
async def choose(
    context: Context,
    skills: Names | None = None,
    among: Names | None = None,
    without: Names | None = None,
    priority: int = 0,
) -> dict[str, Any]:
    """Finds an agent for a piece of work: by skills, by how it did before, by how busy it is and what it costs.

    If all who could are at work, it fails with `rate_limited`: try again later.

    Args:
        skills: What the agent must be able to do.
        among: Whom it may be, in this order; without it, anybody.
        without: Whom it may not be.
        priority: Above 0, who does it best is chosen; below, who does it for less.
    """
    said = {"skills": skills or (), "among": among or (), "without": without or ()}
    found = asdict(await context.choose(Wanted(**said, priority=priority)))
    return {**found, "why": [*found["why"]], "considered": [*found["considered"]]}
