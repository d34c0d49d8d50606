"""Plans beside a plain one, on a machine that is never quiet.

Runs are short and take turns in an order that changes from round to round, so that whatever else goes on meets all of
them alike. The plain plan is run twice in each round: how far the two are apart is what nobody can measure here.

A durable step takes its time, of which a third is waiting for the disk; and it takes processor time, of which waiting
is no part. Both are told: what is added is computing, so it looks larger beside the second.
"""

import gc
import random
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from figures import Figure

from perdure import Engine, Plan

CONTROL = "plain, again"


@dataclass
class Taken:
    """What the steps of a plan took, round by round, in microseconds."""

    time: list[float] = field(default_factory=list[float])
    processor: list[float] = field(default_factory=list[float])


async def measured(engine: Engine, plans: Mapping[str, Plan], rounds: int) -> dict[str, Taken]:
    """So many rounds of all plans, one of them `plain`, after one round that counts for nothing."""
    every = {**plans, CONTROL: plans["plain"]}
    taken = {name: Taken() for name in every}
    draw = random.Random(0)
    for turn in range(rounds + 1):
        for name in draw.sample(list(every), len(every)):
            await _measure(engine, every[name], taken[name] if turn else Taken())
    return taken


async def _measure(engine: Engine, plan: Plan, taken: Taken) -> None:
    gc.collect()
    began, worked = time.perf_counter(), time.process_time()
    result = await (await engine.start(plan)).result()
    taken.time.append((time.perf_counter() - began) / len(plan.steps) * 1e6)
    taken.processor.append((time.process_time() - worked) / len(plan.steps) * 1e6)
    if not result.ok:
        raise SystemExit(f"the run failed: {result.failure}")


def ratio(mine: list[float], *plain: list[float]) -> float:
    """How often it takes what the plain runs of its round took on average; the median of what each round says."""
    averages = [statistics.fmean(each) for each in zip(*plain, strict=True)]
    return statistics.median(own / average for own, average in zip(mine, averages, strict=True))


def figures(taken: Mapping[str, Taken]) -> list[Figure]:
    """The plain step, and how often the others take that. The control has no bar: it says how far to trust the rest."""
    plain, again = taken["plain"], taken[CONTROL]
    told = [
        Figure("a plain durable step: time", statistics.median(plain.time), "µs"),
        Figure("a plain durable step: processor time", statistics.median(plain.processor), "µs"),
    ]
    for name, each in taken.items():
        if name != "plain":
            most = None if name == CONTROL else 1.10
            times = ratio(each.time, plain.time, again.time)
            processors = ratio(each.processor, plain.processor, again.processor)
            told.append(Figure(f"{name}: time, of a plain step", times, "x", most=most))
            told.append(Figure(f"{name}: processor time, of a plain step", processors, "x"))
    return told
