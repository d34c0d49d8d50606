"""Whole engines in a simulated world: processes die, disks fail, people interfere, and every promise holds (R4, I1-I12).

E10.
"""

import gc
import logging
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


def told(seed, *, changes=False, frail=False):
    """What happened in one history, which is held against all laws."""
    history = History(seed, changes=changes, frail=frail)
    run(history.pass_by())
    return history.world.seen


@pytest.mark.campaign(
    "whole engines in a simulated world: crashes, failing disks, people",
    "I1 I2 I3 I4 I5 I6 I7 I8 I10 I11 I12",
    of="histories",
)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_promise_is_broken_in_any_history(shard, trials):
    seen, each = Counter(), FLOOR // SHARDS
    for seed in trials(each, FIRST + shard * each):
        seen.update(told(seed, frail=bool(seed % 2)))  # in every second one, who did something is often not heard
    assert_seen("lives lose keep fail full doubts pause cancel", seen, trials)


@pytest.mark.campaign(
    "the same, while plans are revised and runs are forked", "I1 I2 I3 I4 I5 I6 I7 I8 I10 I11 I12", of="histories"
)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_promise_is_broken_while_plans_are_revised_and_runs_are_forked(shard, trials):
    seen, each = Counter(), 1_000 // SHARDS
    for seed in trials(each, CHANGING + shard * each):
        seen.update(told(seed, changes=True))
    assert_seen("lives lose keep fail revise fork", seen, trials)


def assert_seen(words, seen, trials):
    """What may happen did, where there was enough of everything."""
    assert all(seen[what] for what in words.split()) or not trials.suffice, seen


@pytest.mark.campaign("the same histories, with and without faults", "I1 I2 I10", of="histories")
@pytest.mark.parametrize("shard", range(2))
def test_what_comes_out_does_not_depend_on_faults(shard, trials):
    compared = 0
    for seed in trials(150, FIRST + shard * 150):
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
    assert compared > 50 or not trials.suffice


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


@pytest.mark.parametrize("seed", [22, 126, 147, 319, 321, 505, 1001644, 1002758, 1003971, 1004270, 2002639, 300006813])
def test_seeds_that_once_failed(seed):
    told(seed, changes=seed >= CHANGING)
