"""Change sets: what stood under each name before, and what shall stand there after."""

from collections.abc import Iterable
from typing import Final

import msgspec

from perdure.tools.changes.images import Image
from perdure.tools.failure import ToolFailure

MOST: Final = 5_000
"""Changes of one set."""
LARGEST: Final = 256 * 1024 * 1024
"""Bytes of one file."""


class Change(msgspec.Struct, frozen=True, gc=False):
    """One name: from one image to another. None: there is nothing."""

    path: str
    """From the workspace's root, written plainly."""
    before: Image | None
    after: Image | None

    @property
    def inverse(self) -> "Change":
        """The change that takes this one back."""
        return Change(self.path, self.after, self.before)

    @property
    def is_about_directories(self) -> bool:
        """Whether a directory is made, removed or given another mode."""
        return "directory" in (self.before and self.before.kind, self.after and self.after.kind)


class ChangeSet(msgspec.Struct, frozen=True):
    """Changes that are made together or not at all. A move is something that goes and something that comes."""

    changes: tuple[Change, ...]

    @property
    def inverse(self) -> "ChangeSet":
        """The set that takes this one back."""
        return ChangeSet(tuple(each.inverse for each in reversed(self.changes)))

    @property
    def needed(self) -> "ChangeSet":
        """Without changes that change nothing."""
        return ChangeSet(tuple(each for each in self.changes if each.before != each.after))

    @property
    def made(self) -> tuple[Change, ...]:
        """Directories that come, outer ones first, and those that others can be put into from now on."""
        found = [each for each in self.changes if each.is_about_directories and _opens(each)]
        return tuple(sorted(found, key=lambda each: each.path))

    @property
    def files(self) -> tuple[Change, ...]:
        """Files and links: those that come first, those that go last, so that a move is never a gap."""
        found = [each for each in self.changes if not each.is_about_directories]
        return tuple(sorted(found, key=lambda each: (each.after is None, each.path)))

    @property
    def closed(self) -> tuple[Change, ...]:
        """Directories that go, inner ones first, and those that nobody can write into any more."""
        found = [each for each in self.changes if each.is_about_directories and not _opens(each)]
        return tuple(sorted(found, key=lambda each: each.path, reverse=True))


def _opens(change: Change) -> bool:
    return change.after is not None and (change.before is None or change.after.mode & 0o300 == 0o300)  # noqa: PLR2004  write and enter


def refuse_odd(changes: ChangeSet) -> None:
    """`ToolFailure` for sets that cannot be carried out as one."""
    if len(changes.changes) > MOST:
        raise ToolFailure("invalid", f"{len(changes.changes):,} changes are too many for a step, {MOST:,} are the most")
    if twice := _repeated(each.path for each in changes.changes):
        raise ToolFailure("invalid", f"{twice} is changed twice in one set; write one change for it")
    for each in changes.changes:
        _refuse_odd(each)


def _repeated(paths: Iterable[str]) -> str:
    seen: set[str] = set()
    return next((path for path in paths if path in seen or seen.add(path)), "")


def _refuse_odd(change: Change) -> None:
    kinds = {image.kind for image in (change.before, change.after) if image is not None}
    if kinds > {"directory"}:
        raise ToolFailure("invalid", f"{change.path} is a directory on one side only; remove it in a step of its own")
    if change.after is not None and change.after.size > LARGEST:
        raise ToolFailure("invalid", f"{change.path} would have {change.after.size:,} bytes, {LARGEST:,} are the most")
    if _set_id(change.after) & ~_set_id(change.before):
        raise ToolFailure("denied", f"{change.path} would run as its owner or group; no tool sets that bit")


def _set_id(image: Image | None) -> int:
    return image.mode & 0o6000 if image is not None and image.kind == "file" else 0
