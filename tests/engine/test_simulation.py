"""Whole engines in a simulated world: processes die, disks fail, people interfere, and every promise holds (R4, I1-I12).

A history that fails names its seed; `PERDURE_SEED=<seed> .venv/bin/pytest tests/engine/test_simulation.py -k this_seed`
tells it again.

E10.
"""

import gc
import logging
import os
from collections import Counter

import pytest
from simulated_world import History

import perdure.engine.engine as front
from perdure.engine import forking
from perdure.testing.clock import run

SHARDS = 20
FIRST = 1_000_000
"""Seeds of the campaign begin here; those that once failed are below."""
CHANGING = 100_000_000
"""And here those in which plans are revised and runs are forked."""
FLOOR = 5_000


@pytest.fixture(autouse=True)
def quiet(caplog, monkeypatch):
    """What is logged of a thousand dying processes helps nobody; and others want ids of their own."""
    caplog.set_level(logging.CRITICAL)
    for place in (front, forking):
        monkeypatch.setattr(place, "new_id", place.new_id)
    gc.freeze()
    yield
    gc.unfreeze()


def told(seed):
    """One history, held against all laws; what happened in it."""
    history = History(seed, changes=seed >= CHANGING)
    try:
        run(history.pass_by())
    except BaseException as error:
        error.add_note(f"again: PERDURE_SEED={seed} .venv/bin/pytest tests/engine/test_simulation.py -k this_seed")
        raise
    return history


@pytest.mark.campaign
@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_promise_is_broken_in_any_history(shard, volume):
    count = volume(FLOOR, 1_000_000) // SHARDS
    assert count * SHARDS >= FLOOR
    seen, first = Counter(), FIRST + shard * count
    for seed in range(first, first + count):
        seen.update(told(seed).world.seen)
    assert min(seen[what] for what in ("lives", "lose", "keep", "fail", "full", "doubts", "pause", "cancel")) > 0, seen


@pytest.mark.campaign
@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_promise_is_broken_while_plans_are_revised_and_runs_are_forked(shard, volume):
    count = volume(1_000, 200_000) // SHARDS
    seen, first = Counter(), CHANGING + shard * count
    for seed in range(first, first + count):
        seen.update(told(seed).world.seen)
    assert min(seen[what] for what in ("lives", "lose", "keep", "fail", "revise", "fork")) > 0, seen


@pytest.mark.campaign
@pytest.mark.parametrize("shard", range(2))
def test_what_comes_out_does_not_depend_on_faults(shard, volume):
    compared = 0
    for seed in range(FIRST + shard, FIRST + volume(300, 20_000), 2):
        calm = History(seed, peaceful=True)
        run(calm.pass_by())
        expected = run_outcome(calm)
        history = History(seed)
        history.cancels = False
        run(history.pass_by())
        found = run_outcome(history)
        for before, after in zip(expected, found, strict=True):
            if before is not None and after is not None:
                assert before == after, f"seed {seed}"
                compared += 1
    assert compared > 50


def run_outcome(history):
    return run(history.outcome())


def test_a_history_is_the_same_each_time():
    for seed in range(FIRST, FIRST + 20):
        assert run(facts_of(seed)) == run(facts_of(seed))


async def facts_of(seed):
    history = History(seed)
    await history.pass_by()
    return [
        [(each.seq, each.type, each.at, each.body) for each in await history.disk.read(run)] for run in history.runs
    ]


def test_this_seed():
    """For telling one history again."""
    told(int(os.environ.get("PERDURE_SEED", FIRST)))


@pytest.mark.parametrize("seed", [22, 126, 147, 319, 321, 505, 1001644, 1002758, 1003971, 1004270, 2002639, 300006813])
def test_seeds_that_once_failed(seed):
    told(seed)
