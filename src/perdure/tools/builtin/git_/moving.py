"""Moving branches and tags: each deed is prepared, judged as it is, kept as an intent, and only then landed."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from perdure.core.policy import Deed
from perdure.tools.builtin.bounds import Short
from perdure.tools.builtin.git_.looking import Paths, specs
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure, unchanged
from perdure.tools.git.committing import Wanted, Words, branch_for, commit_intent, copy_intent, follow, see
from perdure.tools.git.desk import Desk, Intent, Update
from perdure.tools.git.faltering import once_it_began
from perdure.tools.git.gathering import copy_of
from perdure.tools.git.labelling import label_intent, removal_intent
from perdure.tools.git.landing import land, take_back
from perdure.tools.git.locks import settled
from perdure.tools.git.merging import merge_intent
from perdure.tools.git.names import branch_ref, tag_ref
from perdure.tools.git.repository import Repository, is_within, opened
from perdure.tools.tool import tool

Message = Annotated[str, Field(max_length=100_000)]
Prepare = Callable[[Repository, Desk], Awaitable[Intent]]
After = Callable[[Intent], Awaitable[None]]


async def performed(
    context: Context, repository: Repository, deeds: Sequence[Deed], prepare: Prepare, after: After | None = None
) -> dict[str, Any]:
    """Do a deed once, however often it is tried under its key."""
    desk = Desk(repository.state, context.key)
    with once_it_began():
        intent = kept = desk.intent()
    with unchanged():
        if intent is None:
            desk.lay_out(repository.layout)
            intent = await prepare(repository.drafting(desk.place, desk.variables), desk)
        context.guard.check(deeds, shown=intent.shown)
        if kept is None:
            intent = desk.keep(repository.done_for(context, intent))
    await _finished(repository, desk, intent, after, again=kept is not None)
    return intent.output


async def _finished(repository: Repository, desk: Desk, intent: Intent, after: After | None, *, again: bool) -> None:
    if again:
        await settled(repository.layout)
    with once_it_began():
        await land(repository, desk, intent, again=again)
    with once_it_began("unavailable", "unknown"):
        if after is not None:
            await after(intent)
    desk.clear()


def _deeds(name: str, ref: str) -> list[Deed]:
    return [Deed("call", name, ("writes",)), Deed("use", f"git:{ref}")]


def _updates(repository: Repository, output: Any, key: str) -> Sequence[Update]:
    """What a deed did: by what it gave, else by what it kept before it began."""
    if not output:
        intent = Desk(repository.state, key).intent()
        return intent.updates if intent else ()
    before, after = output["before"] or "", output["after"] or ""
    kept = [Update(output["kept"], "", before)] if "kept" in output else []
    return [*kept, *([Update(output["ref"], before, after)] if before != after else [])]


async def undo(context: Context, key: str, output: Any = None) -> None:
    """Move refs back, if they are where the deed left them."""
    repository = await opened(context)
    await take_back(repository, _updates(repository, output, key))


async def undo_commit(context: Context, key: str, output: Any = None, worktree: str = "", copy: str = "") -> None:
    """The same; and the working tree is told that its commit is gone. The copy may have gone as well."""
    repository = await _opened(context, worktree, copy)
    updates = _updates(repository, output, key)
    await take_back(repository, updates)
    for each in updates:
        see(repository, each.ref, each.old)
        await follow(repository, await _parent_of(repository, each))


async def _opened(context: Context, worktree: str, copy: str) -> Repository:
    if worktree and copy:
        raise ToolFailure("invalid", "files are committed from one place: write `worktree` or `copy`, not both")
    return replace(await opened(context, worktree), copy=copy)


async def _parent_of(repository: Repository, update: Update) -> str:
    return update.old or await repository.find(f"{update.new}^1")


@tool(name="git.commit", repeat="keyed", effects=["reads", "writes"], judges=True, staged=is_within, undo=undo_commit)
async def commit(  # noqa: PLR0913  each is a word of the plan
    context: Context,
    message: Message,
    paths: Paths | None = None,
    branch: Short = "",
    *,
    author: Short = "",
    expect: Short | None = None,
    worktree: Short = "",
    copy: Short = "",
    absent: bool = False,
) -> dict[str, Any]:
    """Commit files as they are, on a branch that nobody has checked out.

    Args:
        message: What the commit says.
        paths: Files, directories or patterns; left out: everything that has changed and is not ignored.
        branch: Made from what is checked out, or copied, if it is not there; empty: perdure/ and the run's id.
        author: As in "Ada <ada@example.com>"; empty: the engine.
        expect: The commit that the branch must be at; empty text: it must not be there yet.
        worktree: A worktree of the engine's own, by the name that git.worktree gave; empty: the workspace.
        copy: A branch that was opened from a commit, by the name that branch.open gave: what was changed there since.
        absent: Whether paths that match no file are passed over; else nothing is committed.
    """
    ref = branch_ref(branch or branch_for(context.run))
    repository = await _opened(context, worktree, copy)

    async def prepare(draft: Repository, desk: Desk) -> Intent:
        at = await repository.commit_at(expect) if expect else expect
        wanted = Wanted(ref, Words(message, author), specs(paths), at, absent)
        if not copy:
            return await commit_intent(draft, desk, context, wanted)
        return await copy_intent(draft, desk, context, wanted, copy_of(context, copy))

    async def after(intent: Intent) -> None:
        for each in intent.updates:
            see(repository, ref, each.new, intent.ground)
            await follow(repository, each.new)

    return await performed(context, repository, _deeds("git.commit", ref), prepare, after)


@tool(name="git.branch", repeat="keyed", effects=["writes"], judges=True, staged=is_within, undo=undo)
async def branch(context: Context, name: Short, start: Short = "HEAD", *, delete: bool = False) -> dict[str, Any]:
    """Make a branch, or delete one; the files in the workspace stay as they are.

    Args:
        name: Letters, digits and . _ - /
        start: The commit it begins at.
        delete: Delete it instead. It can be brought back by undoing this step.
    """
    return await _labelled(context, "git.branch", branch_ref(name), start, "", delete=delete)


@tool(name="git.tag", repeat="keyed", effects=["writes"], judges=True, staged=is_within, undo=undo)
async def tag(
    context: Context, name: Short, target: Short = "HEAD", message: Message = "", *, delete: bool = False
) -> dict[str, Any]:
    """Make a tag, or delete one.

    Args:
        name: Letters, digits and . _ - /
        target: The commit it names.
        message: What the tag says; without one it is a plain name.
        delete: Delete it instead. It can be brought back by undoing this step.
    """
    return await _labelled(context, "git.tag", tag_ref(name), target, message, delete=delete)


async def _labelled(  # noqa: PLR0913  each is a word of the plan
    context: Context, name: str, ref: str, target: str, message: str, *, delete: bool
) -> dict[str, Any]:
    repository = await opened(context)

    async def prepare(draft: Repository, desk: Desk) -> Intent:
        if delete:
            return await removal_intent(draft, desk, ref)
        return await label_intent(draft, ref, target, message)

    return await performed(context, repository, _deeds(name, ref), prepare)


@tool(name="git.merge", repeat="keyed", effects=["writes"], judges=True, staged=is_within, undo=undo)
async def merge(  # noqa: PLR0913  each is a word of the plan
    context: Context, source: Short, into: Short, message: Message = "", author: Short = "", *, forward: bool = True
) -> dict[str, Any]:
    """Merge into a branch that nobody has checked out. With conflicts nothing is merged, and the failure tells them.

    Args:
        source: The commit to merge: an id, a branch or a tag.
        into: The branch that takes it.
        message: What the merge says.
        author: As in "Ada <ada@example.com>"; empty: the engine.
        forward: Move the branch forward without a commit of its own where that is enough.
    """
    ref = branch_ref(into)
    repository = await opened(context)

    async def prepare(draft: Repository, _: Desk) -> Intent:
        return await merge_intent(draft, source, ref, Words(message, author), forward=forward)

    return await performed(context, repository, _deeds("git.merge", ref), prepare)
