"""Working trees of the engine's own."""

from pathlib import Path
from typing import Any

from perdure.core.policy import Deed
from perdure.tools.builtin.bounds import Short
from perdure.tools.builtin.git_.moving import performed
from perdure.tools.context import Context
from perdure.tools.git.desk import Desk, Intent
from perdure.tools.git.repository import WORKTREES, Repository, is_within, opened
from perdure.tools.git.worktrees import check_out, remove, worktree_intent
from perdure.tools.tool import tool


async def undo_worktree(context: Context, key: str, output: Any = None) -> None:
    """Remove it, if nothing was left in it."""
    repository = await opened(context)
    intent = Desk(repository.state, key).intent()
    told = output or (intent.output if intent else None)
    if not told:
        return
    path = context.hands.state / WORKTREES / Path(told["path"]).name
    is_whole = path.exists() and (output is not None or (intent is not None and intent.done))
    await remove(repository, await opened(context, path.name) if is_whole else None, path, told["commit"])


@tool(name="git.worktree", repeat="keyed", effects=["writes"], judges=True, staged=is_within, undo=undo_worktree)
async def worktree(context: Context, start: Short = "HEAD") -> dict[str, Any]:
    """Make a working tree of the engine's own, away from the workspace. Undoing this removes it if it is unchanged.

    Args:
        start: The commit to check out; the worktree is on no branch.
    """
    repository = await opened(context)
    desk = Desk(repository.state, context.key)

    async def prepare(draft: Repository, desk: Desk) -> Intent:
        return await worktree_intent(draft, desk, context.hands.state, start)

    async def after(intent: Intent) -> None:
        await check_out(repository, desk, intent)

    deeds = [Deed("call", "git.worktree", ("writes",)), Deed("use", "git:worktree")]
    return await performed(context, repository, deeds, prepare, after)
