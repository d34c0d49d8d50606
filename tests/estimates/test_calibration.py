"""A7: estimates are held against what happened, from what was known as each run began."""

import asyncio
import random

import pytest

from perdure import Engine, Plan
from perdure.documents.estimates import calibration_document
from perdure.estimates.calibration import Held, calibration_of
from perdure.testing.clock import FakeClock, run
from perdure.testing.scripted import Scripted

PLAN = Plan.model_validate({"name": "p", "steps": [{"id": "a", "tool": "x.y"}, {"id": "b", "tool": "x.z"}]})


async def document(times, seconds):
    """The calibration after some runs, in which each step took what is drawn."""

    async def answer(_):
        await asyncio.sleep(seconds())

    async with Engine.open(clock=FakeClock(), performer=Scripted({}, default=answer)) as engine:
        for _ in range(times):
            await (await engine.start(PLAN)).result()
            await asyncio.sleep(1)
        return await calibration_document(engine.journal)


def test_a7_runs_are_held_against_what_was_known_as_they_began():
    rng = random.Random(2)
    found = run(document(30, lambda: rng.lognormvariate(2, 0.4)))
    assert found["runs"] == 27, "of the first three nothing was known"
    assert 0.7 <= found["within_p90"] <= 1
    assert found["p50_off"] < 0.6
    assert found["plans"]["p"]["runs"] == 27


def test_where_nothing_was_known_nothing_is_told():
    assert run(document(3, lambda: 1.0)) == {
        "runs": 0, "within_p90": None, "p50_off": None, "seconds_off": None, "plans": {},
    }  # fmt: skip


def test_how_far_it_was_off_is_a_share_of_the_truth():
    held = [Held("p", 10, 12, 20), Held("p", 10, 5, 9), Held("p", 0, 1, 1)]
    found = calibration_of(held)
    assert (found.runs, found.within_p90, found.p50_off) == (3, pytest.approx(2 / 3), 0.2)
