"""E10 E22: the demo's refactoring, killed at any turn: the same tree in the end, byte for byte, and nothing done twice."""

import asyncio
import random
import shutil
import sys
from collections import Counter
from types import ModuleType

import code_scene
import pytest
from code_scene import INPUTS, copies, furnish, plan, settings, tree_of, untouched
from deaths import dying, killed

from perdure import Engine
from perdure.core import events as e
from perdure.core.events import decode
from perdure.journal.memory import MemoryJournal
from perdure.testing.crashes import Disk
from perdure.testing.replays import assert_replays

MOST_TURNS = 600


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The tree that comes of it when nobody is killed, and how many turns that takes."""
    place, journal, turns = furnish(tmp_path_factory.mktemp("whole") / "x"), MemoryJournal(), []

    async def go():
        disk = Disk(journal, plot=lambda n, _: turns.append(n))
        async with Engine.open(place / "runs.db", journal=disk, **settings(place)) as engine:
            return await (await engine.start(plan(), INPUTS)).result()

    result = asyncio.run(go())
    assert result.status == "succeeded", result.failure
    return tree_of(place), max(turns)


async def to_the_end(place, turn, what):
    """Die at a turn, and go on in another process."""
    path, journal = place / "runs.db", MemoryJournal()
    await dying(journal, turn, what, _ended, path=path, **settings(place))
    async with Engine.open(path, journal=Disk(journal), resume=True, **settings(place)) as engine:
        for run in await journal.runs():
            result = await asyncio.wait_for(engine.run(run.id).result(), 120)
            assert result.status == "succeeded", result.failure
            await assert_replays(journal, run.id)
    return journal


async def _ended(engine):
    return await (await engine.start(plan(), INPUTS)).result()


async def check(journal):
    """No attempt that came to its end was made again: no thought is paid twice, no file written twice."""
    for run in await journal.runs():
        _, entries = await journal.load(run.id)
        facts = [decode(each.type, each.body) for each in entries]
        ended = (each for each in facts if isinstance(each, e.AttemptEnded) and each.deed == "do")
        assert max(Counter((each.step, each.visit) for each in ended).values()) == 1


@pytest.mark.campaign("a death at each turn of work on code", "I1 I2 I9 I12", of="deaths")
def test_e22_killed_at_any_turn_the_same_tree_stands_in_the_end(tmp_path, whole, trials):
    tree, turns = whole
    for turn in trials.among(range(1, turns + 1), 7):
        place = furnish(tmp_path / str(turn))
        before = untouched(place)
        journal = asyncio.run(to_the_end(place, turn, ("lose", "keep")[trials.seed % 2]))
        if asyncio.run(journal.runs()):  # else it was killed before the run was heard of
            assert (tree_of(place), copies(place)) == (tree, [])
        assert untouched(place) == before
        asyncio.run(check(journal))
        shutil.rmtree(place)


@pytest.mark.campaign("kills of work on code, at any moment", "I1 I2 I9 I12", of="kills", times=2)
def test_e22_killed_for_real_again_and_again_the_same_tree_stands(tmp_path, processes, monkeypatch, trials, whole):
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # else each process imports pytest first
    for seed, path in trials.places(tmp_path, 3):
        draw, place = random.Random(f"code {seed}"), furnish(path)
        before = untouched(place)
        for _ in range(2):  # what dies three times at one deed is given to a person, and rightly
            killed(processes, draw.uniform(0, 5), code_scene.work, place)
            assert untouched(place) == before
        asyncio.run(_last(place))
        assert (tree_of(place), copies(place)) == (whole[0], [])
        assert untouched(place) == before


async def _last(place):
    async with Engine.open(place / "runs.db", resume=True, **settings(place)) as engine:
        runs = await engine.journal.runs()
        run = engine.run(runs[0].id) if runs else await engine.start(plan(), INPUTS)
        result = await asyncio.wait_for(run.result(), 120)
        assert result.status == "succeeded", result.failure
        await assert_replays(engine.journal, run.id)
        await check(engine.journal)
