"""A copy of a workspace: all files, links and directories, but not what the engine or version control keeps there."""

import math
import os
import shutil
import stat
from collections.abc import Collection
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from perdure.tools.branches.branch import Base
from perdure.tools.changes import Image
from perdure.tools.changes.durable import PRIVATE_DIRECTORY, PRIVATE_FILE, write_all
from perdure.tools.changes.images import chunks_of
from perdure.tools.changes.protected import inside
from perdure.tools.changes.tree import Spot, Tree
from perdure.tools.changes.walking import DEEPEST, Found, Walk
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.hands import Hands

MOST_FILES: Final = 50_000
MOST_BYTES: Final = 2 * 1024**3
SPARE: Final = 64 * 1024**2
"""Bytes that a copy leaves free."""
VERSIONS: Final = frozenset({".git", ".hg", ".svn", ".bzr", ".jj"})
"""A commit in a copy is a commit that nobody fetches."""


class Whole(Walk):
    """Everything that a copy has. Names that cannot be written plainly are left out, as tools cannot touch them."""

    def __init__(self, tree: Tree, hands: Hands, without: Collection[str] = ()) -> None:
        super().__init__(tree, most=MOST_FILES, seconds=math.inf, everywhere=True)
        self._private: Final = {*inside(hands.workspace, (hands.state, *hands.private)), *without}

    def _is_entered(self, path: str) -> bool:
        return path not in self._private and path.rpartition("/")[2] not in VERSIONS

    def found(self) -> list[Found]:
        """All of it. `ToolFailure` if it is too much for a copy."""
        found = [each for each in self if self._is_entered(each.path) and each.kind != "other"]
        size = sum(each.status.st_size for each in found if each.kind == "file")
        if self.is_cut or size > MOST_BYTES:
            raise too_large("workspace")
        return found


def too_large(what: str) -> ToolFailure:
    """Why there is no copy of something."""
    most = f"{MOST_FILES:,} names, {MOST_BYTES // 1024**3} GB and {DEEPEST} levels are the most"
    return ToolFailure("invalid", f"the {what} is too large for a branch: {most}")


def copied(context: Context, source: Hands, to: Path, without: Collection[str] = ()) -> Base:
    """Copy a workspace, but for some files and directories; what stands under each name of the copy."""
    with closing(Tree(source.workspace)) as tree:
        found = Whole(tree, source, without).found()
        refuse_without_room(sum(each.status.st_size for each in found), to.parent)
        to.mkdir(mode=PRIVATE_DIRECTORY)
        base: Base = {}
        for each in found:
            context.raise_if_cancelled()
            with suppress(FileNotFoundError):  # somebody has just taken it away
                base[each.path] = _taken(tree, each, to / each.path)
        for each in reversed([each for each in found if each.kind == "directory"]):
            (to / each.path).chmod(stat.S_IMODE(each.status.st_mode))
        to.chmod(stat.S_IMODE(source.workspace.stat().st_mode))
        return base


def refuse_without_room(size: int, place: Path) -> None:
    """`ToolFailure` if a copy of so many bytes would leave too little of a disk."""
    free = shutil.disk_usage(place).free
    if free < size + SPARE:
        raise ToolFailure(
            "unavailable",
            f"a branch takes {size:,} bytes, and {free:,} are free, of which {SPARE:,} are left; make room",
        )


def _taken(tree: Tree, each: Found, to: Path) -> Image:
    if each.kind == "directory":
        to.mkdir(mode=PRIVATE_DIRECTORY)
        return Image("directory", "", stat.S_IMODE(each.status.st_mode), 0)
    with tree.spot(each.path) as spot:
        return _link(spot, to) if each.kind == "link" else _file(spot, to)


def _link(spot: Spot, to: Path) -> Image:
    target = os.readlink(spot.name, dir_fd=spot.directory)
    to.symlink_to(target)
    data = os.fsencode(target)
    return Image("link", sha256(data).hexdigest(), 0o777, len(data))


def _file(spot: Spot, to: Path) -> Image:
    """Copy a file; the image is that of the copy, whoever writes the file meanwhile."""
    seen, size = sha256(), 0
    with spot.reading() as file:
        copy = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            for chunk in chunks_of(file):
                seen.update(chunk)
                size += len(chunk)
                write_all(copy, chunk)
            was = os.fstat(file)
            os.fchmod(copy, stat.S_IMODE(was.st_mode))
            os.utime(copy, ns=(was.st_atime_ns, was.st_mtime_ns))
        finally:
            os.close(copy)
    return Image("file", seen.hexdigest(), stat.S_IMODE(was.st_mode), size)
