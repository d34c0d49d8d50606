"""The program as a user starts it, in a home of its own; and journals for it to work on."""

import asyncio
import ctypes
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import coverage
from msgspec.structs import replace

from perdure.journal import SqliteJournal
from perdure.testing.contracts import NOON, OVER, RUNNING, a_turn

HOLD = """
import asyncio, sys
from perdure.journal import open_journal

async def main():
    journal = await open_journal(sys.argv[1])
    print("open", flush=True)
    sys.stdin.read()

asyncio.run(main())
"""


ROOT = Path(__file__).parents[2]


def clean_environment(home, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PERDURE_", "XDG_"))}
    return {**kept, **measuring(), "HOME": str(home), **more}


def measuring():
    """What makes coverage look into a program too, where it looks at the tests. Programs that are killed tell nothing."""
    if coverage.Coverage.current() is None:
        return {}
    data = os.environ.get("COVERAGE_FILE", ROOT / ".coverage")
    return {"COVERAGE_PROCESS_START": str(ROOT / "pyproject.toml"), "COVERAGE_FILE": str(data)}


def without_privileges():
    """Let permissions hold, also for root."""
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def perdure(*words, home, cwd=None, stdin=None, before=None, **env):
    return subprocess.run(
        [sys.executable, "-m", "perdure", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        input=stdin,
        cwd=cwd or home,
        env=clean_environment(home, **env),
        preexec_fn=before,
    )


def write(path, *turns):
    """A journal that holds these turns."""

    async def work():
        async with await SqliteJournal.open(path) as journal:
            for turn in turns:
                await journal.append(turn)

    asyncio.run(work())
    return path


def a_run(run, *, over=False, at=NOON, asked=(), **shown):
    """The one turn of a run."""
    return replace(a_turn(run, 1, at=at), summary=replace(OVER if over else RUNNING, **shown), asked=asked)


@contextmanager
def held(path):
    """Another process has the journal."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "open\n"
        yield process
        process.stdin.close()
        process.wait(30)
