"""A copy of a workspace to try things on, and what is different afterwards."""

import asyncio
import difflib
import os
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Final, TypeVar

from perdure.errors import PerdureError
from perdure.tools.hands import Hands
from perdure.tools.sandbox.ending import surely
from perdure.tools.scratch import scratch

MOST_BYTES: Final = 2 * 1024**3
MOST_FILES: Final = 200_000
LARGEST: Final = 1024 * 1024
"""Of larger files it is only told that they differ."""
GIT: Final = ".git"
Stamp = tuple[int, int, int]


T = TypeVar("T")


class TooLarge(PerdureError):
    """The workspace is too large to be copied."""

    code: ClassVar[str] = "PRD3202"


async def on_a_copy(hands: Hands | None, act: Callable[[Hands | None], Awaitable[T]]) -> tuple[T, str]:
    """Act with hands that reach a copy of the workspace, and throw the copy away; what came of it, and the diff."""
    if hands is None:
        return await act(None), ""
    with scratch() as place:
        copied = await surely(asyncio.to_thread(_copied, hands, place))  # nobody may copy into what is being removed
        found = await act(copied)
        return found, await asyncio.to_thread(difference, hands.workspace, copied.workspace)


def _copied(hands: Hands, place: Path) -> Hands:
    state = place / "state"
    state.mkdir(mode=0o700)
    return replace(hands, workspace=copy_of(hands.workspace, place), state=state)


def copy_of(workspace: Path, into: Path) -> Path:
    """A copy with the same times, modes and links; shared blocks where the disk can."""
    size = files = 0
    for path in _files(workspace):
        files, size = files + 1, size + path.lstat().st_size
        if files > MOST_FILES or size > MOST_BYTES:
            told = f"{MOST_FILES:,} files or {MOST_BYTES // 1024**3} GB"
            raise TooLarge(f"{workspace} has more than {told}", "rehearse in a smaller workspace, with --workspace DIR")
    copy = into / "workspace"
    copy.mkdir()
    subprocess.run(["/bin/cp", "-a", "--reflink=auto", f"{workspace}/.", str(copy)], check=True, capture_output=True)  # noqa: S603  fixed words and two paths
    return copy


def _files(root: Path) -> Iterator[Path]:
    for directory, _, names in os.walk(root):
        yield from (Path(directory) / name for name in names)


def difference(before: Path, after: Path) -> str:
    """What was changed, added and removed, as a diff. What git keeps for itself is told by git."""
    old, new = _stamps(before), _stamps(after)
    touched = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    return "".join(_diff(name, before / name, after / name) for name in touched)


def _stamps(root: Path) -> dict[str, Stamp]:
    """Every file by its name, and by what shows that it was touched: a copy keeps all of it."""
    found: dict[str, Stamp] = {}
    for path in _files(root):
        name = str(path.relative_to(root))
        if name.split("/", 1)[0] != GIT:
            seen = path.lstat()
            found[name] = (seen.st_size, seen.st_mtime_ns, seen.st_mode)
    return found


def _diff(name: str, before: Path, after: Path) -> str:
    old, new = _lines(before), _lines(after)
    if old is None or new is None:
        return f"{name}: binary or large, and different\n"
    if old == new:
        return _diff_of_mode(name, _mode(before), _mode(after))
    names = (f"a/{name}" if _is_there(before) else "/dev/null", f"b/{name}" if _is_there(after) else "/dev/null")
    return "".join(_ended(line) for line in difflib.unified_diff(old, new, *names))


def _diff_of_mode(name: str, old: str, new: str) -> str:
    """What differs where no line does; what is not there has no mode."""
    if not (old and new):
        return f"{name}: {'added' if new else 'removed'}, empty\n"
    return "" if old == new else f"{name}: mode {old} becomes {new}\n"


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _is_there(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _mode(path: Path) -> str:
    return oct(path.lstat().st_mode & 0o7777) if _is_there(path) else ""


def _lines(path: Path) -> list[str] | None:
    """The lines of a text, the target of a link; nothing of what is not there; None of what is no text."""
    if path.is_symlink():
        return [f"-> {path.readlink()}\n"]
    if not path.is_file():
        return []
    if path.stat().st_size > LARGEST:
        return None
    try:
        return path.read_bytes().decode().splitlines(keepends=True)
    except UnicodeDecodeError:
        return None
