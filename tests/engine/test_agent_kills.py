"""E10: an agent whose process is killed goes on where it was: nothing is done twice, no finished thought is paid twice."""

import asyncio
import random
import sys
from collections import Counter
from functools import partial
from types import ModuleType

import agent_scenes
import pytest
from agent_scenes import ASKED, EFFECTS, REVISIONS, SCENES, look, plan_for, settings
from deaths import dying, killed
from engine_victim import effects

from perdure import Engine, Plan
from perdure.agents import Agent
from perdure.core import events as e
from perdure.core.events import decode
from perdure.journal.memory import MemoryJournal
from perdure.testing.crashes import Disk
from perdure.testing.models import ScriptedModel, calls
from perdure.testing.replays import assert_replays

MOST_TURNS = 200
SHARDS = 2


@pytest.fixture
def place(tmp_path, monkeypatch):
    return watched(tmp_path, monkeypatch)


def watched(place, monkeypatch):
    monkeypatch.setenv(EFFECTS, str(place / "effects"))
    monkeypatch.setenv(ASKED, str(place / "asked"))
    return place


async def to_the_end(journal, scene, turn, what):
    """Die at a turn, and go on in another process; whether there was such a turn."""

    was_there = await dying(journal, turn, what, partial(_ended, plan_for(scene)), **settings(scene))
    async with Engine.open(journal=Disk(journal), resume=True, **settings(scene)) as engine:
        for run in await journal.runs():
            result = await engine.run(run.id).result()
            assert result.output == SCENES[scene][2]
            await assert_replays(journal, run.id)
    return was_there


async def _ended(plan, engine):
    return await (await engine.start(plan)).result()


async def facts_of(journal):
    [run] = await journal.runs()
    _, entries = await journal.load(run.id)
    return [decode(each.type, each.body) for each in entries]


def check(place, scene, facts):
    """Every thought was asked as often as it was begun, and finished once; every deed was done once, or taken back.

    A plan that changes was changed as often as it was wanted, and no more.
    """
    assert sum(isinstance(each, e.RunRevised) for each in facts) == REVISIONS.get(scene, 0)
    done = {key: what for kind, what, key in effects(place / "effects") if kind == "keyed"}
    undone = {key for kind, _, key in effects(place / "effects") if kind == "undone"}
    assert sorted(what for key, what in done.items() if key not in undone) == sorted(SCENES[scene][3])
    ended = (each for each in facts if isinstance(each, e.AttemptEnded) and each.deed == "do")
    finished = Counter((each.step, each.visit) for each in ended)
    assert max(finished.values()) == 1
    asked = Counter(effects(place / "asked"))
    begun = Counter(each.call for each in facts if isinstance(each, e.AttemptStarted))
    assert all(times <= begun[digest] for digest, times in asked.items())


@pytest.mark.parametrize("what", ["lose", "keep"])
@pytest.mark.parametrize("scene", SCENES)
def test_e10_killed_at_every_turn_it_goes_on_there(scene, what, place):
    for turn in range(1, MOST_TURNS):
        journal = MemoryJournal()
        was_there = asyncio.run(to_the_end(journal, scene, turn, what))
        runs = asyncio.run(journal.runs())
        if runs:
            check(place, scene, asyncio.run(facts_of(journal)))
        for each in ("effects", "asked"):
            (place / each).unlink(missing_ok=True)
        if not was_there:
            break
    assert 3 < turn < MOST_TURNS


@pytest.mark.parametrize("what", ["lose", "keep"])
async def test_e10_killed_with_a_mistaken_wish_under_way_it_goes_on_and_the_model_hears_of_it(what, place):
    means = {"tools": [look], "agents": [Agent(name="looker", strategy="react", tools=("shop.*",))]}
    plan = Plan.model_validate({"steps": [{"id": "go", "agent": "looker", "task": "Look around"}]})
    for turn in (2, 3, 4):
        journal, model = MemoryJournal(), ScriptedModel([calls("shop.look", on="shelf"), "There is no shelf."])
        assert await dying(journal, turn, what, partial(_ended, plan), **means, models={"default": model})
        async with Engine.open(journal=Disk(journal), resume=True, **means, models={"default": model}) as engine:
            (run,) = await journal.runs()
            result = await asyncio.wait_for(engine.run(run.id).result(), 20)
        assert result.output == "There is no shelf."
        assert 'no argument "on"' in model.asked[-1].remarks[-1].text


# ------------------------------------------------------------------------------- real processes


@pytest.mark.campaign("kills of an agent at work, at any moment", "I1 I2 I3 I12", of="kills", times=2)
@pytest.mark.parametrize("scene", SCENES)
def test_e10_killed_for_real_at_any_moment(scene, tmp_path, processes, monkeypatch, trials):
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # else each process imports pytest first
    for seed, place in trials.places(tmp_path, 8):
        watched(place, monkeypatch).mkdir()
        draw, path = random.Random(f"{scene} {seed}"), place / "runs.db"
        for _ in range(2):  # what dies three times at one deed is given to a person, and rightly
            most = 0.5 if scene == "adapted" else 0.06  # another framework is slower to begin
            killed(processes, draw.uniform(0, most), agent_scenes.work, scene, path, place)
        asyncio.run(_last(scene, path, place))


async def _last(scene, path, place):
    async with agent_scenes.opened(scene, path, resume=True) as engine:
        runs = await engine.journal.runs()
        run = engine.run(runs[0].id) if runs else await engine.start(plan_for(scene))
        result = await run.result()
        assert result.output == SCENES[scene][2], result.failure
        _, entries = await engine.journal.load(run.id)
        check(place, scene, [decode(each.type, each.body) for each in entries])
        await assert_replays(engine.journal, run.id)
