"""A process dies with 1,000 runs under way: how long it takes to list them, and until all of them go on.

Each run is in the middle of its plan, with an attempt at work. The process that carries them is killed, once all of
them have come so far. Then the runs are listed, as `perdure ls` does, and another process takes them all up. Its time
counts from the moment in which it is started: it has to begin as well.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from figures import Figure, tell

from perdure import Engine, Plan, tool
from perdure.runtime.room import Limits

RUNS, STEPS, ROUNDS = 1_000, 20, 3
HALF = STEPS // 2


class Crowd:
    """Counts the runs that have come to the middle."""

    def __init__(self, runs: int, *, is_fatal: bool) -> None:
        self.left, self.is_fatal = runs, is_fatal
        self.all_here = asyncio.Event()

    async def step(self, n: int) -> dict[str, Any]:
        """A small result; the one in the middle never comes in the process that dies."""
        if n == HALF:
            self.left -= 1
            if not self.left:
                self.all_here.set()
            if self.is_fatal:
                await asyncio.Event().wait()
        return {"step": n, "status": "ok", "text": "x" * 150}


def tool_of(crowd: Crowd) -> Any:
    """The only tool there is."""

    @tool(name="bench.step", repeat="safe")
    async def step(n: int) -> dict[str, Any]:
        """A small result."""
        return await crowd.step(n)

    return step


async def die(path: Path, runs: int) -> None:
    """Bring all runs to the middle, and be killed there."""
    steps = [{"id": f"s{n}", "tool": "bench.step", "with": {"n": n}} for n in range(STEPS)]
    plan = Plan.model_validate({"goal": "Come to the end", "steps": steps})
    crowd = Crowd(runs, is_fatal=True)
    async with Engine.open(path, tools=[tool_of(crowd)], limits=Limits(total=runs)) as engine:
        await asyncio.gather(*(engine.start(plan) for _ in range(runs)))
        await crowd.all_here.wait()
        os.kill(os.getpid(), signal.SIGKILL)


async def resume(path: Path, runs: int, began: float) -> dict[str, float]:
    """Take all of them up, and bring them to their end."""
    crowd = Crowd(runs, is_fatal=False)
    loaded = time.time() - began
    async with Engine.open(path, tools=[tool_of(crowd)], resume=True) as engine:
        opened = time.time() - began
        going = [run.id for run in await engine.host.under_way()]
        over = asyncio.gather(*(engine.run(run).result() for run in going))
        await crowd.all_here.wait()
        resumed = time.time() - began
        results = await over
        assert all(each.ok for each in results), "not all of them came to their end"  # noqa: S101  as it says
    return {"loaded": loaded, "opened": opened, "resumed": resumed, "over": time.time() - began}


def listed(path: Path, runs: int) -> float:
    """Seconds of `perdure ls`, with all that are interrupted."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "perdure", "ls", "--all", "--json", "--db", str(path)]
    found = json.loads(subprocess.check_output(command, text=True))
    took = time.perf_counter() - began
    assert len(found["runs"]) == runs, "not all of them were listed"  # noqa: S101  as it says
    return took


def child(what: str, path: Path, runs: int) -> subprocess.CompletedProcess[str]:
    """This script in a process of its own."""
    command = [sys.executable, __file__, "--runs", str(runs), f"--{what}", str(path), "--began", repr(time.time())]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def one(runs: int) -> dict[str, float]:
    """Die, list, resume."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "runs.db"
        died = child("die", path, runs)
        if died.returncode != -signal.SIGKILL:
            raise SystemExit(died.stderr)
        took = listed(path, runs)
        resumed = child("resume", path, runs)
        if resumed.returncode:
            raise SystemExit(resumed.stderr)
        return {"listed": took, **json.loads(resumed.stdout)}


def main() -> None:
    """Some rounds, and their medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--die", type=Path)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--began", type=float, default=0.0)
    given = parser.parse_args()
    if given.die:
        asyncio.run(die(given.die, given.runs))
    elif given.resume:
        print(json.dumps(asyncio.run(resume(given.resume, given.runs, given.began))))
    else:
        rounds = [one(given.runs) for _ in range(given.rounds)]
        who = f"{given.runs:,} interrupted runs of {STEPS} steps"
        both = [each["listed"] + each["resumed"] for each in rounds]
        tell([
            Figure.of(f"{who}: listed, and all of them go on", both, "s", most=5),
            Figure.of(f"{who}: `perdure ls`", [each["listed"] for each in rounds], "s"),
            Figure.of(f"{who}: a new process, until all are loaded", [each["opened"] for each in rounds], "s"),
            Figure.of(f"{who}: until each has made a new step", [each["resumed"] for each in rounds], "s"),
            Figure.of(f"{who}: until all are over", [each["over"] for each in rounds], "s"),
        ])  # fmt: skip


if __name__ == "__main__":
    main()
