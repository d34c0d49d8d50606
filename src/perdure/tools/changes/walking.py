"""Walking through the workspace: no link is followed, and count, depth and time are bounded."""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from perdure.core.policy import Deed, Layer, Terms, judge
from perdure.tools.changes.paths import is_plain
from perdure.tools.changes.tree import OURS, Tree
from perdure.tools.failure import ToolFailure

SKIPPED: Final = frozenset(
    {".git", ".hg", ".svn", ".bzr", ".jj", "node_modules", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".tox"}
)
"""Directories that are only walked through by who starts in them."""
MOST: Final = 100_000
"""Names that are looked at."""
DEEPEST: Final = 64
SECONDS: Final = 20.0
NEAR: Final = 5_000


class Found(NamedTuple):
    """Something on the way."""

    path: str
    status: os.stat_result

    @property
    def kind(self) -> str:
        """`file`, `link`, `directory` or `other`."""
        kinds = {stat.S_IFREG: "file", stat.S_IFLNK: "link", stat.S_IFDIR: "directory"}
        return kinds.get(stat.S_IFMT(self.status.st_mode), "other")


class Walk:
    """Everything below a directory, in order. `is_cut` afterwards: whether there was more."""

    def __init__(
        self, tree: Tree, start: str = "", most: int = MOST, seconds: float = SECONDS, *, everywhere: bool = False
    ) -> None:
        self._tree: Final = tree
        self._start: Final = start
        self._left = most
        self._until: Final = time.monotonic() + seconds
        self._everywhere: Final = everywhere
        self.is_cut = False
        self.odd = 0
        """Names that cannot be written plainly, and are left out."""

    def __iter__(self) -> Iterator[Found]:
        waiting = [(self._start, 0)]
        while waiting:
            path, depth = waiting.pop()
            below = self._below(path)
            yield from below
            inner = [each.path for each in below if each.kind == "directory" and self._is_entered(each.path)]
            self.is_cut |= depth >= DEEPEST and bool(inner)
            waiting += [(each, depth + 1) for each in reversed(inner)] if depth < DEEPEST else []

    def _is_entered(self, path: str) -> bool:
        return self._everywhere or path.rpartition("/")[2] not in SKIPPED

    def _below(self, path: str) -> list[Found]:
        """What is in a directory, as long as there is time. One that has just gone is empty."""
        try:
            directory = self._tree.directory(path)
        except (OSError, ToolFailure):
            if path == self._start:
                raise
            return []
        try:
            return list(self._entries(directory, path))
        finally:
            os.close(directory)

    def _entries(self, directory: int, path: str) -> Iterator[Found]:
        for name in sorted(os.listdir(directory)):
            if self._left <= 0 or time.monotonic() > self._until:
                self.is_cut = True
                return
            self._left -= 1
            whole = f"{path}/{name}" if path else name
            with suppress(FileNotFoundError):
                found = os.stat(name, dir_fd=directory, follow_symlinks=False)
                if is_plain(whole) and not name.startswith(OURS):
                    yield Found(whole, found)
                else:
                    self.odd += 1


def is_like(glob: str, path: str) -> bool:
    """Whether a path matches a pattern, as patterns of a policy do."""
    layer = Layer("", files_read=Terms(allow=(glob,)))
    return judge((layer,), Deed("read", path)).verdict == "allow"


def names_near(tree: Tree) -> list[str]:
    """Files that may have been meant."""
    walk = Walk(tree, most=NEAR, seconds=1.0)
    return [each.path for each in walk if each.kind == "file"]


def all_below(tree: Tree, path: str) -> list[str]:
    """Every name below a directory, to be moved or removed with it; of a file, none. They may be too many."""
    found = tree.image(path)
    if found is None or found.kind != "directory":
        return []
    walk = Walk(tree, path, everywhere=True)
    names = [each.path for each in walk]
    if walk.is_cut or walk.odd:
        raise ToolFailure(
            "invalid", f"{path} holds more than one step can take, or names that cannot be written plainly"
        )
    return names
