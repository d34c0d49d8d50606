"""Lock files of git that nobody holds any more. A process that is killed leaves them, and git waits for a person then.

A lock is taken away only if it surely is ours: it holds the very id that we were about to write; or it is empty, we
were at work on this ref before, and no git process is at work on this repository.
"""

import asyncio
import contextlib
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from perdure.tools.git.desk import Update
from perdure.tools.git.layout import Layout

OLD: Final = 1.0
"""Seconds after which an empty lock counts as left over."""
PROCESSES: Final = Path("/proc")


def locks_of(layout: Layout, updates: Iterable[Update]) -> list[tuple[Path, str]]:
    """The locks that are in the way, each with what we would have written into it."""
    wanted = [(layout.common / f"{each.ref}.lock", each.new) for each in updates]
    return [(path, new) for path, new in [*wanted, (layout.common / "packed-refs.lock", "")] if path.exists()]


def clear_stale(layout: Layout, locks: Iterable[tuple[Path, str]], *, again: bool) -> None:
    """Take away what was left by a process of ours that is dead. `again`: there was one before."""
    busy = is_at_work(layout)
    for path, new in locks:
        if _is_stale(path, new, again=again) and not busy:
            path.with_suffix(".new").unlink(missing_ok=True)  # packed-refs.new is written under that lock
            path.unlink(missing_ok=True)


def _is_stale(path: Path, new: str, *, again: bool) -> bool:
    try:
        held, age = path.read_bytes(), time.time() - path.stat().st_mtime
    except OSError:
        return False
    if new and held == f"{new}\n".encode():
        return True
    return again and age > OLD and f"{new}\n".encode().startswith(held)


async def settled(layout: Layout) -> None:
    """Wait a little while git is at work here: whoever comes after a killed engine may meet what it had started."""
    for _ in range(20):
        if not is_at_work(layout):
            return
        await asyncio.sleep(0.1)


def is_at_work(layout: Layout) -> bool:
    """Whether a git process is at work on this repository. Where nobody can tell, it is assumed."""
    if not PROCESSES.is_dir():
        return True
    return any(_works_on(layout, each) for each in PROCESSES.glob("[0-9]*"))


def _works_on(layout: Layout, process: Path) -> bool:
    with contextlib.suppress(OSError):
        if (process / "comm").read_bytes().startswith(b"git"):
            place = (process / "cwd").readlink()
            words = (process / "cmdline").read_bytes()
            near = any(place.is_relative_to(each) for each in layout)
            return near or any(str(each).encode() in words for each in layout)
    return False
