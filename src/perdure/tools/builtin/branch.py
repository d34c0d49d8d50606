"""Branches: what is done in a group is done on a copy of the workspace, and what is good comes back as one change."""

from typing import Annotated, Any, Final

from pydantic import Field

from perdure.tools.branches.branch import named
from perdure.tools.branches.opening import closed, opened
from perdure.tools.branches.placing import difference
from perdure.tools.changes import Desk, take_back
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.tool import AnyTool, tool

Name = Annotated[str, Field(max_length=64)]
NOT_CONTAINED: Final = (
    "a branch is opened where nothing else is touched: write `policy: {contained: true}` on the group around it"
)


def undo_open(context: Context) -> None:
    """Remove the copy."""
    if context.contained:
        closed(context)


@tool(name="branch.open", repeat="keyed", effects=["reads"], judges=True, staged=True, undo=undo_open)
def open_(context: Context, origin: Name = "") -> dict[str, Any]:
    """Copies the workspace. What the group around this step does to files from now on, it does to the copy.

    Args:
        origin: A branch of this run to copy in place of the workspace, by the name that opening it gave.
    """
    if not context.contained:
        raise ToolFailure("invalid", NOT_CONTAINED)
    return opened(context, origin)


@tool(name="branch.place", repeat="keyed", effects=["reads", "writes"], judges=True, staged=True, undo=take_back)
def place(branch: Name, context: Context) -> dict[str, Any]:
    """Brings into the workspace what a branch, and those it goes on from, have changed: all of it, or nothing.

    Args:
        branch: The name that opening it gave.
    """
    with Desk(context) as desk:
        if (done := desk.unfinished()) is not None:
            return done
        return desk.carry_out(difference(context, named(context.hands, context.run, branch).name, desk))


BRANCH: Final[tuple[AnyTool, ...]] = (open_, place)
"""The tools for branches."""
