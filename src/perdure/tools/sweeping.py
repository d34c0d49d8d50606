"""Sweeping the engine's own place: what hands have kept for runs that are no more, and what crashes have left.

Killed at any moment, nothing that is needed is lost, and the next sweep finishes:

- The journal has forgotten the runs before. What goes is found by asking which runs it still has, not by remembering
  which ones it had; so whatever an earlier sweep did not come to is found again.
- A ref goes before the note of its deed, because the note alone knows of it.
- Records go before the bytes that they name. Bytes without a record are found again; a record without its bytes would
  promise what nobody can keep.
"""

import asyncio
import fcntl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final, NamedTuple

from perdure.tools.branches.branch import BRANCHES, GONE
from perdure.tools.branches.leaving import left_by as left_by_branches
from perdure.tools.changes import Images
from perdure.tools.changes.durable import locked
from perdure.tools.changes.images import DRAFT, OBJECTS
from perdure.tools.changes.intents import INTENTS
from perdure.tools.changes.leaving import Left
from perdure.tools.changes.leaving import left_by as left_by_changes
from perdure.tools.failure import ToolFailure
from perdure.tools.git.leaving import discard, let_go, worktree_of
from perdure.tools.git.leaving import left_by as left_by_git
from perdure.tools.hands import Tier
from perdure.tools.remaining import Remaining
from perdure.tools.sandbox.finding import FOUND
from perdure.tools.sandbox.stage import STAGES
from perdure.tools.scratch import left_in, remove, size_of

RECORDS: Final = (INTENTS, FOUND)
DRAFTS: Final = (
    f"{OBJECTS}/{DRAFT}*", f"{INTENTS}/*.new", f"{FOUND}/*.new", "git/agreed/*.new", "git/seen/*.new", "sandbox.*.new",
)  # fmt: skip
"""Files that were never finished, because their writer died."""


class Freed(NamedTuple):
    """What came of a sweep."""

    size: int
    """Bytes that are gone."""
    left: tuple[str, ...] = ()
    """What could not go, and why."""


def foreseen(state: Path, remaining: Remaining) -> int:
    """Bytes that a sweep would free at most. Nothing is changed, and others may be at work meanwhile."""
    left, deeds = _changes(state, remaining), left_by_git(state, remaining)
    found = (
        *left.records,
        *left.objects,
        *_drafts(state, remaining),
        *left_in(state / STAGES),
        *left_by_branches(state, remaining),
    )
    return sum(size_of(each) for each in (*found, *deeds, *map(worktree_of, deeds)))


async def sweep(state: Path, tier: Tier, remaining: Remaining) -> Freed:
    """Remove what may go. `tier` is what git is kept in where refs have to go from repositories."""
    size, left = 0, list[str]()
    for deed in await asyncio.to_thread(left_by_git, state, remaining):
        beside = await asyncio.to_thread(size_of, worktree_of(deed))
        try:
            await let_go(deed, tier)
            size += beside + await asyncio.to_thread(_removed, deed, discard)
        except (ToolFailure, OSError) as error:
            left.append(str(error))
    try:
        size += await asyncio.to_thread(_swept, state, remaining)
    except OSError as error:
        left.append(str(error))
    return Freed(size, tuple(left))


def _swept(state: Path, remaining: Remaining) -> int:
    with ExitStack() as closing:
        if (lock := state / "changes" / "lock").exists():  # a call that was given up may still be at work
            closing.enter_context(locked(lock, fcntl.LOCK_EX))
        left = _changes(state, remaining)
        size = sum(_removed(each, Path.unlink) for each in (*left.records, *_drafts(state, remaining)))
        size += sum(Images(state).drop(each, remaining.before) for each in left.objects)
    size += sum(_removed(each, remove) for each in left_in(state / STAGES))
    return size + _branches(state, remaining)


def _branches(state: Path, remaining: Remaining) -> int:
    if not (lock := state / BRANCHES / "lock").exists():
        return 0
    with locked(lock, fcntl.LOCK_EX):  # somebody may be at a copy
        return sum(_removed(each, _taken_away) for each in left_by_branches(state, remaining))


def _taken_away(place: Path) -> None:
    """What is half removed must not be taken for a branch."""
    gone = place if place.suffix else place.rename(place.with_suffix(GONE))
    remove(gone)


def _changes(state: Path, remaining: Remaining) -> Left:
    if not (state / OBJECTS).is_dir():
        return Left([], [])
    return left_by_changes([state / each for each in RECORDS], Images(state), remaining)


def _drafts(state: Path, remaining: Remaining) -> Iterator[Path]:
    for path in (path for pattern in DRAFTS for path in state.glob(pattern)):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < remaining.before:
                yield path


def _removed(path: Path, remove: Callable[[Path], None]) -> int:
    """Remove something; how many bytes it had."""
    size = size_of(path)
    with suppress(FileNotFoundError):
        remove(path)
    return size
