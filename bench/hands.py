"""What safety costs: rules and ledgers beside a durable step, the sandbox and its stage beside a plain process.

How steps are measured, and how far that can be trusted, is said in `beside.py`. Commands take turns, and their medians
are told.
"""

import argparse
import asyncio
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from beside import figures, measured
from figures import Figure, tell

from perdure import Engine, Plan, tool
from perdure.core.calls import Call
from perdure.plan.model.parts import Policy
from perdure.ports import Attempt
from perdure.tools import ToolPerformer
from perdure.tools.builtin import SHELL
from perdure.tools.hands import Hands
from perdure.tools.sandbox import Command, run

STEPS, ROUNDS, STARTS = 200, 60, 15
RULES = {"tools": {"deny": ["mail.*"]}, "ask": ["irreversible"], "files": {"write": ["src/**"]}}
BUDGET = {"steps": 10 * STEPS, "tokens": 1_000_000, "seconds": "1h"}


@tool(name="bench.add", repeat="safe", effects=[])
async def add(n: int) -> int:
    """Add one."""
    return n + 1


def chain(**more: Any) -> Plan:
    """Steps in a row."""
    steps = [{"id": f"s{n}", "tool": "bench.add", "with": {"n": n}} for n in range(STEPS)]
    return Plan.model_validate({"steps": steps, **more})


async def steps(place: Path, rounds: int) -> list[Figure]:
    """A durable step as it is, under rules, with a ledger, and with both."""
    plans = {
        "plain": chain(),
        "a policy with rules": chain(policy=RULES),
        "a budget": chain(budget=BUDGET),
        "a policy and a budget": chain(policy=RULES, budget=BUDGET),
    }
    async with Engine.open(place / "runs.db", tools=[add], policy=Policy(network=())) as engine:
        return figures(await measured(engine, plans, rounds))


async def starts(place: Path, rounds: int) -> list[Figure]:
    """A process as it is, in the sandbox, and in the sandbox on a stage."""
    workspace, state = place / "workspace", place / "state"
    workspace.mkdir()
    state.mkdir(mode=0o700)
    (workspace / "a").write_text("a\n")
    performer = ToolPerformer(SHELL, hands=Hands(workspace.resolve(), state.resolve()))

    async def staged() -> None:
        call = Call("tool", "shell.run", {"command": ["true"]})
        outcome = await performer.perform(Attempt("r", "s", 1, 1, f"key-{time.time_ns()}", call))
        assert outcome.failure is None, outcome.failure  # noqa: S101  else there is nothing to measure

    async def caged() -> None:
        await run(Command(["true"]))

    async def plain() -> None:
        await asyncio.to_thread(subprocess.run, ["/bin/true"], check=True)

    ways = {"plain": plain, "sandboxed": caged, "staged": staged}
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, way in ways.items():
            began = time.perf_counter()
            await way()
            taken[name].append((time.perf_counter() - began) * 1e3)
    medians = {name: statistics.median(each[1:]) for name, each in taken.items()}
    return [
        Figure("a command in a plain process", medians["plain"], "ms"),
        Figure("a command in the sandbox: more than that", medians["sandboxed"] - medians["plain"], "ms", most=40),
        Figure("a command on a stage: more than that", medians["staged"] - medians["plain"], "ms", most=150),
    ]


async def main(rounds: int, commands: int) -> None:
    """Both."""
    with tempfile.TemporaryDirectory() as place:
        tell([*await steps(Path(place), rounds), *await starts(Path(place), commands)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--commands", type=int, default=STARTS)
    given = parser.parse_args()
    asyncio.run(main(given.rounds, given.commands))
