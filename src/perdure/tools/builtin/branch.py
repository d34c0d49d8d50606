"""Branches: what is done in a group is done on a copy of the workspace, and what is good comes back as one change."""

import asyncio
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from perdure.tools.branches.branch import Take, Taken, name_of, named, recorded
from perdure.tools.branches.closing import closed, undone
from perdure.tools.branches.merging import joined
from perdure.tools.branches.opening import opened
from perdure.tools.branches.placing import difference
from perdure.tools.builtin.bounds import Short, Text
from perdure.tools.changes import Desk, take_back
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.git.repository import opened as repository_of
from perdure.tools.git.unpacking import unpacked
from perdure.tools.tool import AnyTool, tool

Name = Annotated[str, Field(max_length=64)]
Without = Annotated[list[Short], Field(max_length=5_000)]
Settled = Annotated[dict[str, Text | None], Field(max_length=100)]
NOT_CONTAINED: Final = (
    "a branch is opened where nothing else is touched: write `policy: {contained: true}` on the group around it"
)
NESTED: Final = "this group lies in another branch, whose copy has no repository: leave `commit` out to copy that copy"


def undo_open(context: Context) -> None:
    """Remove the copy."""
    if context.contained:
        undone(context)


@tool(name="branch.open", repeat="keyed", effects=["reads"], judges=True, staged=True, undo=undo_open)
def open_(context: Context, origin: Name = "", commit: Short = "", without: Without | None = None) -> dict[str, Any]:
    """Copies the workspace. What the group around this step does to files from now on, it does to the copy.

    Args:
        origin: A branch of this run to copy in place of the workspace, by the name that opening it gave.
        commit: A commit to copy in place of what lies in the workspace: an id, a branch, a tag or HEAD, with ~n.
        without: Files and directories that are not copied; not with `commit`.
    """
    if not context.contained:
        raise ToolFailure("invalid", NOT_CONTAINED)
    if origin and commit:
        raise ToolFailure("invalid", "a branch is a copy of one thing: write `origin` or `commit`, not both")
    if without and commit:
        raise ToolFailure("invalid", "a commit is copied whole: leave `without` or `commit` out")
    return opened(context, origin, _checking_out(context, commit) if commit else None, without or ())


def _checking_out(context: Context, commit: str) -> Take:
    """A copy of a commit. This is a thread of its own, and so what is awaited here holds up nobody else."""
    if recorded(context.hands.workspace.parent) is not None:
        raise ToolFailure("invalid", NESTED)
    return lambda to: asyncio.run(_checked_out(context, commit, to))


async def _checked_out(context: Context, commit: str, to: Path) -> Taken:
    repository = await repository_of(context)
    return await unpacked(repository, await repository.commit_at(commit), context, to)


@tool(name="branch.place", repeat="keyed", effects=["reads", "writes"], judges=True, staged=True, undo=take_back)
def place(branch: Name, context: Context, *, merge: bool = False, settled: Settled | None = None) -> dict[str, Any]:
    """Brings into the workspace what a branch, and those it goes on from, have changed: all of it, or nothing.

    Args:
        branch: The name that opening it gave.
        merge: Whether files that were changed in the workspace as well are merged line by line. Conflicts are told
            with the failure, and nothing is placed.
        settled: By path, what shall stand in place of a file in conflict; null: nothing.
    """
    if settled and not merge:
        raise ToolFailure("invalid", "settled: there are conflicts to settle only with `merge: true`")
    with Desk(context) as desk:
        if (done := desk.unfinished()) is not None:
            return done
        name = named(context.hands, context.run, branch).name
        if not merge:
            return desk.carry_out(difference(context, name, desk))
        found = joined(context, name, desk, settled or {})
        return desk.carry_out(found.changes, {"merged": found.merged})


@tool(name="branch.close", repeat="keyed", effects=[], judges=True, staged=True)
def close(branch: Name, context: Context) -> dict[str, Any]:
    """Removes the copy of a branch that is needed no more. What was done on it needs no undo; what was placed stays.

    Args:
        branch: The name that opening it gave. One that is gone already is no mistake.
    """
    if not branch.isalnum():
        raise ToolFailure("invalid", f"{branch!r} is no branch; `branch.open` gives the name")
    if branch in {name_of(context.run, each) for each in context.contained}:
        raise ToolFailure("invalid", "a branch is closed from outside: have the step follow the group that works on it")
    return {"branch": branch, "closed": closed(context, branch)}


BRANCH: Final[tuple[AnyTool, ...]] = (open_, place, close)
"""The tools for branches."""
