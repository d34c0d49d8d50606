"""How good estimates are: what simulated runs say a run will take, against what it then takes.

Plans of several families, drawn from seeds, are carried out by the engine on a simulated clock, so that a run of an
hour takes milliseconds. After 20 runs of a plan its estimate is made, and then ten more runs are held against it. Told
is how many of them end within nine tenths of the simulated ones (p90), and how far the middle (p50) is from the truth.
One family is real: functions that work for as long as they do, on the clock of this machine.
"""

import argparse
import asyncio
import hashlib
import math
import random
from collections.abc import Callable, Mapping
from statistics import fmean, median
from typing import Any

from figures import Figure, tell

from perdure import Engine, Plan, tool
from perdure.core.calls import Failure
from perdure.estimates.forecast import Forecast, Range
from perdure.estimates.history import gather
from perdure.estimates.parts import Layout
from perdure.ports import Attempt
from perdure.testing.clock import FakeClock, run
from perdure.testing.scripted import Scripted

WORLDS, LEARNT, TRIED = 40, 20, 10
Takes = Callable[[Attempt, random.Random], Any]
"""What an attempt takes, in seconds, and what it gives."""


class Drawn:
    """A plan of a family, and how long its steps take."""

    def __init__(self, steps: list[dict[str, Any]], medians: Mapping[str, float], width: float = 0.5) -> None:
        self.plan: Any = {"steps": steps}
        self.medians, self.width = medians, width
        self.factor = 1.0
        """How large the run under way is."""
        self.fails: dict[str, str] = {}
        """How steps fail, if they do."""
        self.share = 0.3
        """How often those fail that may."""
        self.slow = 0.0
        """How often a step takes ten times as long."""

    def begin(self, chance: random.Random) -> Mapping[str, Any]:  # noqa: ARG002  some draw
        """A run is about to begin: its inputs."""
        return {}

    def takes(self, attempt: Attempt, chance: random.Random) -> tuple[float, Any]:
        """Seconds, and the answer."""
        name = attempt.step.rpartition(".")[2]
        seconds = self.medians[name] * math.exp(self.width * chance.gauss(0, 1)) * self.factor
        seconds *= 10 if chance.random() < self.slow else 1
        fails = name in self.fails and chance.random() < self.share
        return seconds, Failure(self.fails[name], f"after {seconds}") if fails else seconds


def steps_of(chance: random.Random, count: int, **more: Any) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Steps of tools of their own, and how long each takes in the middle."""
    medians = {f"s{n}": math.exp(chance.uniform(0, 4)) for n in range(count)}
    return [{"id": id_, "tool": f"x.{id_}", **more} for id_ in medians], medians


def in_order(chance: random.Random) -> Drawn:
    """One after another."""
    return Drawn(*steps_of(chance, chance.randint(2, 10)), width=chance.uniform(0.2, 1.0))


def now_and_then_slow(chance: random.Random) -> Drawn:
    """One try in five takes ten times as long."""
    drawn = Drawn(*steps_of(chance, chance.randint(1, 6)), width=0.2)
    drawn.slow = 0.2
    return drawn


class Sized(Drawn):
    """All steps of a run take longer if it has more to do."""

    def begin(self, chance: random.Random) -> Mapping[str, Any]:
        """How much there is to do this time."""
        self.factor = math.exp(0.6 * chance.gauss(0, 1))
        return {}


def sized(chance: random.Random) -> Drawn:
    """Steps that are slow and fast together."""
    return Sized(*steps_of(chance, chance.randint(2, 8)), width=0.2)


def at_once(chance: random.Random) -> Drawn:
    """A graph with fewer places than steps."""
    steps, medians = steps_of(chance, chance.randint(6, 16))
    for n, step in enumerate(steps):
        step["needs"] = [f"s{m}" for m in range(max(0, n - 4), n) if chance.random() < 0.3]  # noqa: PLR2004
    drawn = Drawn([{"id": "all", "mode": "graph", "limit": chance.randint(2, 4), "steps": steps}], medians)
    drawn.width = 0.6
    return drawn


def tried_again(chance: random.Random) -> Drawn:
    """Steps of which one try in three fails."""
    drawn = Drawn(*steps_of(chance, chance.randint(2, 6), retry={"attempts": 6, "wait": 5}))
    drawn.fails = dict.fromkeys(drawn.medians, "transient")
    return drawn


def in_rounds(chance: random.Random) -> Drawn:
    """A test, and repairs until it succeeds."""
    steps, medians = steps_of(chance, 3)
    steps[1] |= {"max_visits": 9, "on": {"failure": "s2"}}
    steps[2] |= {"on": {"success": "s1"}}
    steps.insert(2, {"id": "end", "done": True})
    drawn = Drawn(steps, medians)
    drawn.fails, drawn.share = {"s1": "logic"}, chance.uniform(0.2, 0.6)
    return drawn


class Listed(Drawn):
    """Each run has another number of items."""

    def begin(self, chance: random.Random) -> Mapping[str, Any]:
        """How many items there are this time."""
        return {"items": list(range(chance.randint(1, 12)))}


def for_each(chance: random.Random) -> Drawn:
    """A map whose list comes from outside."""
    steps, medians = steps_of(chance, 2)
    drawn = Listed([{"id": "each", "map": "${inputs.items}", "limit": 3, "steps": steps}], medians)
    drawn.plan["inputs"] = {"items": {"type": "array"}}
    return drawn


FAMILIES: dict[str, Callable[[random.Random], Drawn]] = {
    "steps in order": in_order,
    "steps that are slow now and then": now_and_then_slow,
    "runs of different size": sized,
    "graphs with a limit": at_once,
    "tries that fail": tried_again,
    "loops until it is right": in_rounds,
    "maps of other lists": for_each,
}
Case = tuple[float, float, float]
"""What a run took, in seconds, and p50 and p90 of its estimate."""


async def cases_of(drawn: Drawn, chance: random.Random, learnt: int, tried: int) -> list[Case]:
    """Carry a plan out so often, estimate it, and carry it out some more."""

    async def answer(attempt: Attempt) -> Any:
        seconds, given = drawn.takes(attempt, chance)
        await asyncio.sleep(seconds)
        return given

    clock = FakeClock()
    async with Engine.open(clock=clock, performer=Scripted({}, default=answer)) as engine:
        plan = Plan.model_validate(drawn.plan)

        async def took() -> tuple[float, Mapping[str, Any]]:
            inputs = drawn.begin(chance)
            began = clock.now()
            await (await engine.start(plan, inputs)).result()
            return (clock.now() - began) / 1000, inputs

        for _ in range(learnt):
            await took()
        history, made, found = await gather(engine.journal), dict[int, Range](), list[Case]()
        for _ in range(tried):
            seconds, inputs = await took()
            size = len(inputs.get("items", ()))
            if size not in made:
                made[size] = Forecast(Layout(plan, history, inputs=inputs)).took
            found.append((seconds, made[size].p50, made[size].p90))
        return found


# ------------------------------------------------------------------------------- on the clock of this machine


@tool(name="bench.hash", repeat="safe")
def hash_(rounds: int) -> str:
    """Work for as long as it takes."""
    data = b"perdure" * 20_000
    for _ in range(rounds):
        data = hashlib.sha256(data).digest() * 4_000
    return hashlib.sha256(data).hexdigest()


@tool(name="bench.wait", repeat="safe")
async def wait(seconds: float) -> None:
    """Wait for something that takes as long as it takes."""
    await asyncio.sleep(seconds * math.exp(random.gauss(0, 0.4)))


REAL = Plan.model_validate(
    {
        "inputs": {"rounds": {"type": "integer"}},
        "steps": [
            {"id": "read", "tool": "bench.wait", "with": {"seconds": 0.03}},
            {
                "id": "both",
                "parallel": [
                    {"id": "work", "tool": "bench.hash", "with": {"rounds": "${inputs.rounds}"}},
                    {"id": "ask", "tool": "bench.wait", "with": {"seconds": 0.05}},
                ],
            },
            {"id": "write", "tool": "bench.wait", "with": {"seconds": 0.02}},
        ],
    }
)


async def real_cases(learnt: int, tried: int) -> list[Case]:
    """The same with work that is done."""
    chance = random.Random(7)
    async with Engine.open(tools=[hash_, wait]) as engine:

        async def took() -> None:
            await (await engine.start(REAL, {"rounds": chance.randint(20, 400)})).result()

        for _ in range(learnt):
            await took()
        estimated = Forecast(Layout(REAL, await gather(engine.journal))).worked
        for _ in range(tried):
            await took()
        pasts = (await gather(engine.journal)).pasts[:tried]
        return [(past.worked / 1000, estimated.p50, estimated.p90) for past in pasts]


# ------------------------------------------------------------------------------- what is told


def figures(name: str, cases: list[Case]) -> list[Figure]:
    """How many are covered, and how far off the middle is."""
    covered = 100 * fmean(took <= p90 for took, _, p90 in cases)
    off = [100 * abs(p50 - took) / took for took, p50, _ in cases]
    return [
        Figure(f"{name}: within p90", covered, "%"),
        Figure(f"{name}: p50 off by, in the middle", median(off), "%"),
    ]


def all_cases(worlds: int, learnt: int = LEARNT, tried: int = TRIED) -> dict[str, list[Case]]:
    """Of each family, on the simulated clock."""
    found: dict[str, list[Case]] = {}
    for name, family in FAMILIES.items():
        found[name] = []
        for seed in range(worlds):
            chance = random.Random(f"{name} {seed}")
            found[name] += run(cases_of(family(chance), chance, learnt, tried))
    return found


def main() -> None:
    """Draw, learn, estimate, carry out, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=WORLDS, help="plans of each family")
    parser.add_argument("--learnt", type=int, default=LEARNT, help="runs before the estimate is made")
    given = parser.parse_args()
    cases = all_cases(given.worlds, given.learnt)
    told = [figure for name, found in cases.items() for figure in figures(name, found)]
    every = [case for found in cases.values() for case in found]
    covered = 100 * fmean(took <= p90 for took, _, p90 in every)
    told.append(Figure("all families: within p90", covered, "%", least=85))
    told.append(Figure("all families: within p90, not too many", covered, "%", most=95))
    told += figures("all families", every)[1:]
    told += figures("work on this machine's clock", asyncio.run(real_cases(given.learnt, 30)))
    tell(told)


if __name__ == "__main__":
    main()
