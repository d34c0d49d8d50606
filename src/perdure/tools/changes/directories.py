"""Directories: made before anything is put into them, removed after all has left. They hold no bytes to lose."""

import errno
import os
from typing import Final

from perdure.tools.changes.conflict import Conflict
from perdure.tools.changes.kernel import NOREPLACE, UNSUPPORTED, rename_at
from perdure.tools.changes.renaming import move
from perdure.tools.changes.sets import Change
from perdure.tools.changes.tree import OURS, Spot, Tree

_IN_USE: Final = frozenset({errno.ENOTEMPTY, errno.EEXIST, errno.EBUSY})


def bring(tree: Tree, tag: str, change: Change) -> bool:
    """Make a directory, remove it, or give it a mode. Whether it came to that: one with something in it stays."""
    try:
        with tree.spot(change.path) as spot:
            _clear(spot, tag)
            now = spot.image()
            if now == change.after:
                return True
            if now != change.before:
                raise Conflict(change, "was changed by somebody else meanwhile", now)
            return _brought(tree, spot, tag, change)
    except FileNotFoundError:
        if change.after is not None:
            raise Conflict(change, "has no directory to be in") from None
        return True


def _brought(tree: Tree, spot: Spot, tag: str, change: Change) -> bool:
    if change.after is None:
        done = _removed(spot)
    elif change.before is None:
        done = _made(tree, spot, tag, change.after.mode)
    else:
        done = _moded(spot, change.after.mode)
    os.fsync(spot.directory)
    return done


def _removed(spot: Spot) -> bool:
    try:
        os.rmdir(spot.name, dir_fd=spot.directory)
    except OSError as error:
        if error.errno in _IN_USE:
            return False
        raise
    return True


def _made(tree: Tree, spot: Spot, tag: str, mode: int) -> bool:
    """Under another name first, so that it is never seen with a mode that is not its own."""
    draft = spot.beside(f"{OURS}{tag}-new")
    os.mkdir(draft.name, 0o700, dir_fd=draft.directory)
    try:
        if tree.owner != os.geteuid():
            os.chown(draft.name, tree.owner, -1, dir_fd=draft.directory, follow_symlinks=False)
        _moded(draft, mode)
        _named(draft, spot)
    except OSError:
        _clear(spot, tag)
        raise
    return True


def _named(draft: Spot, spot: Spot) -> None:
    try:
        rename_at(spot.directory, draft.name, spot.name, NOREPLACE)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
        move(draft, spot)  # over an empty directory, if somebody has made one just now


def _clear(spot: Spot, tag: str) -> None:
    """Remove what was not made to its end."""
    spot.beside(f"{OURS}{tag}-new").remove_directory()


def _moded(spot: Spot, mode: int) -> bool:
    file = os.open(spot.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=spot.directory)
    try:
        os.fchmod(file, mode)
        os.fsync(file)
    finally:
        os.close(file)
    return True
