"""Agents at work with a scripted model, in any process: what they are asked, what they do, and what comes of it.

Which answer a model gives follows from the conversation alone. What agents do to the world are lines in a file.
"""

import asyncio
import os
import re

import pydantic_ai
from engine_victim import EFFECTS, note

from perdure import Context, Engine, Plan, ToolFailure, tool
from perdure.agents import Agent
from perdure.agents.adapted import adapted, context
from perdure.ports import Answered, Returned, Said
from perdure.testing.models import ScriptedModel, calls, calls_all

ASKED = "PERDURE_TEST_ASKED"
"""The variable that says where it is written down what models were asked."""


def untake(context: Context, what: str, output: object) -> None:
    """Take it back."""
    note(os.environ[EFFECTS], ["undone", what, context.key])


@tool(name="shop.take", repeat="keyed", effects=["writes"], undo=untake)
async def take(context: Context, what: str) -> str:
    """Take something, once."""
    note(os.environ[EFFECTS], ["keyed", what, context.key])
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


def pay(what: str) -> str:
    """Pay for something, once."""
    note(os.environ[EFFECTS], ["keyed", what, context().key])
    return f"paid {what}"


def _guest():
    """The agent of another framework, with a tool of its own and tools of ours."""
    agent = pydantic_ai.Agent(tools=[pay], instructions="Buy.")
    return adapted(agent, name="guest", tools=("shop.*",), declared={"pay": {"repeat": "keyed", "effects": ["writes"]}})


def _paying(request):
    turn = sum(isinstance(each, Answered) for each in request.remarks)
    seen = [each.text[:20] for each in request.remarks if isinstance(each, Returned)]
    wishes = [
        calls("shop.look", at="shelf"),
        calls_all(calls("pay", what="bread"), calls("shop.nothing"), calls("shop.take", what="milk")),
        calls("pay", what="butter"),
    ]
    return wishes[turn] if turn < len(wishes) else f"{len(seen)} results, the last {seen[-1]}"


def _planning(request):
    if "so_far" in request.remarks[0].text:
        return {"steps": [{"id": "cake", "tool": "shop.take", "with": {"what": "cake"}}]}
    bread = {"id": "bread", "tool": "shop.take", "with": {"what": "bread"}}
    none = {"id": "none", "tool": "shop.fail", "with": {"why": "${steps.bread.output}"}}
    return {"steps": [bread, none, {"id": "never", "tool": "shop.take", "with": {"what": "x"}, "needs": ["none"]}]}


def last_said(request):
    return [each.text for each in request.remarks if isinstance(each, Said)][-1]


def _searching(request):
    said = last_said(request)
    number = re.search(r"proposal (\d+)", said)[1]
    chosen = re.search(r"This was chosen:\n(.*?)\n", said)
    return f"{chosen[1] if chosen else 'x'}{'ab'[int(number) - 1] * int(number)}"


def _sampling(request):
    return "oak" if int(re.search(r"attempt (\d+)", last_said(request))[1]) % 3 else "elm"


def _learning(request):
    said = last_said(request)
    if "what to do differently" in said:
        return {"lesson": "Take butter too."}
    if any(isinstance(each, Returned) for each in request.remarks):
        return "bread and butter" if "butter" in said else "bread"
    return calls("shop.take", what="butter" if "butter" in said else "bread")


def _drafting(request):
    if any(isinstance(each, Answered) for each in request.remarks):
        return {"steps": [{"id": "bread", "tool": "shop.take", "with": {"what": "bread"}}]}
    return {"steps": [{"id": "bread", "tool": "shop.take", "with": {"what": "${steps.none.output}"}}]}


def _following(request):
    if request.instructions.startswith("You select tools"):
        return {"tools": ["shop.take", "shop.fail"]}
    if "You make plans" in request.instructions:
        bread, butter = ({"id": each, "tool": "shop.take", "with": {"what": each}} for each in ("bread", "butter"))
        none = {"id": "none", "tool": "shop.fail", "with": {"why": "it never works"}}
        return {
            "steps": [
                bread,
                none,
                {"id": "think", "tool": "model.think", "with": {"prompt": "What else?"}, "needs": ["bread"]},
                {**butter, "needs": ["think"]},
            ]
        }
    marks = re.findall(r"\[(\w+)\]", last_said(request))
    if marks == ["pending"] * 4:
        return calls_all(calls("shop.take", what="bread"), calls("shop.fail", why="it never works"))
    return calls("shop.take", what="butter") if marks[3] == "pending" else " ".join(marks)


def _mending(request):
    turn = sum(isinstance(each, Answered) for each in request.remarks)
    return ["bread", {"buy": "bread"}, {"buy": ["bread"]}][turn]


def _replanning(request):
    """An agent that finds out that a step of the plan cannot work, and has the plan changed; first badly."""
    turn = sum(isinstance(each, Answered) for each in request.remarks)
    bread = {"id": "bread", "tool": "shop.take", "with": {"what": "bread"}}
    milk = {"id": "buy", "tool": "shop.take", "with": {"what": "milk for ${steps.bread.output}"}, "needs": ["bread"]}
    wishes = [
        calls("shop.look", at="shelf"),
        calls("planning.replan", reason="it never works", failed_steps=["none"]),
        calls("planning.replan", reason="it never works", failed_steps=["buy"], steps=[bread, milk]),
    ]
    return wishes[turn] if turn < len(wishes) else "it is another plan now"


def _anew(request):
    """A planner: its first plan cannot be taken by the run, its second one can."""
    if "several of the new steps" not in last_said(request):
        return {"steps": [{"id": each, "tool": "shop.take", "with": {"what": each}} for each in ("a", "b")]}
    return {"steps": [{"id": "buy", "tool": "shop.take", "with": {"what": "${steps.first.output}"}}]}


def _delegated(request):
    turn = sum(isinstance(each, Answered) for each in request.remarks)
    if "Hurry." in request.instructions:
        return [calls("shop.take", what="bread"), "no list", "none", "no"][turn]
    return [calls("shop.take", what="butter"), {"buy": ["butter"]}][turn]


def _accepted(request):
    return {"buy": ["bread"]} if "List." in request.instructions else {"met": True, "why": "it is enough"}


LIST = {"type": "object", "required": ["buy"], "properties": {"buy": {"type": "array"}}}
DRAFTED = {
    "perdure": 1,
    "goal": "Buy what is needed",
    "output": "${steps.bread.output}",
    "steps": [{"id": "bread", "tool": "shop.take", "with": {"what": "bread"}, "needs": []}],
}
ACT = {"tool": "shop.take", "with": {"what": "${inputs.output}"}}
SEARCH = {"width": 2, "beam": 1, "depth": 3, "again": 1, "act": ACT, "judge": {"expr": "size(output)"}}
LEARN = {"accept": ["output.contains('butter')"], "strategy": "react"}

SCENES = {
    "single": (Agent(name="lister", strategy="single"), _mending, {"buy": ["bread"]}, []),
    "draft": (Agent(name="drafter", strategy="draft", tools=("shop.*",)), _drafting, DRAFTED, []),
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
    "adapted": (_guest(), _paying, "5 results, the last paid butter", ["bread", "milk", "butter"]),
    "tree": (
        Agent(name="finder", strategy="tree", options=SEARCH),
        _searching,
        {"answer": "xbbbbbb", "line": ["xbb", "xbbbb", "xbbbbbb"], "score": 7.0},
        ["xbb", "xbbbb", "xbbbbbb"],
    ),
    "sample": (Agent(name="voter", strategy="sample"), _sampling, "oak", []),
    "reflexion": (
        Agent(name="learner", strategy="reflexion", options=LEARN, tools=("shop.*",)),
        _learning,
        {"answer": "bread and butter", "lessons": ["Take butter too."], "rounds": 2, "score": 1.0},
        ["bread", "butter"],
    ),
    "meta": (
        Agent(name="buyer", instructions="Buy.", strategy="meta", options={"most": 2}),
        _following,
        "done failed done done",
        ["bread", "butter"],
    ),
    "replan": (
        Agent(name="buyer", tools=("shop.*",)),
        _replanning,
        "took milk for took bread",
        ["bread", "milk for took bread"],
    ),
    "anew": (
        Agent(name="planner", strategy="draft", tools=("shop.*",)),
        _anew,
        "took took salt",
        ["salt", "took salt"],
    ),
    "accept": (
        Agent(name="lister", instructions="List.", strategy="single"),
        _accepted,
        {"buy": ["bread"]},
        [],
    ),
    "delegate": (
        Agent(name="hasty", instructions="Hurry.", tools=("shop.*",), limit=1, fallbacks=("careful",)),
        _delegated,
        {"buy": ["butter"]},
        ["butter"],
    ),
}
"""By strategy: the agent, what its model says, the answer, and what it has done to the world in the end."""
BESIDE = {
    "accept": [Agent(name="critic", strategy="single")],
    "delegate": [Agent(name="careful", instructions="Take care.", tools=("shop.*",))],
}
"""Other agents that are there."""
LISTING = {"accept", "single", "delegate"}
"""Scenes whose answer is a list."""
BROKEN = {"id": "buy", "tool": "shop.fail", "with": {"why": "?"}}
TOLD = {"id": "told", "tool": "flow.echo", "with": {"value": "${steps.buy.output}"}}
SALT = {"id": "first", "tool": "shop.take", "with": {"what": "salt"}}
WHOLE = {
    "replan": {"steps": [{"id": "go", "agent": "buyer", "task": "Buy what is needed"}, BROKEN, TOLD]},
    "anew": {"adjust": {"planner": "planner"}, "steps": [SALT, BROKEN, TOLD]},
}
"""Plans that change while they are carried out, by scene."""
REVISIONS = {"replan": 1, "anew": 2}
"""How often they do."""


def plan_for(scene):
    if scene in WHOLE:
        return Plan.model_validate({"goal": "Buy what is needed", **WHOLE[scene]})
    agent, _, _, _ = SCENES[scene]
    step = {"id": "go", "agent": agent.name, "task": "Buy what is needed"}
    step |= {"returns": LIST} if scene in LISTING else {}
    step |= {"accept": [{"agent": "critic", "title": "enough"}]} if scene == "accept" else {}
    return Plan.model_validate({"steps": [step]})


def opened(scene, path=":memory:", **more):
    return Engine.open(path, **settings(scene), **more)


def settings(scene):
    """What an engine is opened with; plans change only in those scenes that are about it."""
    agent, script, _, _ = SCENES[scene]
    agents = [agent, *BESIDE.get(scene, ())]
    models = {"default": Noting(script)}
    return {"tools": [take, look, fail], "agents": agents, "models": models, "agent_planning": scene in WHOLE}


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


async def _warm_up():
    """Let the other framework build what it builds when it is first used."""
    os.environ |= {EFFECTS: os.devnull, ASKED: os.devnull}
    async with opened("adapted") as engine:
        await (await engine.start(plan_for("adapted"))).result()


if os.environ.get("PERDURE_TEST_WARM"):
    asyncio.run(_warm_up())

__all__ = ["ASKED", "EFFECTS", "SCENES", "opened", "plan_for", "settings", "work"]
