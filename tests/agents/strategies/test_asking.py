"""E21: whatever a strategy asks, it is promised at least what it takes, by a model that counts all that it reads."""

import asyncio
import json

import agent_scenes
import msgspec
import pytest
from agent_scenes import ASKED, EFFECTS, SCENES, plan_for, settings

from perdure import Engine, Plan
from perdure.agents import Agent
from perdure.core import events as e
from perdure.plan.tokens import tokens_of
from perdure.testing.models import ScriptedModel


class Counting(ScriptedModel):
    """Counts every word of a conversation, each time that it reads it."""

    async def ask(self, request, heard):
        answer = await super().ask(request, heard)
        read = [request.instructions, *map(written, request.remarks), *map(written, request.offers)]
        read += [json.dumps(request.returns)] if request.returns else []
        counts = {"tokens_in": sum(map(tokens_of, read)), "tokens_out": tokens_of(written(answer))}
        return msgspec.structs.replace(answer, **counts)


def written(said):
    found = (getattr(said, name, None) for name in ("name", "description", "schema", "text", "wishes"))
    return "".join(each if isinstance(each, str) else msgspec.json.encode(each).decode() for each in found if each)


async def promises_in(plan, **world):
    """What each call of a model was promised, and what it took."""
    tools = [agent_scenes.take, agent_scenes.look, agent_scenes.fail]
    async with Engine.open(**{"tools": tools, **world}) as engine:
        run = await engine.start(plan)
        result = await run.result()
        _, entries = await engine.journal.load(run.id)
    facts = [e.decode(each.type, each.body) for each in entries]
    begun = {(each.step, each.visit): each for each in facts if isinstance(each, e.AttemptStarted)}
    ended = [each for each in facts if isinstance(each, e.AttemptEnded) and each.usage and each.usage.calls]
    return result, [(begun[each.step, each.visit].reserved.tokens, each.usage.tokens) for each in ended]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv(EFFECTS, str(tmp_path / "effects"))
    monkeypatch.setenv(ASKED, str(tmp_path / "asked"))


@pytest.mark.parametrize("scene", SCENES)
def test_e21_no_call_takes_more_than_it_was_promised(scene):
    _, script, output, _ = SCENES[scene]
    document = plan_for(scene).model_dump(mode="json", by_alias=True, exclude_defaults=True)
    plan = Plan.model_validate({**document, "budget": {"tokens": 1_000_000}})
    world = settings(scene) | {"models": {"default": Counting(script)}}
    result, promises = asyncio.run(promises_in(plan, **world))
    assert result.output == output
    assert promises
    for promised, taken in promises:
        assert taken <= promised


@pytest.mark.parametrize("said", ["1234567890 " * 400, "敏捷的棕色狐狸" * 100, "{[(:;,.)]}" * 300, "word " * 900])
def test_e21_whatever_is_said_in_whatever_script(said):
    def answer(request):
        return {"n": 1} if len(request.remarks) > 3 else said[:200]

    step = {"id": "go", "agent": "me", "task": said, "returns": {"type": "object", "required": ["n"]}}
    plan = Plan.model_validate({"steps": [step], "budget": {"tokens": 1_000_000}})
    for strategy in ("single", "react"):
        me = Agent(name="me", strategy=strategy, instructions=said, tools=("shop.*",))
        _, promises = asyncio.run(promises_in(plan, agents=[me], models={"default": Counting(answer)}))
        assert len(promises) == 3
        assert all(taken <= promised for promised, taken in promises)
