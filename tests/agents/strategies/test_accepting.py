"""A4 E13: what an agent finishes with is shown to the tools and agents that have to accept it."""

import asyncio

import pytest

from perdure import Engine, Plan, tool
from perdure.agents import Agent
from perdure.core.growth import Finish
from perdure.testing.models import ScriptedModel

SEEN: list[object] = []


@tool(name="x.rate", repeat="safe")
def rate(text: str, least: int = 0, note: str = "") -> dict:
    """Say whether a text is long enough."""
    SEEN.append((text, least, note))
    return {"met": len(text) >= least, "why": f"it has {len(text)} letters"}


@tool(name="x.odd", repeat="safe")
def odd(text: str) -> str:
    """Say nothing of use."""
    return "perhaps"


@pytest.fixture(autouse=True)
def _nothing_seen():
    SEEN.clear()


CRITIC = Agent(name="critic", instructions="You judge.", strategy="single")
RATED = {"tool": "x.rate", "with": {"text": "${output}", "least": "${inputs.least}"}, "title": "long enough"}


def worked(accept, says="an answer", agents=(), answers=None, **step):
    writer = Agent(name="writer", instructions="You write.", strategy="single")

    def answer(request):
        if answers:
            return answers.pop(0)
        return says(request) if callable(says) else says

    async def go():
        model = ScriptedModel(answer)
        known = {"agents": [writer, CRITIC, *agents], "tools": [rate, odd], "models": {"default": model}}
        async with Engine.open(**known) as engine:
            document = {
                "steps": [{"id": "do", "agent": "writer", "task": "Write", "accept": accept, **step}],
                "inputs": {"least": {"type": "integer"}},
            }
            run = await engine.start(Plan.model_validate(document), {"least": 5})
            return await asyncio.wait_for(run.result(), 20)

    return asyncio.run(go())


def test_a4_a_tool_accepts_what_an_agent_gives():
    result = worked([RATED])
    assert (result.status, result.output) == ("succeeded", "an answer")
    assert SEEN == [("an answer", 5, "")]
    assert result.steps["do/1.2"].output == {"met": True, "why": "it has 9 letters"}


def test_a4_what_a_tool_objects_to_is_unmet_with_its_reason():
    result = worked([RATED], "no")
    assert (result.failure.kind, result.failure.message) == ("unmet", "not met: long enough: it has 2 letters")


def test_a4_what_was_objected_to_is_done_again_if_the_step_says_so():
    result = worked([RATED], answers=["no", "an answer"], retry={"attempts": 2, "wait": 0})
    assert result.output == "an answer"
    assert [text for text, _, _ in SEEN] == ["no", "an answer"]


def judged_first(heard, objection):
    """Whoever writes is heard; the first text is objected to."""

    def says(request):
        if request.instructions.startswith("You judge."):
            return objection if len(heard) == 1 else {"met": True, "why": "now it is"}
        heard.append(request.remarks[0].text)
        return f"text {len(heard)}"

    return says


AGAIN = {"retry": {"attempts": 2, "wait": 0}}
OTHERS = {
    "alternates": [{"agent": "writer", "task": "Write anew"}],
    "simpler": {"agent": "writer", "task": "Write less"},
}


@pytest.mark.parametrize(("way", "task"), [(AGAIN, "Write"), ({"alternates": OTHERS["alternates"]}, "Write anew")])
def test_e13_whoever_tries_again_is_told_why_it_was_refused_and_what_would_mend_it(way, task):
    heard = []
    objection = {"met": False, "why": "${secrets.KEY} is missing", "fixes": ["name the date", "be brief"]}
    result = worked([{"agent": "critic", "title": "is it good"}], judged_first(heard, objection), **way)
    assert result.output == "text 2"
    told = "not met: is it good: ${secrets.KEY} is missing: to mend it: name the date; be brief"
    assert heard[0] == "Write"
    assert heard[1].startswith(f"{task}\n\nWhat you are given:\nrefused: ")
    assert f"An earlier result was refused. {told}" in heard[1]


def test_e13_each_way_is_told_all_that_was_refused_before():
    heard = []

    def says(request):
        heard.append(request.remarks[0].text)
        return f"text {len(heard)}"

    result = worked(["output == 'text 3'"], says, **OTHERS)
    assert result.output == "text 3"
    assert [each.count("An earlier result was refused.") for each in heard] == [0, 1, 2]
    assert 'output is \\"text 1\\"' in heard[2]


def test_e13_an_agent_that_has_a_fact_of_that_name_keeps_it():
    heard = []
    worked(
        [{"agent": "critic"}], judged_first(heard, {"met": False, "why": "bad"}), **AGAIN, **{"with": {"refused": 7}}
    )
    assert heard == ["Write\n\nWhat you are given:\nrefused: 7"] * 2


def test_e13_a_new_visit_begins_with_nothing_refused():
    heard = []
    says = judged_first(heard, {"met": False, "why": "bad"})
    worked([{"agent": "critic"}], says, on={"failure": "do"}, max_visits=2)
    assert heard == ["Write", "Write"]


def test_a4_data_that_looks_like_an_expression_stays_data():
    odd_one = {"tool": "x.rate", "with": {"text": "${output}", "note": "${run.goal} $${output}"}}
    result = worked([odd_one], "say ${inputs.output} $${x}")
    assert result.output == "say ${inputs.output} $${x}"
    assert SEEN == [("say ${inputs.output} $${x}", 0, " ${output}")]


def test_a4_judges_are_asked_one_after_another_until_one_objects():
    second = {"tool": "x.rate", "with": {"text": "${output}!", "least": 99}}
    result = worked([RATED, second, RATED])
    assert result.failure.kind == "unmet"
    assert [text for text, _, _ in SEEN] == ["an answer", "an answer!"]


def test_a4_what_an_expression_refuses_no_judge_is_shown():
    assert worked([RATED, "size(output) > 99"]).failure.kind == "unmet"
    assert SEEN == []


@pytest.mark.parametrize("met", [True, False])
def test_e13_an_agent_judges_what_an_agent_gives(met):
    def says(request):
        if request.instructions.startswith("You judge."):
            assert "output: an answer" in request.remarks[0].text
            return {"met": met, "why": "it is short"}
        return "an answer"

    result = worked([{"agent": "critic", "title": "is it good"}], says)
    assert result.status == ("succeeded" if met else "failed")
    assert met or result.failure.message == "not met: is it good: it is short"


def test_e13_who_judges_is_paid_from_what_the_agent_may_spend():
    result = worked([{"agent": "critic"}], budget={"calls": 1})
    assert result.failure.kind == "budget"


def test_a4_a_judge_that_says_nothing_of_use_is_told():
    result = worked([{"tool": "x.odd", "with": {"text": "${output}"}}])
    assert result.failure.kind == "invalid"
    assert "a judge says true, false or {met, why}" in result.failure.message


def test_a4_what_is_chosen_for_a_step_is_judged_too():
    able = Agent(name="able", skills=("law",), strategy="single")
    result = worked([RATED], agents=[able], agent="any", skills=["law"])
    assert result.output == "an answer"
    assert SEEN == [("an answer", 5, "")]


def test_a4_a_strategy_of_ones_own_is_judged_too():
    def mine(view):
        return Finish(output="mine")

    async def go():
        plan = {
            "steps": [
                {"id": "do", "agent": "me", "strategy": "mine", "accept": [RATED | {"with": {"text": "${output}"}}]}
            ]
        }
        async with Engine.open(tools=[rate], strategies={"mine": mine}) as engine:
            return await asyncio.wait_for((await engine.start(Plan.model_validate(plan))).result(), 20)

    assert asyncio.run(go()).output == "mine"
    assert SEEN == [("mine", 0, "")]


def test_a4_an_end_that_is_no_success_is_not_judged():
    def says(request):
        return {"verdict": "poor", "answer": "x"}

    result = worked([RATED], says, verdicts=["poor"])
    assert result.steps["do"].exit == "poor"
    assert SEEN == []
