"""What recovery costs: contracts, tables and schemas beside a plain durable step, and what a failure takes.

How it is measured, and how far that can be trusted, is said in `beside.py`.
"""

import argparse
import asyncio
import statistics
import tempfile
from pathlib import Path
from typing import Any

from beside import Taken, figures, measured
from figures import Figure, tell

from perdure import Engine, Plan, tool
from perdure.tools import ToolFailure

STEPS, ROUNDS = 200, 60
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


ALL, FAILING = "contracts, retry and tables", "the same, failing"
PLANS = {
    "plain": chain("bench.step", {}),
    "retry and tables": chain("bench.step", {"retry": RETRY, "recovery": CONTRACT["recovery"]}, recovery=TABLE),
    "contracts": chain("bench.step", {key: CONTRACT[key] for key in ("requires", "ensures", "accept")}),
    ALL: chain("bench.step", CONTRACT, recovery=TABLE),
    FAILING: chain("bench.fall", CONTRACT, recovery=TABLE),
}


async def measure(rounds: int) -> dict[str, Taken]:
    """All plans by turns."""
    with tempfile.TemporaryDirectory() as place:
        async with Engine.open(Path(place) / "runs.db", tools=[step, fall]) as engine:
            return await measured(engine, PLANS, rounds)


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    taken = asyncio.run(measure(parser.parse_args().rounds))
    pairs = zip(taken[FAILING].processor, taken[ALL].processor, strict=True)
    cost = statistics.median((falling - calm) * OFTEN for falling, calm in pairs)
    plain = statistics.median(taken["plain"].processor)
    calm = {name: each for name, each in taken.items() if name != FAILING}
    failure = Figure("a failure, classified and tried again: processor time, of a plain step", cost / plain, "x")
    tell([*figures(calm), failure])


if __name__ == "__main__":
    main()
