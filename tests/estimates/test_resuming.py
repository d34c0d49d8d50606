"""A5: whatever a run has come to, it can be told how far it is: at each fact of journals of all kinds."""

import random
from pathlib import Path

import pytest
from tests.support.random_plans import a_plan

from perdure.core import events as e
from perdure.core.evolve import evolve
from perdure.core.state import State
from perdure.engine import View
from perdure.estimates.forecast import Forecast
from perdure.estimates.history import History, gather
from perdure.estimates.parts import Layout
from perdure.estimates.progress import Pace
from perdure.journal import MemoryJournal
from perdure.testing.worlds import World

GOLDEN = Path(__file__).parents[1] / "golden"


def holds(pace, at, number):
    """What is told makes sense. Each look is a minute after the one before, so that none is spared."""
    found = pace.progress(at + number * 60_000)
    assert 0 <= found.fraction <= 1
    assert 0 <= found.left.p50 <= found.left.p90
    assert found.work_left.p90 <= found.left.p90 + 1e-6


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.jsonl")))
async def test_a5_runs_of_all_kinds_can_be_told_at_each_fact(name):
    journal = MemoryJournal()
    taken = await journal.take_in((GOLDEN / f"{name}.jsonl").read_bytes().splitlines(keepends=True))
    history = await gather(journal)
    assert history.left_out == 0
    view = View(journal, taken.id)
    pace = Pace(view.state, history)
    for number, entry in enumerate(await journal.read(taken.id)):
        pace.see(view.take(entry))
        holds(pace, entry.at, number)


@pytest.mark.parametrize("seed", range(6))
def test_a7_plans_by_lot_can_be_estimated_and_told(seed):
    rng = random.Random(f"estimates {seed}")
    plan = a_plan(rng, 20)
    assert Forecast(Layout(plan, History()), runs=5).worked.p50 >= 0
    world = World(plan, lambda _: rng.choice([None, 1, {"next_steps": []}]))
    world.run()
    state = State("r_1", world.rules)
    pace = Pace(state, History())
    for number, (type_, body, at) in enumerate(world.facts):
        event = e.decode(type_, body)
        evolve(state, event, at)
        pace.see(event)
        holds(pace, at, number)
