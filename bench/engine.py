"""Whether a step of a large plan costs more than a step of a small one: a chain, a fan-out and a graph, on a file.

The graph has about four needs a step, and two fifths of its steps need one and the same. What is measured is the time
of the processor: the disk of a shared machine changes too much while a large plan runs. Rounds are interleaved, the
best of three counts, and what is told is the ratio within this run.
"""

import argparse
import asyncio
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from figures import Figure, tell

from perdure import Engine, Plan, tool
from perdure.runtime.room import Limits

ROUNDS = 3
SMALL = 1_000


@tool(name="bench.step", repeat="safe")
async def step(n: int) -> dict[str, Any]:
    """A small result."""
    return {"step": n, "status": "ok", "text": "x" * 150, "tokens": 17}


def steps(size: int, **needs: Any) -> list[dict[str, Any]]:
    """Steps that do nothing but end."""
    return [{"id": f"s{n}", "kind": "tool", "tool": "bench.step", "with": {"n": n}, **needs} for n in range(size)]


def chain(size: int) -> dict[str, Any]:
    """One after another."""
    return {"steps": steps(size)}


def fan_out(size: int) -> dict[str, Any]:
    """All at once."""
    return {"mode": "graph", "steps": steps(size)}


def graph(size: int) -> dict[str, Any]:
    """By their needs: the first step is needed by two fifths of the others, the rest is drawn by lot."""
    draw = random.Random(7)
    found = steps(size)
    for n, each in enumerate(found):
        own = {0} if n and n % 5 < 2 else set[int]()  # noqa: PLR2004  two fifths
        own |= {draw.randrange(max(0, n - 200), n) for _ in range(4 if n else 0)}
        each["needs"] = [f"s{need}" for need in sorted(own)]
    return {"mode": "graph", "steps": found}


async def cost(document: dict[str, Any]) -> float:
    """Microseconds a step."""
    plan = Plan.model_validate(document)
    with tempfile.TemporaryDirectory() as directory:
        limits = Limits(len(plan.steps), len(plan.steps))
        async with Engine.open(Path(directory) / "runs.db", tools=[step], limits=limits) as engine:
            engine.prepare(plan)
            began = time.process_time()
            result = await (await engine.start(plan)).result()
            took = time.process_time() - began
    if not result.ok:
        raise SystemExit(f"the run failed: {result.failure}")
    return took / len(document["steps"]) * 1e6


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=20_000, help="steps of the large plan")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    told: list[Figure] = []
    for shape in (chain, fan_out, graph):
        small, big = shape(SMALL), shape(given.size)
        pairs = [(asyncio.run(cost(small)), asyncio.run(cost(big))) for _ in range(given.rounds)]
        few, many = min(each for each, _ in pairs), min(each for _, each in pairs)
        needs = sum(len(each.get("needs", ())) for each in big["steps"])
        with_ = f" and {needs:,} needs" if needs else ""
        who = f"{shape.__name__.replace('_', '-')} of {given.size:,} steps{with_}: a step"
        told += [Figure(who, many, "µs"), Figure(f"{who}, of one among {SMALL:,}", many / few, "x", most=1.3)]
    tell(told)


if __name__ == "__main__":
    main()
