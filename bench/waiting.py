"""What a run costs that only waits: 10,000 of them wait for a person, and 10,000 for the clock.

A run that waits is rows in the journal and not a coroutine, so it takes next to no memory and no processor time. Memory
is what the process has grown by, from the time when a few hundred runs were waiting already: those are kept at hand.
Each kind is measured in a process of its own.
"""

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from figures import Figure, tell

from perdure import Engine, Plan
from perdure.runtime.host import MOST_RESTING

RUNS, QUIET = 10_000, 10.0
BATCH = 200
KINDS = {
    "a person": {"id": "ok", "ask": "Publish it?"},
    "the clock": {"id": "nap", "wait": "1d"},
}
NEXT = {"id": "then", "tool": "flow.echo", "with": {"value": "${inputs.topic}"}}


def plan_of(kind: str) -> Plan:
    """Something that was done, the waiting, and something to do afterwards."""
    first = {"id": "first", "tool": "flow.echo", "with": {"value": "${inputs.topic}"}}
    return Plan.model_validate({"inputs": {"topic": {"type": "string"}}, "steps": [first, KINDS[kind], NEXT]})


def resident() -> int:
    """Bytes of memory that this process has now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


async def wait(engine: Engine, plan: Plan, runs: int) -> None:
    """So many more runs that wait."""
    for start in range(0, runs, BATCH):
        numbers = range(start, min(start + BATCH, runs))
        handles = await asyncio.gather(*(engine.start(plan, {"topic": f"run {n}"}) for n in numbers))
        await asyncio.gather(*(engine.host.rested(handle.id) for handle in handles))


async def measure(kind: str, runs: int, quiet: float) -> dict[str, float]:
    """Memory and processor time of one kind, and how long it takes to open the file again."""
    plan = plan_of(kind)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "runs.db"
        async with Engine.open(path) as engine:
            await wait(engine, plan, 3 * MOST_RESTING)
            empty = resident()
            await wait(engine, plan, runs)
            full, began = resident(), time.process_time()
            await asyncio.sleep(quiet)
            spent = time.process_time() - began
        size = path.stat().st_size
        before, began = resident(), time.perf_counter()
        async with Engine.open(path, resume=True):
            opened, again = time.perf_counter() - began, resident()
    return {
        "growth": (full - empty) / runs / 1024,
        "processor": 1000 * spent / quiet,
        "disk": size / (runs + 3 * MOST_RESTING) / 1024,
        "opened": opened,
        "again": max(0, again - before) / runs / 1024,
    }


def figures(kind: str, runs: int, found: dict[str, float]) -> list[Figure]:
    """What is told of one kind."""
    who = f"{runs:,} runs wait for {kind}"
    return [
        Figure(f"{who}: memory of each", found["growth"], "KB", most=20),
        Figure(f"{who}: processor time in a quiet second", found["processor"], "ms", most=1),
        Figure(f"{who}: disk for each", found["disk"], "KB"),
        Figure(f"{who}: opening the file with `resume`", found["opened"], "s"),
        Figure(f"{who}: memory of each, after that", found["again"], "KB", most=20),
    ]


def main() -> None:
    """Measure each kind in its own process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--quiet", type=float, default=QUIET, help="seconds in which nobody does anything")
    parser.add_argument("--kind", choices=KINDS, help="only this one, and as JSON")
    given = parser.parse_args()
    if given.kind:
        print(json.dumps(asyncio.run(measure(given.kind, given.runs, given.quiet))))
        return
    told: list[Figure] = []
    for kind in KINDS:
        size: list[Any] = ["--runs", given.runs, "--quiet", given.quiet, "--kind", kind]
        child = [sys.executable, __file__, *map(str, size)]
        told += figures(kind, given.runs, json.loads(subprocess.check_output(child, text=True)))
    tell(told)


if __name__ == "__main__":
    main()
