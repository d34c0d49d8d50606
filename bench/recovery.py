"""What recovery costs: contracts, tables and schemas beside a plain durable step, and what a failure takes.

Everything is measured in one go, by turns, as processor time of this process, and told as medians of what each round
says: a shared machine is noisy, but all kinds of steps are on it together.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from perdure import Engine, Plan, tool
from perdure.tools import ToolFailure

STEPS, ROUNDS = 1_000, 9
OFTEN = 10
"""One step in so many fails, once."""
RETRY = {"attempts": 2, "wait": 0}
SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}, "text": {"type": "string"}}}
CONTRACT = {
    "requires": ["inputs.limit > 0"],
    "ensures": ["output.n >= 0"],
    "accept": [{"expr": "output.text != ''"}, {"schema": SCHEMA}],
    "retry": RETRY,
    "recovery": {"unmet": ["retry", "ask", "fail"], "other": ["continue"]},
}
TABLE = {"unavailable": ["retry", "fail"], "stalled": ["ask"], "other": ["fail"]}


@tool(name="bench.step", repeat="safe", effects=[])
async def step(n: int) -> dict[str, Any]:
    """A small result."""
    return {"n": n, "text": "fine"}


class Falling:
    """A tool that fails at the first try of some steps."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def of(self, n: int) -> dict[str, Any]:
        """The result, or a failure that has to be classified."""
        if n % OFTEN == 0 and n not in self.seen:
            self.seen.add(n)
            raise (ConnectionResetError("gone") if n % (2 * OFTEN) else ToolFailure("unavailable", "not now"))
        self.seen.discard(n)
        return {"n": n, "text": "fine"}


FALLING = Falling()


@tool(name="bench.fall", repeat="safe", effects=[])
async def fall(n: int) -> dict[str, Any]:
    """A small result, at the second try if not at the first."""
    return FALLING.of(n)


def chain(name: str, each: dict[str, Any], **more: Any) -> Plan:
    """Steps in a row, all alike."""
    steps = [{"id": f"s{n}", "tool": name, "with": {"n": n}, **each} for n in range(STEPS)]
    inputs = {"limit": {"type": "integer", "default": 3}}
    return Plan.model_validate({"inputs": inputs, "steps": steps, **more})


PLANS = {
    "plain": chain("bench.step", {}),
    "retry and tables": chain("bench.step", {"retry": RETRY, "recovery": CONTRACT["recovery"]}, recovery=TABLE),
    "contracts": chain("bench.step", {key: CONTRACT[key] for key in ("requires", "ensures", "accept")}),
    "all": chain("bench.step", CONTRACT, recovery=TABLE),
    "all, falling": chain("bench.fall", CONTRACT, recovery=TABLE),
}


async def micros(engine: Engine, plan: Plan) -> float:
    """Processor time of a run of a plan, by its steps."""
    began = time.process_time()
    result = await (await engine.start(plan)).result()
    took = time.process_time() - began
    if not result.ok:
        raise SystemExit(f"the run failed: {result.failure}")
    return took / STEPS * 1e6


async def measure(rounds: int) -> dict[str, list[float]]:
    """So many rounds of all plans by turns, after one that counts for nothing."""
    taken: dict[str, list[float]] = {name: [] for name in PLANS}
    with tempfile.TemporaryDirectory() as place:
        async with Engine.open(Path(place) / "runs.db", tools=[step, fall]) as engine:
            for name, plan in (*PLANS.items(), *(rounds * list(PLANS.items()))):
                taken[name].append(await micros(engine, plan))
    return {name: each[1:] for name, each in taken.items()}


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    taken = asyncio.run(measure(parser.parse_args().rounds))
    for name, each in taken.items():
        ratio = statistics.median(mine / plain for mine, plain in zip(each, taken["plain"], strict=True))
        print(f"durable step, {name:17} {statistics.median(each):8.0f} µs   {ratio:5.2f} times plain")
    pairs = zip(taken["all, falling"], taken["all"], taken["plain"], strict=True)
    failures = [((falling - calm) * OFTEN, plain) for falling, calm, plain in pairs]
    cost = statistics.median(each for each, _ in failures)
    ratio = statistics.median(each / plain for each, plain in failures)
    print(f"a failure, classified and tried again {cost:6.0f} µs   {ratio:5.2f} times a plain step")


if __name__ == "__main__":
    main()
