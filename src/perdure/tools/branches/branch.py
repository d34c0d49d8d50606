"""Where branches are, whose they are, and which one a step lies in.

    branches/<name>/      made aside as <name>.new, synced and renamed; on its way out it is <name>.gone,
                          and closed it has left its record in <name>.closed
        branch.json       whose it is, and of which commit it is a copy, if it is one
        base.json         what the workspace was where the line of branches began that leads here
        workspace/        the copy
        state/            what hands keep while they work on the copy; branches inside this one are there, too

A branch is named after its run and the group that it was opened in: all that is done inside that group finds it by
name, in any process. Its directory is there whole, or not at all.
"""

import fcntl
import os
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from perdure.tools.changes import Image
from perdure.tools.changes.durable import PRIVATE_FILE, make_private
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.hands import Hands

BRANCHES: Final = "branches"
"""Where branches are, in the engine's own place."""
RECORD: Final = "branch.json"
BASE: Final = "base.json"
NEW: Final = ".new"
GONE: Final = ".gone"
CLOSED: Final = ".closed"
PAUSE: Final = 0.01
Base = dict[str, Image]
"""What stood under each name."""


class LeftOut(msgspec.Struct, frozen=True):
    """Something that a copy could not take over."""

    path: str
    why: str


class Taken(NamedTuple):
    """What a copy was made of."""

    base: Base
    commit: str = ""
    left_out: tuple[LeftOut, ...] = ()


Take = Callable[[Path], Taken]
"""Fills a directory that is not there yet."""


class Branch(msgspec.Struct, frozen=True):
    """One branch, as it is written down."""

    name: str
    run: str
    key: str
    """Of the step that has opened it."""
    files: int
    size: int
    """Bytes of all files."""
    commit: str = ""
    """What the line of branches began with that leads here; empty: with the workspace as it was."""
    left_out: tuple[LeftOut, ...] = ()
    origin: str = ""
    """The branch that it goes on from."""


def name_of(run: str, group: str) -> str:
    """What the branch of a group is called."""
    return sha256(f"{run}\n{group}".encode()).hexdigest()[:32]


def place_of(hands: Hands, name: str) -> Path:
    """Where a branch is, or would be."""
    return hands.state / BRANCHES / name


def inside(hands: Hands, name: str) -> Hands:
    """The hands that reach a branch's copy and nothing else."""
    place = place_of(hands, name)
    return replace(hands, workspace=place / "workspace", state=place / "state", private=())


class Reach(NamedTuple):
    """What a step reaches."""

    hands: Hands
    depth: int
    """How many branches it lies in."""
    is_closed: bool = False
    """Whether it lies in one that was closed: what it would reach instead is not for it."""


def around(hands: Hands, run: str, groups: Iterable[str]) -> Reach:
    """What is reached in these groups, one in the other."""
    depth = 0
    for group in groups:
        name = name_of(run, group)
        place = place_of(hands, name)
        if place.is_dir():
            hands, depth = inside(hands, name), depth + 1
        elif was_closed(place):
            return Reach(hands, depth, is_closed=True)
    return Reach(hands, depth)


def was_closed(place: Path) -> bool:
    """Whether there was a branch at a place, and was closed."""
    return place.with_name(place.name + CLOSED).is_dir()


def recorded(place: Path) -> Branch | None:
    """What is written down about a branch; None if there is none, or nobody can read it."""
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode((place / RECORD).read_bytes(), type=Branch)
    return None


def base_of(place: Path) -> Base:
    """What the workspace was where the line began."""
    return msgspec.json.decode((place / BASE).read_bytes(), type=Base)


def named(hands: Hands, run: str, name: str) -> Branch:
    """The branch of this name. `ToolFailure` if the run has none."""
    found = recorded(place_of(hands, name)) if name.isalnum() else None
    if found is None or (found.run, found.name) != (run, name):
        raise ToolFailure("invalid", f"there is no branch {name!r} of this run here; `branch.open` gives the name")
    return found


@contextmanager
def held(context: Context) -> Generator[None]:
    """One at a time, also among processes: a call that was given up may still be copying."""
    home = context.hands.state / BRANCHES
    make_private(home)
    lock = os.open(home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        while not _is_taken(lock):
            context.raise_if_cancelled()
            time.sleep(PAUSE)
        yield
    finally:
        os.close(lock)


def _is_taken(lock: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
