"""How fast the past is read: events a second of a run that is loaded, verified and folded, and whether that grows.

A run is put together from its facts whenever it is taken up again. There are no snapshots, so this is what a long run
costs at its resumption. Processor time, best of some rounds; the sizes take turns.
"""

import argparse
import asyncio
import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from figures import Figure, tell

from perdure import Engine, Plan, tool
from perdure.core import events as e
from perdure.core.turn import replay
from perdure.ports import Entry, Run
from perdure.runtime.room import Limits

SMALL, LARGE, ROUNDS = 1_000, 20_000, 5
SHAPES = ("chain", "fan-out")


@tool(name="bench.step", repeat="safe")
async def step(n: int) -> dict[str, Any]:
    """A small result."""
    return {"step": n, "status": "ok", "text": "x" * 150, "tokens": 17}


def plan_of(shape: str, size: int) -> Plan:
    """Steps one after another, or all at once."""
    steps = [{"id": f"s{n}", "tool": "bench.step", "with": {"n": n}} for n in range(size)]
    return Plan.model_validate({"steps": steps} if shape == "chain" else {"mode": "graph", "steps": steps})


def spent(work: Callable[[], object]) -> float:
    """Seconds of the processor."""
    gc.collect()
    began = time.process_time()
    work()
    return time.process_time() - began


class Past:
    """A run that is over, and its facts."""

    def __init__(self, engine: Engine, found: Run, entries: list[Entry]) -> None:
        self.engine, self.found, self.entries = engine, found, entries

    def fold(self) -> None:
        """Put it together."""
        facts = ((e.decode(each.type, each.body), each.at) for each in self.entries)
        assert replay(self.found.id, self.engine.host.rules, facts).ended  # noqa: S101  else there is nothing to measure

    async def load(self) -> float:
        """Seconds of the processor, with what the threads of the journal take, to read it and to put it together."""
        gc.collect()
        began = time.process_time()
        found, entries = await self.engine.journal.load(self.found.id)
        self.engine.host.folded(found, entries)
        return time.process_time() - began

    async def verify(self) -> float:
        """The same for every hash of it."""
        began = time.process_time()
        await self.engine.journal.verify(self.found.id)
        return time.process_time() - began


async def past(engine: Engine, shape: str, size: int) -> Past:
    """Carry a plan out, so that there is something to read."""
    run = await engine.start(plan_of(shape, size))
    await run.result()
    return Past(engine, *await engine.journal.load(run.id))


async def measure(sizes: tuple[int, int], rounds: int) -> list[Figure]:
    """Both shapes in both sizes, by turns."""
    with tempfile.TemporaryDirectory() as place:
        limits = Limits(sizes[1], sizes[1])
        async with Engine.open(Path(place) / "runs.db", tools=[step], limits=limits) as engine:
            pasts = {(shape, size): await past(engine, shape, size) for shape in SHAPES for size in sizes}
            speeds: dict[tuple[str, str, int], list[float]] = {}
            for _ in range(rounds):
                for (shape, size), each in pasts.items():
                    count = len(each.entries)
                    speeds.setdefault((shape, "fold", size), []).append(count / spent(each.fold))
                    speeds.setdefault((shape, "load", size), []).append(count / await each.load())
                    speeds.setdefault((shape, "verify", size), []).append(count / await each.verify())
    return list(told(speeds, sizes))


def told(speeds: dict[tuple[str, str, int], list[float]], sizes: tuple[int, int]) -> list[Figure]:
    """Events a second, and the cost of an event of the large run against one of the small run."""
    found: list[Figure] = []
    names = {"fold": "put together", "load": "read and put together", "verify": "its chain verified"}
    bars = {"fold": 50_000, "load": None, "verify": None}
    for shape in SHAPES:
        for what, name in names.items():
            small, large = (max(speeds[shape, what, size]) for size in sizes)
            who = f"a {shape} of {sizes[1]:,} steps, {name}"
            found.append(Figure(who, large, "events/s", least=bars[what]))
            if what == "fold":
                found.append(
                    Figure(f"{who}: an event, against one of {sizes[0]:,} steps", small / large, "x", most=1.3)
                )
    return found


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=LARGE, help="steps of the large run")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    tell(asyncio.run(measure((SMALL, given.size), given.rounds)))


if __name__ == "__main__":
    main()
