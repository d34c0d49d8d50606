"""E13 T3: agents that are asked beside the plan's order: to choose, and to judge."""

import asyncio

import pytest

from perdure import Engine, Plan, tool
from perdure.agents import Agent
from perdure.ports import Answer
from perdure.testing.models import ScriptedModel, news_in


@tool(name="x.write", repeat="safe")
def write(text: str) -> str:
    """Write."""
    return text


def carried_out(steps, model, **plan):
    async def go():
        agents = [Agent(name="critic", instructions="Judge.", role="a critic"), Agent(name="guide")]
        async with Engine.open(tools=[write], agents=agents, models={"default": model}) as engine:
            run = await engine.start(Plan.model_validate({"steps": steps, **plan}))
            return await run.result()

    return asyncio.run(go())


def test_e13_an_agent_judges_what_a_step_gave():
    def judge(request):
        return {"met": "good" in news_in(request.remarks), "why": "it is not good"}

    step = {
        "id": "w",
        "tool": "x.write",
        "with": {"text": "bad"},
        "accept": [{"agent": "critic", "title": "Is it fine?"}],
    }
    model = ScriptedModel(judge)
    result = carried_out([step], model)
    assert (result.failure.kind, result.failure.message) == ("unmet", "not met: Is it fine?: it is not good")
    assert model.asked[0].instructions == "You are a critic.\n\nJudge."
    assert "output: bad" in model.asked[0].remarks[0].text
    assert carried_out([{**step, "with": {"text": "good"}}], ScriptedModel(judge)).output == "good"


def test_a_judge_that_says_nonsense_is_a_failure_that_says_who():
    step = {"id": "w", "tool": "x.write", "with": {"text": "bad"}, "accept": [{"agent": "critic"}]}
    result = carried_out([step], ScriptedModel(["maybe"]))
    assert result.failure.kind == "invalid"
    assert "critic, which judges it" in result.failure.message


def test_t3_an_agent_picks_the_next_label():
    steps = [
        {"id": "way", "decide": {"agent": "guide", "task": "Left or right?"}, "choices": ["left", "right"]},
        {"id": "left", "done": "went left"},
        {"id": "right", "done": "went right"},
    ]
    model = ScriptedModel(["right"])
    assert carried_out(steps, model).output == "went right"
    assert model.asked[0].choices == ("left", "right")


def test_what_a_judge_takes_counts():
    step = {"id": "w", "tool": "x.write", "with": {"text": "bad"}, "accept": [{"agent": "critic"}]}
    result = carried_out([step], ScriptedModel([{"met": True, "why": "x" * 400}]))
    assert result.status == "succeeded"
    assert result.usage.tokens > 100
    steps = [step, {**step, "id": "v"}, {**step, "id": "m"}]
    result = carried_out(steps, ScriptedModel([{"met": True, "why": "x" * 400}]), budget={"tokens": 1_350})
    assert (result.failure.kind, [*result.steps]) == ("budget", ["w", "v"])
    enough = carried_out(steps, ScriptedModel([{"met": True, "why": "x" * 400}]), budget={"tokens": 1_600})
    assert (enough.status, enough.usage.tokens) == ("succeeded", 3 * (enough.usage.tokens // 3))


def test_r10_a_judge_is_promised_what_it_may_take_and_not_asked_where_that_is_not_left():
    step = {"id": "w", "tool": "x.write", "with": {"text": "good " * 200}, "accept": [{"agent": "critic"}]}
    model = ScriptedModel([{"met": True, "why": ""}])
    result = carried_out([step], model, budget={"tokens": 1_100})
    assert (result.failure.kind, model.asked) == ("budget", [])
    found = carried_out([step], ScriptedModel([{"met": True, "why": ""}]), budget={"tokens": 2_000})
    account = found.usage.budgets[""]["tokens"]
    assert (found.status, account.overrun, account.reserved) == ("succeeded", 0, 0)
    assert 0 < account.spent < 1_000


def test_r10_so_is_whoever_chooses():
    steps = [
        {"id": "way", "decide": {"agent": "guide", "task": "Left or right?"}, "choices": ["left", "right"]},
        {"id": "left", "done": "went left"},
        {"id": "right", "done": "went right"},
    ]
    model = ScriptedModel(["right"])
    result = carried_out(steps, model, budget={"tokens": 1_000})
    assert (result.failure.kind, model.asked) == ("budget", [])


class Fine:
    """A model that cuts Base64 into more tokens than anybody promises."""

    def __init__(self):
        self.asked = 0

    async def ask(self, request, heard):
        self.asked += 1
        return Answer("Done.", tokens_in=2_000, tokens_out=1)

    def price(self, tokens_in, tokens_out):
        return 0.0


@pytest.mark.parametrize("way", ["single", "react"])
def test_r10_what_a_model_takes_beyond_its_promise_is_spent_and_nothing_more_is_asked(way):
    steps = [{"id": n, "agent": "critic", "strategy": way, "task": "Zm9vYmFy" * 100} for n in ("a", "b")]
    model = Fine()
    result = carried_out(steps, model, budget={"tokens": 1_900})
    account = result.usage.budgets[""]["tokens"]
    assert (result.failure.kind, model.asked) == ("budget", 1)
    assert (account.spent, account.overrun, account.reserved) == (2_001, 101, 0)
