"""One trial: an engine carries out one workload, in a process of its own, and tells what it took.

An adapter is a script that runs in the environment of its engine; its last line says `RESULT`. What is on the disk is
counted after every log of SQLite was brought in.
"""

import json
import os
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from venvs import HERE, HOME, PEERS, last_line, python_of

Row = dict[str, Any]
MARK = "RESULT "


@dataclass(frozen=True, order=True)
class Job:
    """What is to be tried."""

    workload: str
    n: int
    peer: str
    variant: str

    def __str__(self) -> str:
        return f"{self.workload} n={self.n:,} {self.peer}/{self.variant}"


@dataclass(frozen=True)
class Process:
    """How a process ended."""

    code: int
    out: str
    err: str

    @property
    def row(self) -> Row:
        """What it told, or why it told nothing."""
        told = [line.removeprefix(MARK) for line in self.out.splitlines() if line.startswith(MARK)]
        return json.loads(told[-1]) if told else {"error": last_line(self.err) or f"exit {self.code}"}


def run(command: Sequence[str], limit: float, **environment: str) -> Process:
    """A process and all that it starts; they are over when this returns."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, **environment},
    ) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            out, err = "", f"not over after {limit:g} s"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return Process(process.returncode, out, err)


def tried(job: Job, limit: float) -> Row:
    """One trial."""
    with place() as root:
        return _killed(job, root, limit) if job.workload == "w5" else _whole(job, root, limit)


@contextmanager
def place() -> Generator[Path]:
    """A directory that is gone afterwards, on the disk that all trials share."""
    (HOME / "data").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="b-", dir=HOME / "data", ignore_cleanup_errors=True) as root:
        yield Path(root)


def _command(job: Job, root: Path, *more: str) -> list[str]:
    adapter = HERE / "peers" / "adapters" / PEERS[job.peer]["adapter"]
    given = ["--workload", job.workload, "--n", str(job.n), "--variant", job.variant, "--data", str(root / "d")]
    return [str(python_of(job.peer)), str(adapter), *given, *more]


def _launch(command: Sequence[str], limit: float) -> Process:
    quiet = {"PYTHONDONTWRITEBYTECODE": "1", "LANGSMITH_TRACING": "false", "DO_NOT_TRACK": "1"}
    return run(command, limit, **quiet)


def _whole(job: Job, root: Path, limit: float) -> Row:
    row = _launch(_command(job, root), limit).row
    return row | {"bytes": _settled(root / "d")} if "steps" in row else row


def _killed(job: Job, root: Path, limit: float) -> Row:
    """The adapter kills itself in the middle of a chain. Then it is started again."""
    middle = job.n // 2
    first = _launch(_command(job, root, "--crash-at", str(middle)), limit)
    if first.code != -signal.SIGKILL:
        return {"error": f"it did not die: {last_line(first.err) or first.code}"}
    before = _executed(root)
    began = time.time()
    second = _launch(_command(replace(job, workload="w5resume"), root), limit)
    whole = time.time() - began
    after = _executed(root)[len(before) :]
    new = [at - began for step, at in after if step > middle]
    if not new:
        return {"error": f"it did not go on: {last_line(second.err) or second.code}"}
    times = Counter(step for step, _ in [*before, *after])
    twice = sum(count > 1 for count in times.values())
    return {"first_new_s": new[0], "twice": twice, "never": job.n - len(times), "resumed_s": whole}


def _executed(root: Path) -> list[tuple[int, float]]:
    """Which steps were executed, and when."""
    lines = [line.split() for line in (root / "exec.log").read_text(encoding="ascii").splitlines()]
    return [(int(step), float(at)) for _, step, at in lines]


def _settled(data: Path) -> int:
    for path in [path for path in data.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm"))]:
        with path.open("rb") as file:
            is_database = file.read(15) == b"SQLite format 3"
        if is_database:
            with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as database:
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return sum(path.stat().st_size for path in data.rglob("*") if path.is_file())


def syncs(job: Job, limit: float) -> float:
    """How often the disk is waited for in a step, as `strace` counts it: two lengths, so that beginnings cancel."""
    few, many = (_syncs(replace(job, n=n), limit) for n in (job.n, 3 * job.n))
    return (many - few) / (2 * job.n)


def _syncs(job: Job, limit: float) -> int:
    with place() as root:
        log = root / "calls"
        traced = ["strace", "-f", "-qq", "-o", str(log), "-e", "trace=fsync,fdatasync,sync_file_range"]
        _launch([*traced, *_command(job, root)], limit)
        return sum("sync" in line and "resumed" not in line for line in log.read_text(errors="replace").splitlines())
