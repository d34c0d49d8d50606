"""E5 E10: a search on copies of the workspace, killed at every turn: exactly the winner's files stand in the end."""

import asyncio
import random
import sys
import time
from types import ModuleType

import branch_scene
import pytest
from branch_scene import AFTER, LINE, MANY, PLAN, check_meanwhile, copies, furnish, seen, settings

from perdure import Engine
from perdure.journal.memory import MemoryJournal
from perdure.testing.crashes import Disk, Fault, crashing
from perdure.testing.replays import assert_replays

MOST_TURNS = 200


async def to_the_end(place, journal, turn, what):
    """Die at a turn, and go on in another process; whether there was such a turn."""
    path = place / "runs.db"
    async with crashing(
        journal, lambda n, _: Fault(what) if n == turn else None, path=path, **settings(place)
    ) as engine:
        dead = asyncio.Event()
        engine.journal.died = dead.set
        ended = asyncio.ensure_future(_ended(engine))
        await asyncio.wait([ended, asyncio.ensure_future(dead.wait())], return_when="FIRST_COMPLETED", timeout=20)
        ended.cancel()
        was_there = dead.is_set()
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
            started = processes.Event()
            process = processes.Process(target=branch_scene.work, args=(place, started), daemon=True)
            process.start()
            started.wait(30)
            time.sleep(draw.uniform(0, 0.8))
            process.kill()
            process.join()
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
