"""Which deeds nobody can take back any more, and what has to go with them: refs that keep commits, worktrees.

A worktree in which something was changed is somebody's work, and stays.
"""

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from perdure.tools.failure import ToolFailure
from perdure.tools.git.committing import branch_for, note_of
from perdure.tools.git.desk import DEEDS, NOTE, Intent
from perdure.tools.git.landing import take_back
from perdure.tools.git.names import HEADS, KEPT
from perdure.tools.git.refusing import HELD, refusal
from perdure.tools.git.repository import GIT, WORKTREES, Repository, opened_again
from perdure.tools.git.worktrees import aside, name_of, remove
from perdure.tools.hands import Hands, Tier
from perdure.tools.remaining import Remaining
from perdure.tools.scratch import remove as remove_tree


def left_by(state: Path, remaining: Remaining) -> list[Path]:
    """Directories of deeds that may go. A deed stays with its worktree if another one was done from there."""
    gone: list[Path] = []
    used: set[str] = set()
    for place in sorted((state / GIT / DEEDS).glob("*")):
        intent = intent_of(place)
        if not _is_needed(place, intent, remaining):
            gone.append(place)
        elif intent is not None:
            used.add(Path(intent.own).name)
    return [each for each in gone if name_of(each.name) not in used]


def _is_needed(place: Path, intent: Intent | None, remaining: Remaining) -> bool:
    with suppress(FileNotFoundError):  # somebody is at it
        if (note := place / NOTE).exists():
            return remaining.needs(intent.run if intent else "", note.stat().st_mtime)
        return place.stat().st_mtime >= remaining.before  # it has come to nothing: who comes again begins anew
    return True


def intent_of(place: Path) -> Intent | None:
    """What a deed was about; None if that cannot be read."""
    try:
        return msgspec.json.decode((place / NOTE).read_bytes(), type=Intent)
    except (OSError, msgspec.MsgspecError):
        return None


def worktree_of(place: Path) -> Path:
    """The worktree that a deed has made, if it was one that makes a worktree."""
    return place.parents[2] / WORKTREES / name_of(place.name)


def discard(place: Path) -> None:
    """Remove the directory of a deed, its note last: who is killed at it can go on."""
    for each in place.iterdir():
        if each.is_dir() and not each.is_symlink():
            remove_tree(each)
        elif each.name != NOTE:
            each.unlink()
    (place / NOTE).unlink(missing_ok=True)
    place.rmdir()


async def let_go(place: Path, tier: Tier) -> None:
    """Take away what a deed keeps elsewhere. `ToolFailure` if that has to stay, or cannot be taken away now.

    The deed itself goes after that: it alone says where to look.
    """
    intent, worktree = intent_of(place), worktree_of(place)
    if intent is None:
        return
    hands = Hands(Path(intent.workspace), place.parents[2], tier)
    _unsee(place.parents[1], intent)
    kept = [each for each in intent.updates if each.ref.startswith(KEPT)]
    if kept and _has_repository(hands):  # where there is none any more, its refs are gone, too
        await take_back(await opened_again(hands), kept)
    if any(_is_there(each) for each in (worktree, aside(worktree))):
        await _retire(hands, worktree, intent)


def _unsee(state: Path, intent: Intent) -> None:
    """Forget where the run's own branch was, and what its copies saw. What is known of others serves other runs."""
    for each in intent.updates:
        if intent.ground or each.ref == f"{HEADS}{branch_for(intent.run)}":
            note_of(state, intent.own, each.ref).unlink(missing_ok=True)


def _has_repository(hands: Hands) -> bool:
    return hands.workspace.is_absolute() and _is_there(hands.workspace / ".git")


def _is_there(path: Path) -> bool:
    return os.path.lexists(path)


async def _retire(hands: Hands, worktree: Path, intent: Intent) -> None:
    if not _has_repository(hands):
        raise _kept(worktree, "its repository is not where it was, so nobody can tell what was changed in it")
    own = await opened_again(hands, worktree.name) if intent.done and _is_there(worktree) else None
    at = await _at(own, intent.output["commit"]) if own else ""
    await remove(await opened_again(hands), own, worktree, at)


async def _at(own: Repository, start: str) -> str:
    """Where a worktree stands, if that is where it began, or in a branch or tag."""
    head = await own.find("HEAD^{commit}")
    words = ("for-each-ref", "--count=1", "--contains", head, "refs/heads", "refs/tags", "refs/remotes")
    if head != start and not (await own.ask(*words)).out:
        raise _kept(own.root, f"{head[:12]} is in no branch")
    return head


def _kept(worktree: Path, why: str) -> ToolFailure:
    return refusal(HELD, "unmet", f"the worktree {worktree.name} is kept: {why}", path=str(worktree))
