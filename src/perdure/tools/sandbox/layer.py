"""What a command has left on its stage, as changes: files, links, modes, what is gone, and what cannot be kept.

The command is dead, so nothing moves any more; but all that lies there was made by it, and nothing is believed. Links
are never followed, devices and pipes are left out, and a file that somebody else has changed meanwhile is not
overwritten with something that was made from its older self.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from perdure.tools.changes import Change, ChangeSet, Image, Images
from perdure.tools.changes.sets import MOST
from perdure.tools.changes.tree import Tree
from perdure.tools.failure import ToolFailure
from perdure.tools.sandbox.stage import Stage

CACHES: Final = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"})
"""Directories that programs make for themselves; they are not what anybody wanted to change."""
_OPAQUE: Final = "user.overlay.opaque"
_ORIGIN: Final = "user.overlay.origin"
_DEEPEST: Final = 100


@dataclass(slots=True)
class Left:
    """What was found on a stage."""

    changes: ChangeSet
    left_out: list[str] = field(default_factory=list[str])
    """Paths that are no files, links or directories, or belong to a cache."""


def left_on(stage: Stage, images: Images) -> Left:
    """What the command has changed. `ToolFailure` if it is too much, or not what it was made from."""
    looking = _Looking(stage)
    below, above = Tree(stage.workspace), Tree(stage.upper)
    try:
        found = [looking.change(path, below, above, images) for path in looking.paths()]
    except PermissionError as error:
        raise ToolFailure("invalid", f"nothing was kept: the command has left {error.filename!r} unreadable") from None
    finally:
        below.close()
        above.close()
    return Left(ChangeSet(tuple(each for each in found if each.before != each.after)), looking.left_out)


class _Looking:
    """One look at a stage."""

    def __init__(self, stage: Stage) -> None:
        self._stage: Final = stage
        self._overlay: Final = stage.kind == "overlay"
        self._gone: set[str] = set()
        self.left_out: list[str] = []

    def paths(self) -> list[str]:
        """Names under which something may have changed, in order."""
        found: set[str] = set()
        for path in self._touched():
            found.add(path)
            if len(found) > MOST:
                raise ToolFailure("invalid", f"the command has changed more than {MOST:,} files; nothing was kept")
        return sorted(found)

    def change(self, path: str, below: Tree, above: Tree, images: Images) -> Change:
        """What became of one name."""
        before = below.image(path, images)
        after = None if path in self._gone else above.image(path, images)
        if not (before and after and before.kind == after.kind == "directory"):
            self._refuse_stale(path, before)
        return Change(path, before, after)

    def _refuse_stale(self, path: str, before: Image | None) -> None:
        """The command has worked with what stood there at first. If that is there no more, others come first."""
        if before is None:
            moved = path not in self._gone and self._was_below(path)
        else:
            moved = _status(self._stage.workspace / path).st_ctime_ns > self._stage.since and before.kind != "directory"
        if moved:
            raise ToolFailure(
                "transient", f"{path} was changed by somebody else while the command ran; nothing was kept"
            )

    def _was_below(self, path: str) -> bool:
        """Whether somebody has taken away what stood there.

        What was copied from below knows it, but may have been moved here from another name; so the directory below must
        have changed, too.
        """
        if not self._overlay or _attribute(self._stage.upper / path, _ORIGIN) is None:
            return False
        above = (self._stage.workspace / path).parent
        while not above.is_dir():
            above = above.parent
        return _status(above).st_ctime_ns > self._stage.since

    # --------------------------------------------------------------------------- walking

    def _touched(self) -> Iterator[str]:
        waiting = [("", False)]
        while waiting:
            directory, is_hidden = waiting.pop()
            is_hidden = is_hidden or self._hides_all_below(directory)
            names: set[str] = set()
            for name, status in _listed(self._stage.upper / directory):
                path = f"{directory}/{name}" if directory else name
                names.add(name)
                if self._is_left_out(name, path, status):
                    continue
                if stat.S_ISDIR(status.st_mode):
                    waiting.append((path, is_hidden))
                yield from self._at(path, status)
            if is_hidden:
                yield from self._missing(directory, names)

    def _is_left_out(self, name: str, path: str, status: os.stat_result) -> bool:
        whiteout = self._stage.is_gone(status)
        special = not whiteout and stat.S_IFMT(status.st_mode) not in (stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR)
        if special or (name in CACHES and not whiteout) or path.count("/") > _DEEPEST:
            self.left_out.append(path)
            return True
        return False

    def _at(self, path: str, status: os.stat_result) -> Iterator[str]:
        below = self._stage.workspace / path
        if self._stage.is_gone(status):
            yield from self._all_gone(path)
        elif not self._stage.is_untouched(path, status):
            yield path
            if not stat.S_ISDIR(status.st_mode) and below.is_dir() and not below.is_symlink():
                yield from self._below(path)

    def _hides_all_below(self, directory: str) -> bool:
        """Whether what is not here is gone: in a copy always, in an overlay where a directory was made anew.

        So it is for all that was made within such a directory, which says nothing of that itself.
        """
        return not self._overlay or _attribute(self._stage.upper / directory, _OPAQUE) == b"y"

    def _missing(self, directory: str, names: set[str]) -> Iterator[str]:
        for name, _ in _listed(self._stage.workspace / directory):
            path = f"{directory}/{name}" if directory else name
            if name not in names and name not in CACHES and path not in self._stage.hidden:
                yield from self._all_gone(path)

    def _all_gone(self, path: str) -> Iterator[str]:
        below = self._stage.workspace / path
        if os.path.lexists(below):
            self._gone.add(path)
            yield path
            if below.is_dir() and not below.is_symlink():
                yield from self._below(path)

    def _below(self, path: str) -> Iterator[str]:
        for name, _ in _listed(self._stage.workspace / path):
            yield from self._all_gone(f"{path}/{name}")


def _listed(directory: Path) -> list[tuple[str, os.stat_result]]:
    """What a directory holds, whatever mode it was left with; nothing, if it is none."""
    try:
        status = _status(directory)
        if not stat.S_ISDIR(status.st_mode):
            return []
        with os.scandir(directory) as found:
            return [(each.name, each.stat(follow_symlinks=False)) for each in found]
    except FileNotFoundError:
        return []


def _status(path: Path) -> os.stat_result:
    return path.stat(follow_symlinks=False)


def _attribute(path: Path, name: str) -> bytes | None:
    try:
        return os.getxattr(path, name, follow_symlinks=False)
    except OSError:
        return None
