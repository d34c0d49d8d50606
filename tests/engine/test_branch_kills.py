"""E5 E10: a search on copies of the workspace, killed at every turn: exactly the winner's files stand in the end."""

import asyncio
import random
import sys
from types import ModuleType

import branch_scene
import pytest
from branch_scene import AFTER, LINE, MANY, PLAN, check_meanwhile, copies, furnish, seen, settings
from deaths import dying, killed

from perdure import Engine
from perdure.journal.memory import MemoryJournal
from perdure.testing.crashes import Disk
from perdure.testing.replays import assert_replays

MOST_TURNS = 200


async def to_the_end(place, journal, turn, what):
    """Die at a turn, and go on in another process; whether there was such a turn."""
    path = place / "runs.db"
    was_there = await dying(journal, turn, what, _ended, path=path, **settings(place))
    check_meanwhile(place)
    async with Engine.open(path, journal=Disk(journal), resume=True, **settings(place)) as engine:
        for run in await journal.runs():
            result = await engine.run(run.id).result()
            assert result.status == "succeeded", result.failure
            assert result.output["line"] == LINE
            assert (seen(place), copies(place)) == (AFTER, [])
            await assert_replays(journal, run.id)
    return was_there


async def _ended(engine):
    return await (await engine.start(PLAN)).result()


@pytest.mark.parametrize("what", ["lose", "keep"])
def test_e5_killed_at_every_turn_exactly_the_winners_files_stand(tmp_path, what):
    for turn in range(1, MOST_TURNS):
        was_there = asyncio.run(to_the_end(furnish(tmp_path / str(turn)), MemoryJournal(), turn, what))
        if not was_there:
            break
    assert 20 < turn < MOST_TURNS


# ------------------------------------------------------------------------------- real processes


@pytest.mark.campaign("kills while branches race, at any moment", "I1 I2 I9", of="kills", times=2)
def test_e5_killed_for_real_at_any_moment_exactly_the_winners_files_stand(tmp_path, processes, monkeypatch, trials):
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # else each process imports pytest first
    for seed, path in trials.places(tmp_path, 5):
        draw, place = random.Random(f"branches {seed}"), furnish(path, MANY)
        for _ in range(2):  # what dies three times at one deed is given to a person, and rightly
            killed(processes, draw.uniform(0, 0.8), branch_scene.work, place)
            check_meanwhile(place)
        asyncio.run(_last(place))


async def _last(place):
    async with Engine.open(place / "runs.db", resume=True, **settings(place)) as engine:
        runs = await engine.journal.runs()
        run = engine.run(runs[0].id) if runs else await engine.start(PLAN)
        result = await asyncio.wait_for(run.result(), 60)
        assert result.status == "succeeded", result.failure
        assert result.output["line"] == LINE
        await assert_replays(engine.journal, run.id)
    assert (seen(place), copies(place)) == (AFTER, [])
