"""E12 A1 M4: a model writes a plan, the checks read it, and what is wrong with it goes back."""

import asyncio

import pytest

from perdure import Engine, Plan, tool
from perdure.agents import Agent
from perdure.core.calls import Failure
from perdure.testing.models import ScriptedModel


@tool(name="crm.find", repeat="safe")
def find(name: str) -> dict:
    """Find a person."""
    return {"id": 7, "name": name}


@tool(name="crm.assign", repeat="safe")
def assign(person: int, task: str) -> str:
    """Assign a task to a person."""
    return f"{task} is for {person}"


GOOD = {
    "lookahead": True,
    "steps": [
        {"id": "look", "tool": "crm.find", "with": {"name": "Davis"}, "title": "Look Davis up", "seconds": 2},
        {
            "id": "give",
            "tool": "crm.assign",
            "with": {"person": "${steps.look.output.id}", "task": "call"},
            "accept": ["output != ''"],
        },
    ],
}
BAD = {"steps": [{"id": "give", "tool": "crm.assign", "with": {"person": "${steps.nobody.output}"}}]}


def drafted(model, options=None, goal="Assign Mr. Davis ${inputs.secret}", **more):
    async def go():
        agents = [Agent(name="planning", strategy="draft", options=options or {})]
        async with Engine.open(tools=[find, assign], agents=agents, models={"default": model}) as engine:
            step = {"id": "p", "agent": "planning", "task": "${inputs.goal}", **more}
            document = {"steps": [step], "inputs": {"goal": {"type": "string"}}}
            run = await engine.start(Plan.model_validate(document), {"goal": goal})
            made = await run.result()
            if made.output is None:
                return made, None
            done = await engine.start(Plan.model_validate(made.output))
            return made, await done.result()

    return asyncio.run(go())


def test_what_its_step_wants_to_have_is_held_against_the_plan():
    made, _ = drafted(ScriptedModel([GOOD]), returns={"type": "object", "required": ["owner"]})
    assert (made.failure.kind, "owner" in made.failure.message) == ("invalid", True)


def test_m4_a_lookup_comes_first_and_is_followed_by_a_checkpoint():
    model = ScriptedModel([GOOD])
    made, done = drafted(model)
    assert done.output == "call is for 7"
    assert all(f"`{word}`" in model.asked[0].instructions for word in ("accept", "seconds", "lookahead"))
    plan = Plan.model_validate(made.output)
    assert (plan.requires_lookahead, plan.checkpoints) == (True, ("found",))
    assert [(each.id, each.needs) for each in plan.steps] == [
        ("look", ()),
        ("found", ("look",)),
        ("give", ("look", "found")),
    ]
    assert plan.goal == "Assign Mr. Davis $${inputs.secret}"
    assert "- crm.assign(person: integer, task: string): Assign a task to a person." in model.asked[0].instructions
    assert model.asked[0].remarks[-1].text.startswith("Goal: Assign Mr. Davis ${inputs.secret}")


def test_m4_a_step_may_be_called_as_the_checkpoint_would_be():
    steps = [{**GOOD["steps"][0], "id": "found"}, {**GOOD["steps"][1], "with": {"person": 7, "task": "call"}}]
    steps[1]["needs"] = ["found"]
    made, done = drafted(ScriptedModel([{"lookahead": True, "steps": steps}]))
    assert (made.status, done.status, done.output) == ("succeeded", "succeeded", "call is for 7")
    assert made.output["checkpoints"] == ["found_"]


def test_e12_what_is_wrong_goes_back_with_the_place_and_what_to_write():
    model = ScriptedModel(["I would look first.", BAD, GOOD])
    made, _ = drafted(model)
    assert made.status == "succeeded"
    assert "it is no JSON" in model.asked[1].remarks[-1].text
    told = model.asked[2].remarks[-1].text
    assert 'there is no step "nobody"' in told
    assert "task" in told


def test_a_plan_that_cannot_be_mended_is_refused_honestly():
    made, _ = drafted(ScriptedModel([BAD] * 5), {"repairs": 1})
    assert made.failure.kind == "invalid"
    assert "there is no plan that can be carried out" in made.failure.message
    made, _ = drafted(ScriptedModel([Failure("denied", "no key")]))
    assert made.failure.kind == "denied"


def test_a_task_may_say_which_tools_a_plan_may_call():
    only = {"steps": [{"id": "look", "tool": "crm.find", "with": {"name": "Davis"}}]}
    model = ScriptedModel([GOOD, only])
    made, _ = drafted(model, **{"with": {"tools": ["crm.find", "crm.none"]}})
    assert [each["id"] for each in made.output["steps"]] == ["look"]
    assert "crm.assign" not in model.asked[0].instructions


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ({"tool": "ask.person", "with": {"question": "Who?"}}, "ask"),
        ({"tool": "model.think", "with": {"prompt": "Why?"}}, "model"),
    ],
)
def test_a_sketch_may_ask_people_and_models(step, kind):
    sketch = {"steps": [{"id": "a", **step}]}

    async def go():
        agents = [Agent(name="planning", strategy="draft")]
        async with Engine.open(tools=[find], agents=agents, models={"default": ScriptedModel([sketch])}) as engine:
            run = await engine.start(Plan.model_validate({"steps": [{"id": "p", "agent": "planning", "task": "x"}]}))
            return (await run.result()).output

    assert Plan.model_validate(asyncio.run(go())).steps[0].kind == kind


SECRET = {"steps": [{"id": "look", "tool": "crm.find", "with": {"name": "${secrets.CRM_KEY}"}}]}
PLAIN = {"steps": [{"id": "look", "tool": "crm.find", "with": {"name": "Davis"}}]}


def test_a1_a_secret_that_nobody_has_given_goes_back_with_the_names_of_those_there_are():
    model = ScriptedModel([SECRET, PLAIN])
    made, _ = drafted(model)
    assert made.output["steps"][0]["with"] == {"name": "Davis"}
    assert (
        'steps.0.with.name: there is no secret "CRM_KEY" (there are none: leave it out)'
        in model.asked[1].remarks[-1].text
    )
    model = ScriptedModel([SECRET, PLAIN])
    drafted(model, **{"with": {"secrets": ["CRM_TOKEN", "A_KEY"]}})
    assert '"CRM_KEY" (there are: A_KEY, CRM_TOKEN)' in model.asked[1].remarks[-1].text
    assert drafted(ScriptedModel([SECRET] * 3))[0].failure.kind == "invalid"


def test_a1_a_secret_that_there_is_may_be_named():
    made = drafted_alone(SECRET, {"secrets": ["CRM_KEY"]})
    assert made.output["steps"][0]["with"] == {"name": "${secrets.CRM_KEY}"}
    assert drafted_alone(SECRET, {"key": "${secrets.CRM_KEY}"}).status == "succeeded"  # its agent was given it


def test_x8_of_a_plan_that_goes_on_too():
    more = {"known": ["before"], "secrets": []}
    assert 'steps.0.with.name: there is no secret "CRM_KEY"' in drafted_alone(SECRET, more).failure.message


def drafted_alone(sketch, given):
    async def go():
        agents = [Agent(name="planning", strategy="draft", options={"repairs": 0})]
        models, secrets = {"default": ScriptedModel([sketch])}, {"CRM_KEY": "a long secret"}
        async with Engine.open(tools=[find], agents=agents, models=models, secrets=secrets) as engine:
            step = {"id": "p", "agent": "planning", "task": "x", "with": given}
            return await (await engine.start(Plan.model_validate({"steps": [step]}))).result()

    return asyncio.run(go())
