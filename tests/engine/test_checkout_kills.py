"""E22: components on copies of a commit, killed at every turn: one commit with both, and nothing else is touched."""

import asyncio
import random
import sys
from types import ModuleType

import checkout_scene
import pytest
from checkout_scene import DONE, PLAN, built, copies, furnish, settings, theirs
from deaths import dying, killed

from perdure import Engine
from perdure.journal.memory import MemoryJournal
from perdure.testing.crashes import Disk
from perdure.testing.replays import assert_replays

MOST_TURNS = 200
MANY = 400


async def to_the_end(place, journal, turn, what):
    """Die at a turn, and go on in another process; whether there was such a turn."""
    path, before = place / "runs.db", theirs(place)
    was_there = await dying(journal, turn, what, _ended, path=path, **settings(place))
    assert theirs(place) == before
    assert built(place) in (None, DONE)
    async with Engine.open(path, journal=Disk(journal), resume=True, **settings(place)) as engine:
        for run in await journal.runs():
            await _over(engine, engine.run(run.id))
            assert (theirs(place) == before, built(place), copies(place)) == (True, DONE, [])
    return was_there


async def _over(engine, run):
    result = await asyncio.wait_for(run.result(), 60)
    assert result.status == "succeeded", result.failure
    await assert_replays(engine.journal, run.id)


async def _ended(engine):
    return await (await engine.start(PLAN)).result()


@pytest.mark.parametrize("what", ["lose", "keep"])
def test_e22_killed_at_every_turn_there_is_one_commit_with_both(tmp_path, what):
    for turn in range(1, MOST_TURNS):
        was_there = asyncio.run(to_the_end(furnish(tmp_path / str(turn)), MemoryJournal(), turn, what))
        if not was_there:
            break
    assert 10 < turn < MOST_TURNS


def test_e22_rolled_back_nothing_is_left_of_it(tmp_path):
    place = furnish(tmp_path / "place")
    before = theirs(place)

    async def go():
        async with Engine.open(place / "runs.db", **settings(place)) as engine:
            run = await engine.start(PLAN)
            await _over(engine, run)
            assert built(place) == DONE
            await engine.rollback(run.id)
            return (await engine.run(run.id).result()).status

    assert asyncio.run(asyncio.wait_for(go(), 60)) == "rolled_back"
    assert (theirs(place), built(place), copies(place)) == (before, None, [])


# ------------------------------------------------------------------------------- real processes


@pytest.mark.campaign("kills while checkouts are merged, at any moment", "I1 I2 I3 I9", of="kills", times=2)
def test_e22_killed_for_real_at_any_moment_there_is_one_commit_with_both(tmp_path, processes, monkeypatch, trials):
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # else each process imports pytest first
    for seed, path in trials.places(tmp_path, 3):
        draw, place = random.Random(f"checkouts {seed}"), furnish(path, MANY)
        before = theirs(place)
        for _ in range(2):  # what dies three times at one deed is given to a person, and rightly
            killed(processes, draw.uniform(0, 1.2), checkout_scene.work, place)
            assert theirs(place) == before
            assert built(place) in (None, DONE)
        asyncio.run(_last(place))
        assert (theirs(place) == before, built(place), copies(place)) == (True, DONE, [])


async def _last(place):
    async with Engine.open(place / "runs.db", resume=True, **settings(place)) as engine:
        runs = await engine.journal.runs()
        await _over(engine, engine.run(runs[0].id) if runs else await engine.start(PLAN))
