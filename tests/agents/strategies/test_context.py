"""What a step is shown of earlier results reaches the model, whichever way its agent works."""

import asyncio

import pytest

from perdure import Engine, Plan, tool
from perdure.agents import Agent
from perdure.core.calls import Failure
from perdure.testing.models import ScriptedModel

WAYS = ["draft", "follow", "meta", "plan", "react", "reflexion", "sample", "single", "tree"]


@tool(name="notes.read", repeat="safe")
def read(name: str) -> str:
    """Read a note."""
    return f"what {name} says"


def first_asked(way):
    """What the first question says to the model of an agent that works in this way."""
    model = ScriptedModel(lambda _: Failure("denied", "enough is known"))

    async def go():
        agents = [Agent(name="clerk", strategy=way, tools=("notes.*",))]
        async with Engine.open(tools=[read], agents=agents, models={"default": model}) as engine:
            before = {"id": "before", "tool": "notes.read", "with": {"name": "today"}}
            work = {"id": "work", "agent": "clerk", "task": "Go on", "context": "all", "with": {"hint": "be kind"}}
            plan = Plan.model_validate({"steps": [before, work], "recovery": {"denied": ["fail"]}})
            await (await engine.start(plan)).result()

    asyncio.run(go())
    return model.asked[0].remarks[0].text


@pytest.mark.parametrize("way", WAYS)
def test_what_was_done_before_is_told_in_every_way_of_working(way):
    assert "what today says" in (told := first_asked(way)), told
    assert "hint: be kind" in told
