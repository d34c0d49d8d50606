"""Where a repository is: found without asking git, because whoever made the directory may have laid it out to mislead.

Git follows links, and files that say where the rest is. Here only what git itself makes is followed: a directory
`.git`, or the file of a linked worktree whose repository points back at it.
"""

import os
import stat
from pathlib import Path
from typing import Final, NamedTuple

from perdure.tools.failure import ToolFailure
from perdure.tools.git.refusing import ABSENT, LAYOUT, refusal

NO_LINKS: Final = (
    "HEAD", "config", "config.worktree", "index", "packed-refs", "objects", "objects/info", "objects/pack", "refs",
    "refs/heads", "refs/tags", "refs/perdure", "logs", "logs/HEAD", "logs/refs", "info", "worktrees", "shallow",
)  # fmt: skip
"""What git makes itself, and never as a link."""
CLONED: Final = "a clone of it can be worked with (git clone)"
LONGEST: Final = 4096
"""Bytes of a file that says where something is."""


class Layout(NamedTuple):
    """The directories of a repository."""

    root: Path
    """The working tree."""
    own: Path
    """What belongs to this working tree: HEAD and the index."""
    common: Path
    """What all working trees share: objects, branches, settings."""


def layout_of(root: Path) -> Layout:
    """The repository whose working tree this is."""
    dot = root / ".git"
    kind = _kind(dot)
    if kind == stat.S_IFDIR:
        return _checked(Layout(root, dot, dot))
    if kind == stat.S_IFREG:
        return _checked(_linked(root, dot))
    if kind == stat.S_IFLNK:
        raise _odd(dot, "is a link")
    raise refusal(ABSENT, "invalid", f"there is no repository at {root}: .git is missing there")


def bare_layout_of(root: Path) -> Layout:
    """A repository without a working tree, as remotes are; or that of a working tree."""
    if _kind(root / "HEAD") == stat.S_IFREG and _kind(root / "objects") == stat.S_IFDIR:
        return _checked(Layout(root, root, root))
    return layout_of(root)


def _linked(root: Path, dot: Path) -> Layout:
    """A linked worktree: the place it names must name it in turn, or anybody could send us anywhere."""
    own = _led_to(dot, root, "gitdir: ")
    if not own.is_dir():
        raise _odd(dot, f"leads to {own}, where nothing is")
    if not _kind(own / "commondir"):
        raise _odd(dot, f"leads to {own}: it is a submodule, or git's own files were put elsewhere", CLONED)
    common = _led_to(own / "commondir", own)
    back = _led_to(own / "gitdir", own)
    if own.parent != common / "worktrees" or back != dot.resolve():
        raise _odd(dot, f"names {own}, which is not the place of a worktree that leads back here")
    return Layout(root, own, common)


def _led_to(file: Path, place: Path, prefix: str = "") -> Path:
    try:
        said = file.read_bytes()[: LONGEST + 1]
    except OSError as error:
        raise _odd(file, f"cannot be read ({error.strerror})") from None
    text = os.fsdecode(said.removesuffix(b"\n"))
    if not text.startswith(prefix) or len(said) > LONGEST or "\0" in text or "\n" in text:
        raise _odd(file, "does not say where the repository is")
    return (place / text.removeprefix(prefix)).resolve()


def _checked(layout: Layout) -> Layout:
    for place in {layout.own, layout.common}:
        _refuse_foreign(place)
        for name in NO_LINKS:
            refuse_link(place / name)
    if layout.own == layout.common and _kind(layout.own / "commondir"):
        raise _odd(layout.own / "commondir", "belongs into linked worktrees only")
    if "\n" in str(layout.common):
        raise _odd(layout.common, "has a line break in its name")
    return layout


def _refuse_foreign(place: Path) -> None:
    """As git does: what another user has prepared is not worked with."""
    try:
        owner = place.stat().st_uid
    except OSError as error:
        raise _odd(place, f"cannot be read ({error.strerror})") from None
    if owner != os.geteuid():
        raise _odd(place, f"belongs to another user (number {owner})")


def refuse_link(path: Path) -> None:
    """What is written under this name would be written somewhere else."""
    if _kind(path) == stat.S_IFLNK:
        raise _odd(path, "is a link")


def refuse_links_to(common: Path, ref: str) -> None:
    """The same for each directory on the way to a ref and to its log."""
    for start in (common, common / "logs"):
        place = start
        for part in ref.split("/"):
            place /= part
            refuse_link(place)


def _kind(path: Path) -> int:
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except OSError:
        return 0


def _odd(path: Path, why: str, instead: str = "") -> ToolFailure:
    told = f"{path} {why}; this repository is not worked with"
    return refusal(LAYOUT, "denied", f"{told}; {instead}" if instead else told, file=str(path))
