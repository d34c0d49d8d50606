"""The whole engine, on the simulated clock, against a list scheduler by critical path."""

import asyncio
import random

import pytest
from tests.support.scheduling import DRAWS, layered, list_schedule, plan_of, scattered

from perdure import Engine, Plan
from perdure.testing.clock import FakeClock, run
from perdure.testing.scripted import Scripted


def sleeping(takes):
    async def answer(_):
        await asyncio.sleep(takes / 1000)

    return answer


async def spans(family, draw, graphs):
    """How long each run takes, and how long it takes by the schedule."""
    for seed in range(graphs):
        rng = random.Random(f"{family.__name__} {draw} engine {seed}")
        nodes, places = family(rng, DRAWS[draw]), rng.randint(2, 8)
        clock, script = FakeClock(), {f"s{n}": sleeping(takes) for n, (takes, _) in enumerate(nodes)}
        async with Engine.open(clock=clock, performer=Scripted(script)) as engine:
            begins = clock.now()
            result = await (await engine.start(Plan.model_validate(plan_of(nodes, places)))).result()
            assert result.ok, result.failure
            yield clock.now() - begins, list_schedule(nodes, places)


async def ratios(family, draw, graphs):
    return [took / by_schedule async for took, by_schedule in spans(family, draw, graphs)]


@pytest.mark.parametrize("family", [layered, scattered])
@pytest.mark.parametrize("draw", ["even", "few long"])
def test_t7_runs_are_as_short_as_by_critical_path(family, draw):
    found = run(ratios(family, draw, 12))
    assert max(found) <= 1.05
    assert min(found) > 0.95
