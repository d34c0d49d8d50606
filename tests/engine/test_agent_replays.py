"""E9: what agents have reasoned is carried out again offline; a prompt that has changed is told, with its place."""

import asyncio

import agent_scenes
import pytest
from agent_scenes import ASKED, EFFECTS, SCENES, opened, plan_for, settings

from perdure import Engine


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv(EFFECTS, str(tmp_path / "effects"))
    monkeypatch.setenv(ASKED, str(tmp_path / "asked"))
    return tmp_path


async def carried_out(scene, path):
    async with opened(scene, path) as engine:
        run = await engine.start(plan_for(scene))
        assert (await run.result()).output == SCENES[scene][2]
        return run.id


async def replayed(scene, path, run, told):
    """The run offline: no model is asked, and no tool is called."""
    known = settings(scene) | {"models": {"default": silent()}}
    first, *others = known["agents"]
    known["agents"] = [first.model_copy(update={"instructions": told} if told else {}), *others]
    async with Engine.open(path, **known, idle=True) as engine:
        return await engine.stub(run), await engine.redecide(run)


def silent():
    def never(request):
        raise AssertionError("nobody is to be asked")

    return agent_scenes.Noting(never)


@pytest.mark.parametrize("scene", SCENES)
def test_e9_a_search_replays_offline(scene, place):
    run = asyncio.run(carried_out(scene, place / "runs.db"))
    stubbed, redecided = asyncio.run(replayed(scene, place / "runs.db", run, ""))
    assert (stubbed.is_same, stubbed.status, stubbed.output) == (True, "succeeded", SCENES[scene][2])
    assert redecided.difference is None


@pytest.mark.parametrize("scene", SCENES)
def test_e9_a_changed_prompt_is_told_with_its_place(scene, place):
    run = asyncio.run(carried_out(scene, place / "runs.db"))
    stubbed, redecided = asyncio.run(replayed(scene, place / "runs.db", run, "Be quick about it."))
    assert stubbed.missing is not None
    assert stubbed.missing.step.startswith(
        ("go/1.1", "go/1.2", "buy_draft/1.1")
    )  # after the choice, where there is one
    assert stubbed.missing.nearest_step == stubbed.missing.step
    was, now = stubbed.missing.nearest.arguments, stubbed.missing.call.arguments
    assert was["instructions"] != now["instructions"] if "instructions" in was else "instructions" in now
    assert "Be quick about it." in now["instructions"]
    assert redecided.difference is not None
