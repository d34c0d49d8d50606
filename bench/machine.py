"""Where and with what it was measured, and how much of the machine others took meanwhile."""

import os
import platform
import re
import sqlite3
import subprocess
import time
from pathlib import Path

from venvs import HERE, HOME, is_there, versions

TICKS = os.sysconf("SC_CLK_TCK")
SHOWN = {
    "langgraph": ("langgraph", "langgraph-checkpoint-sqlite"),
    "dbos": ("dbos",),
    "burr": ("burr",),
    "agent-framework": ("agent-framework-core",),
}
"""What has the name of a peer in its environment."""


def machine() -> dict[str, str]:
    """What it is."""
    kernel, *_ = re.split(r"[^\d.]", platform.release())  # what comes behind is the name of a build
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "processor": f"{os.cpu_count()} x {_first('/proc/cpuinfo', 'model name') or platform.machine()}",
        "memory": f"{int((_first('/proc/meminfo', 'MemTotal') or '0').split()[0]) / 2**20:.0f} GB",
        "system": f"{_first('/etc/os-release', 'PRETTY_NAME', '=').strip(chr(34))}, Linux {kernel}",
        "disk": _file_system(HOME),
        "Python": platform.python_version(),
        "SQLite": f"{sqlite3.sqlite_version}, WAL, synchronous=FULL",
        "Perdure": _commit(),
    } | {peer: _version(peer, names) for peer, names in SHOWN.items() if is_there(peer)}


def _version(peer: str, names: tuple[str, ...]) -> str:
    known = versions(peer)
    return ", ".join(f"{name} {known.get(name, '?')}" for name in names) + f" ({len(known)} distributions)"


def _first(file: str, word: str, sign: str = ":") -> str:
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(sign)[2].strip() for line in lines if line.startswith(word)), "")


def _file_system(place: Path) -> str:
    """The kind of the file system that all data is on."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    around = [(mount, kind) for mount, kind in mounts if place.is_relative_to(mount)]
    kind = max(around, key=lambda each: len(each[0]))[1] if around else "unknown"
    return f"{kind} (in memory: nothing waits for a disk)" if kind in {"tmpfs", "ramfs"} else kind


def _commit() -> str:
    told = subprocess.run(
        ["git", "-C", HERE, "describe", "--always", "--dirty", "--exclude", "*"],  # noqa: S607  git is found as a user finds it
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return told.stdout.strip() or "not in a repository"


class Meter:
    """How much of the processors others take, and how long the queue is."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self._all, self._mine = _busy(), _own()
        self.loads: list[float] = []

    def look(self) -> None:
        """Note how long the queue is now."""
        self.loads.append(os.getloadavg()[0])

    @property
    def minutes(self) -> float:
        """Since it began."""
        return (time.monotonic() - self.began) / 60

    @property
    def others(self) -> float:
        """The share of the processors' time that others had."""
        spent = (_busy() - self._all) - (_own() - self._mine)
        return max(0.0, spent / (60 * self.minutes * (os.cpu_count() or 1)))


def _busy() -> float:
    """Seconds in which the processors had work."""
    user, nice, system, _, _, irq, soft = map(int, _first("/proc/stat", "cpu ", " ").split()[:7])
    return (user + nice + system + irq + soft) / TICKS


def _own() -> float:
    return sum(os.times()[:4])
