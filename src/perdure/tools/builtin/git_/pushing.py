"""Pushing, which a person always agrees to."""

from typing import Any

from perdure.core.policy import Deed
from perdure.tools.builtin.bounds import Short
from perdure.tools.context import Context
from perdure.tools.declaring import Happened, NotHappened
from perdure.tools.git.committing import shown_between
from perdure.tools.git.desk import Desk, Intent, Update
from perdure.tools.git.names import branch_ref
from perdure.tools.git.pushing import Remote, refuse_rewriting, remote_of, send, there
from perdure.tools.git.repository import Repository, opened
from perdure.tools.tool import tool

WHY = "a push leaves this repository"


def _agree(context: Context, remote: Remote, update: Update, shown: str) -> None:
    told = f"{remote.name} at {remote.path}\n{update.ref}: {update.old or 'nothing'} -> {update.new or 'nothing'}"
    context.guard.ask(Deed("use", f"git:remote/{remote.name}/{update.ref}"), WHY, f"{told}\n\n{shown}".strip())


async def probe(context: Context, key: str, remote: str = "origin") -> Happened | NotHappened | None:
    """Ask the other side where the branch is."""
    repository = await opened(context)
    intent = Desk(repository.state, key).intent()
    if intent is None:
        return NotHappened()
    [update] = intent.updates
    now = await there(repository, await remote_of(repository, remote, context), update.ref)
    if now == update.new:
        return Happened(intent.output)
    return NotHappened() if now == update.old else None


async def undo_push(context: Context, key: str, output: Any = None, remote: str = "origin") -> None:
    """Move the branch back on the other side, if it is still where the push left it and a person agrees."""
    repository = await opened(context)
    intent = Desk(repository.state, key).intent()
    if output is None and intent is None:
        return
    told = output or (intent.output if intent else {})
    update = Update(told["ref"], told["before"] or "", told["after"]).back
    to = await remote_of(repository, remote, context)
    if await there(repository, to, update.ref) != update.new:
        _agree(context, to, update, "this takes a push back")
        await send(repository, to, update)


@tool(
    name="git.push",
    repeat="never",
    effects=["network", "irreversible"],
    judges=True,
    staged=False,
    probe=probe,
    undo=undo_push,
)
async def push(
    context: Context, branch: Short, remote: Short = "origin", to: Short = "", *, rewrite: bool = False
) -> dict[str, Any]:
    """Push a branch. It moves only from where it was seen, and only after a person has agreed.

    Args:
        branch: The branch to push.
        remote: One of the repository's remotes, at a path of this machine.
        to: The branch on the other side; empty: of the same name.
        rewrite: Whether commits that are there may be replaced.
    """
    repository = await opened(context)
    target = await remote_of(repository, remote, context)
    desk = Desk(repository.state, context.key)
    intent = kept = desk.intent()
    if intent is None:
        wanted = await _update(repository, target, branch, branch_ref(to or branch), rewrite=rewrite)
        intent = await _intent(repository, desk, target, wanted)
    [update] = intent.updates
    _agree(context, target, update, intent.shown)
    if kept is None:
        desk.keep(repository.done_for(context, intent))
    await send(repository, target, update)
    desk.clear()
    return intent.output


async def _update(repository: Repository, target: Remote, branch: str, ref: str, *, rewrite: bool) -> Update:
    new = await repository.commit_at(branch_ref(branch))
    update = Update(ref, await there(repository, target, ref), new)
    if not rewrite:
        await refuse_rewriting(repository, update)
    return update


async def _intent(repository: Repository, desk: Desk, target: Remote, update: Update) -> Intent:
    desk.lay_out(repository.layout)
    is_known = not update.old or await repository.find(f"{update.old}^{{commit}}")
    draft = repository.drafting(desk.place, desk.variables)
    shown = await shown_between(draft, update.old, update.new) if is_known else ""
    output = {"remote": target.name, "ref": update.ref, "before": update.old or None, "after": update.new}
    return Intent((update,), output, shown)
