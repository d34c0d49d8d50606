"""Looking at a repository."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from perdure.tools.builtin.bounds import Short
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.git.gathering import copy_of, state_of
from perdure.tools.git.history import commits, difference
from perdure.tools.git.history import status as status_of
from perdure.tools.git.names import pathspec
from perdure.tools.git.repository import is_within, opened
from perdure.tools.tool import tool

Paths = Annotated[list[Short], Field(max_length=1_000)]
Count = Annotated[int, Field(ge=1, le=1_000)]


@tool(name="git.status", repeat="safe", effects=["reads"], judges=True, staged=is_within)
async def status(context: Context, *, ignored: bool = False, worktree: Short = "", copy: Short = "") -> dict[str, Any]:
    """What has changed in a working tree, and on which branch it is.

    Args:
        ignored: Whether to name ignored files too.
        worktree: A worktree of the engine's own, by the name that git.worktree gave; empty: the workspace.
        copy: A branch that was opened from a commit: what a commit of it would hold, and what git ignores there.
    """
    if worktree and copy:
        raise ToolFailure("invalid", "one place is looked at: write `worktree` or `copy`, not both")
    repository = await opened(context, worktree)
    if copy:
        return await state_of(replace(repository, copy=copy), context, copy_of(context, copy))
    return await status_of(repository, ignored=ignored)


@tool(name="git.diff", repeat="safe", effects=["reads"], judges=True, staged=is_within)
async def diff(
    context: Context, old: Short = "HEAD", new: Short = "", paths: Paths | None = None, worktree: Short = ""
) -> dict[str, Any]:
    """What differs between two commits, or between a commit and the files as they are.

    Args:
        old: A commit: an id, a branch, a tag, HEAD, with ~n for steps back.
        new: Another commit; empty: the working tree.
        paths: Only these files, directories or patterns.
        worktree: A worktree of the engine's own; empty: the workspace.
    """
    repository = await opened(context, worktree)
    between = [await repository.commit_at(each) for each in (old, new) if each]
    return await difference(repository, context, between, specs(paths))


@tool(name="git.log", repeat="safe", effects=["reads"], judges=True, staged=is_within)
async def log(
    context: Context, start: Short = "HEAD", until: Short = "", paths: Paths | None = None, count: Count = 50
) -> list[dict[str, Any]]:
    """Commits, the newest first.

    Args:
        start: The commit to begin with.
        until: Leave out what is in this commit.
        paths: Only commits that change these files, directories or patterns.
        count: The most commits.
    """
    repository = await opened(context)
    first = await repository.commit_at(start)
    last = await repository.commit_at(until) if until else ""
    return await commits(repository, first, last, specs(paths), count)


@tool(name="git.show", repeat="safe", effects=["reads"], judges=True, staged=is_within)
async def show(context: Context, commit: Short = "HEAD", paths: Paths | None = None) -> dict[str, Any]:
    """A commit, and what it changed from its first parent.

    Args:
        commit: An id, a branch, a tag, HEAD, with ~n for steps back.
        paths: Only these files, directories or patterns.
    """
    repository = await opened(context)
    found = await repository.commit_at(commit)
    [told] = await commits(repository, found, "", (), 1)
    before = told["parents"][0] if told["parents"] else await repository.line("hash-object", "-t", "tree", "--stdin")
    return {**told, **await difference(repository, context, [before, found], specs(paths))}


def specs(paths: Iterable[str] | None) -> list[str]:
    """Paths as git takes them."""
    return [pathspec(each) for each in paths or ()]
