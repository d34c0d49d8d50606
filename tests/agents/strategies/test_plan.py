"""E5 E12 X8: plan, carry it out, look at what came of it, and plan anew what is left."""

import asyncio

from perdure import Engine, Plan, ToolFailure, tool
from perdure.agents import Agent
from perdure.testing.models import ScriptedModel

MADE = []


@tool(name="crm.find", repeat="safe")
def find(name: str) -> dict:
    """Find a person."""
    MADE.append(("find", name))
    return {"id": 7, "name": name}


@tool(name="crm.assign", repeat="safe")
def assign(person: int) -> str:
    """Assign a task to a person."""
    MADE.append(("assign", person))
    raise ToolFailure("logic", "the crm is closed")


@tool(name="mail.send", repeat="safe")
def send(to: int) -> str:
    """Send a mail to a person."""
    MADE.append(("send", to))
    return f"sent to {to}"


FIRST = {
    "steps": [
        {"id": "look", "tool": "crm.find", "with": {"name": "Davis"}},
        {"id": "give", "tool": "crm.assign", "with": {"person": "${steps.look.output.id}"}},
        {"id": "after", "tool": "mail.send", "with": {"to": 1}, "needs": ["give"]},
    ]
}
SECOND = {"steps": [{"id": "mail", "tool": "mail.send", "with": {"to": 7}}]}


def worked(model, returns=None, **options):
    async def go():
        agents = [Agent(name="boss", strategy="plan", tools=("crm.*", "mail.*"), options=options)]
        async with Engine.open(tools=[find, assign, send], agents=agents, models={"default": model}) as engine:
            step = {"id": "p", "agent": "boss", "task": "Reach Davis", "with": {"hint": "be kind"}, "returns": returns}
            run = await engine.start(Plan.model_validate({"steps": [step]}))
            return await run.result()

    MADE.clear()
    return asyncio.run(go())


def test_e12_what_failed_is_planned_anew_and_what_was_done_is_kept():
    model = ScriptedModel(lambda request: SECOND if "so_far" in request.remarks[0].text else FIRST)
    result = worked(model)
    assert (result.status, result.output) == ("succeeded", "sent to 7")
    assert MADE == [("find", "Davis"), ("assign", 7), ("send", 7)]
    told = model.asked[1].remarks[0].text
    assert 'look ended with success: {"id":7,"name":"Davis"}' in told
    assert "give ended with failure" in told
    assert "the crm is closed" in told
    assert "after ended with skipped: nothing" in told
    assert "hint: be kind" in told


def test_x8_it_plans_anew_only_so_often_and_says_why_it_failed():
    model = ScriptedModel(lambda _: FIRST)
    result = worked(model, replans=1)
    assert (result.failure.kind, result.failure.message) == ("logic", "the crm is closed")
    assert len(model.asked) == 2
    assert worked(ScriptedModel(lambda _: "no plan"), draft={"repairs": 0}).failure.kind == "invalid"


def test_what_its_step_wants_to_have_is_held_against_what_the_plan_gave():
    result = worked(ScriptedModel([SECOND]), returns={"type": "object", "required": ["n"]})
    assert (result.status, result.failure.kind) == ("failed", "invalid")
    assert "not what `returns` asks for" in result.failure.message
    assert worked(ScriptedModel([SECOND]), returns={"type": "string"}).output == "sent to 7"


def test_what_no_other_step_needs_is_the_output():
    both = {
        "steps": [
            {"id": "a", "tool": "mail.send", "with": {"to": 1}},
            {"id": "b", "tool": "mail.send", "with": {"to": 2}},
        ]
    }
    assert worked(ScriptedModel([both])).output == {"a": "sent to 1", "b": "sent to 2"}


def test_a1_a_step_of_the_plan_may_name_what_the_agent_was_given_and_other_secrets_are_mended():
    def naming(name):
        return {"steps": [{"id": "a", "tool": "crm.find", "with": {"name": f"${{secrets.{name}}}"}}]}

    async def go():
        agents = [Agent(name="boss", strategy="plan", tools=("crm.*",))]
        models = {"default": ScriptedModel([naming("OTHER"), naming("KEY")])}
        async with Engine.open(tools=[find], agents=agents, models=models, secrets={"KEY": "a long secret"}) as engine:
            step = {"id": "p", "agent": "boss", "task": "Reach Davis", "with": {"key": "${secrets.KEY}"}}
            return await (await engine.start(Plan.model_validate({"steps": [step]}))).result()

    MADE.clear()
    assert asyncio.run(go()).status == "succeeded"
    assert MADE == [("find", "a long secret")]
