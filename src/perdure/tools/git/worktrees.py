"""Working trees of the engine's own, in its state: a place to work in that nobody else looks at."""

import asyncio
import shutil
from pathlib import Path

import msgspec

from perdure.tools.changes.durable import make_private
from perdure.tools.failure import ToolFailure
from perdure.tools.git.desk import Desk, Intent
from perdure.tools.git.refusing import HELD, refusal
from perdure.tools.git.repository import WORKTREES, Repository


def name_of(deed: str) -> str:
    """The worktree that a deed makes."""
    return f"perdure-{deed[:16]}"


def aside(path: Path) -> Path:
    """Where a worktree is while it is being removed."""
    return path.with_name(f"{path.name}.gone")


async def worktree_intent(repository: Repository, desk: Desk, state: Path, start: str) -> Intent:
    """A working tree that stands on a commit, on no branch."""
    name = name_of(desk.id)
    commit = await repository.commit_at(start)
    return Intent((), {"name": name, "path": str(state / WORKTREES / name), "commit": commit})


async def check_out(repository: Repository, desk: Desk, intent: Intent) -> None:
    """Make it. What an earlier try has left half done is ours, and begun anew."""
    if intent.done:
        return
    path = Path(intent.output["path"])
    make_private(path.parent)
    await _removed(repository, path)
    await repository.changing(path.parent).ask(
        "worktree", "add", "--detach", "--force", str(path), intent.output["commit"]
    )
    desk.keep(msgspec.structs.replace(intent, done=True))


async def remove(repository: Repository, own: Repository | None, path: Path, commit: str) -> None:
    """Take it away, if nothing was left in it. Whoever was stopped while doing so goes on."""
    if own is not None:
        await _refuse_changed(own, commit)
        await asyncio.to_thread(shutil.rmtree, aside(path), ignore_errors=True)
        await asyncio.to_thread(path.rename, aside(path))  # from here on nobody takes what is left of it for changes
    await _removed(repository, path)


async def _refuse_changed(own: Repository, commit: str) -> None:
    words = ("status", "--porcelain", "-z", "--ignored", "--untracked-files=all", "--ignore-submodules=dirty")
    said = await own.ask(*words)
    head = await own.find("HEAD^{commit}")
    if said.out or head != commit:
        why = "files in it were changed" if said.out else f"it stands on {head[:12]}, not on {commit[:12]}"
        raise refusal(HELD, "unmet", f"the worktree {own.root.name} is kept: {why}", path=str(own.root))


async def _removed(repository: Repository, path: Path) -> None:
    """The directory, what was put aside, and what the repository remembers of it."""
    places = (path, aside(path), repository.layout.common / "worktrees" / path.name)
    for each in places:
        await asyncio.to_thread(shutil.rmtree, each, ignore_errors=True)
        if each.exists():
            raise ToolFailure("unmet", f"{each} could not be removed")
