"""Limits that the kernel keeps: resource limits for each process, and a control group for all together.

They are set from outside, on the first process of the sandbox, while it waits; all others inherit them. The number of
processes is counted within the sandbox's own user namespace, unless we are the machine's root user, whom the kernel
does not count: then a control group must do it.
"""

import contextlib
import itertools
import os
import resource
from pathlib import Path
from typing import Final

from perdure.tools.sandbox.command import Limits

_GROUPS: Final = Path("/sys/fs/cgroup")
_OURS: Final = Path("/proc/self/cgroup")
_NAME: Final = "perdure-{pid}-{number}"
_numbers: Final = itertools.count(1)


def confine(pid: int, limits: Limits) -> "Group":
    """Set the limits of a process that has no children yet."""
    resource.prlimit(pid, resource.RLIMIT_NPROC, (limits.processes, limits.processes))
    resource.prlimit(pid, resource.RLIMIT_DATA, (limits.memory, limits.memory))
    # much is reserved and never used, but shared memory is counted only here
    resource.prlimit(pid, resource.RLIMIT_AS, (4 * limits.memory, 4 * limits.memory))
    resource.prlimit(pid, resource.RLIMIT_CPU, (limits.cpu_seconds, limits.cpu_seconds))
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (limits.file_size, limits.file_size))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (limits.files, limits.files))
    resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
    resource.prlimit(pid, resource.RLIMIT_MEMLOCK, (0, 0))
    with contextlib.suppress(OSError):  # when memory runs out, it is the first to go
        Path(f"/proc/{pid}/oom_score_adj").write_text("1000")
    return Group.around(pid, limits)


class Group:
    """A control group, where we may make one; else nothing."""

    def __init__(self, path: Path | None) -> None:
        self._path: Final = path

    @classmethod
    def around(cls, pid: int, limits: Limits) -> "Group":
        """A group with this process in it."""
        for parent in _parents():
            sweep(parent)
            if (made := _made(parent, limits)) is None:
                continue
            with contextlib.suppress(OSError):
                (made / "cgroup.procs").write_text(str(pid))
                return cls(made)
            _removed(made)
        return cls(None)

    def remove(self) -> None:
        """To be called when all its processes are dead."""
        if self._path is not None:
            _removed(self._path)


def _parents() -> list[Path]:
    """Where a group of our own may be made: below or beside the one that we are in."""
    try:
        lines = _OURS.read_text().splitlines()
    except OSError:
        return []
    found: list[Path] = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "pids":
            found.append(_GROUPS / "pids" / path.lstrip("/"))
        elif not controllers and (_GROUPS / "cgroup.controllers").exists():
            own = _GROUPS / path.lstrip("/")
            found += [own, own.parent] if own != _GROUPS else [own]
    return [each for each in found if os.access(each, os.W_OK)]


def _made(parent: Path, limits: Limits) -> Path | None:
    group = parent / _NAME.format(pid=os.getpid(), number=next(_numbers))
    try:
        group.mkdir()
    except OSError:
        return None
    try:
        (group / "pids.max").write_text(str(limits.processes))
    except OSError:  # the parent does not hand this controller down
        _removed(group)
        return None
    for name, value in (("memory.max", limits.memory), ("memory.swap.max", 0), ("memory.oom.group", 1)):
        if (group / name).exists():
            (group / name).write_text(str(value))
    return group


def sweep(parent: Path) -> None:
    """Remove the groups of engines that are dead."""
    for group in parent.glob("perdure-*-*"):
        if not Path("/proc", group.name.split("-")[1]).exists():
            _removed(group)


def _removed(group: Path) -> None:
    with contextlib.suppress(OSError):
        group.rmdir()
