"""Agents at work with a scripted model, in any process: what they are asked, what they do, and what comes of it.

Which answer a model gives follows from the conversation alone. What agents do to the world are lines in a file.
"""

import asyncio
import os

from engine_victim import EFFECTS, leave_a_trace, note

from perdure import Context, Engine, Plan, ToolFailure, tool
from perdure.agents import Agent
from perdure.ports import Answered, Returned
from perdure.testing.models import ScriptedModel, calls, calls_all

ASKED = "PERDURE_TEST_ASKED"
"""The variable that says where it is written down what models were asked."""


def untake(context: Context, what: str, output: object) -> None:
    """Take it back."""
    leave_a_trace("undone", context)


@tool(name="shop.take", repeat="keyed", effects=["writes"], undo=untake)
async def take(context: Context, what: str) -> str:
    """Take something, once."""
    leave_a_trace("keyed", context)
    return f"took {what}"


@tool(name="shop.look", repeat="safe", effects=[])
async def look(context: Context, at: str) -> dict:
    """Look at something."""
    return {"at": at, "much": "x" * 9_000}


@tool(name="shop.fail", repeat="safe", effects=[])
async def fail(why: str) -> None:
    """Never works."""
    raise ToolFailure("logic", "it never works")


class Noting(ScriptedModel):
    """Writes down every question before it answers."""

    async def ask(self, request, heard):
        note(os.environ[ASKED], request.digest)
        return await super().ask(request, heard)


def _reacting(request):
    turn = sum(isinstance(each, Answered) for each in request.remarks)
    seen = [each.text[:20] for each in request.remarks if isinstance(each, Returned)]
    wishes = [
        calls("shop.look", at="shelf"),
        calls_all(calls("shop.take", what="bread"), calls("shop.nothing"), calls("shop.take", what="milk")),
        calls("shop.take", what="butter"),
    ]
    return wishes[turn] if turn < len(wishes) else f"{len(seen)} results, the last {seen[-1]}"


def _planning(request):
    if "so_far" in request.remarks[0].text:
        return {"steps": [{"id": "cake", "tool": "shop.take", "with": {"what": "cake"}}]}
    bread = {"id": "bread", "tool": "shop.take", "with": {"what": "bread"}}
    none = {"id": "none", "tool": "shop.fail", "with": {"why": "${steps.bread.output}"}}
    return {"steps": [bread, none, {"id": "never", "tool": "shop.take", "with": {"what": "x"}, "needs": ["none"]}]}


SCENES = {
    "plan": (
        Agent(name="buyer", instructions="Buy.", tools=("shop.*",), strategy="plan"),
        _planning,
        "took cake",
        ["bread", "cake"],
    ),
    "react": (
        Agent(name="buyer", instructions="Buy.", tools=("shop.*",)),
        _reacting,
        "5 results, the last took butter",
        ["butter", "bread", "milk"],
    ),
}
"""By strategy: the agent, what its model says, the answer, and what it has done to the world in the end."""


def plan_for(scene):
    agent, _, _, _ = SCENES[scene]
    return Plan.model_validate({"steps": [{"id": "go", "agent": agent.name, "task": "Buy what is needed"}]})


def opened(scene, path=":memory:", **more):
    agent, script, _, _ = SCENES[scene]
    return Engine.open(path, tools=[take, look, fail], agents=[agent], models={"default": Noting(script)}, **more)


def work(scene, path, place, started):
    """A process that goes on with what is there, or begins."""
    os.environ |= {EFFECTS: str(place / "effects"), ASKED: str(place / "asked")}

    async def go():
        async with opened(scene, path, resume=True) as engine:
            started.set()
            runs = await engine.journal.runs()
            run = engine.run(runs[0].id) if runs else await engine.start(plan_for(scene))
            await run.result()

    asyncio.run(go())


__all__ = ["ASKED", "EFFECTS", "SCENES", "opened", "plan_for", "work"]
