"""X4: tools are selected for the task, the plan is made with these, and an agent made for it works with the plan in view."""

import asyncio
import re

import pytest

from perdure import Engine, Plan, ToolFailure, tool
from perdure.agents import Agent
from perdure.core.calls import Failure
from perdure.testing.models import ScriptedModel, calls, calls_all

MADE = []


@tool(name="notes.read", repeat="safe")
def read(name: str) -> str:
    """Read a note."""
    MADE.append(("read", name))
    return f"what {name} says"


@tool(name="mail.send", repeat="safe")
def send(to: str) -> str:
    """Send a mail to somebody."""
    MADE.append(("send", to))
    if to == "nobody":
        raise ToolFailure("logic", "there is no such person")
    return "sent"


@tool(name="oven.bake", repeat="safe")
def bake(what: str) -> str:
    """Bake something."""
    MADE.append(("bake", what))
    return what


PLAN = {
    "steps": [
        {"id": "look", "tool": "notes.read", "with": {"name": "today"}},
        {"id": "tell", "tool": "mail.send", "with": {"to": "ada"}, "needs": ["look"]},
    ]
}
TASK = 'Read the note "today" and send it as a mail'


def stage_of(request):
    told = request.instructions
    return "select" if "You select tools" in told else "draft" if "You make plans" in told else "follow"


def playing(select=None, draft=PLAN, follow=()):
    """A model that says this when it selects, drafts, and at each of its thoughts."""

    def said(request):
        stage = stage_of(request)
        if stage != "follow":
            return {"select": select, "draft": draft}[stage]
        return follow[sum(type(each).__name__ == "Answered" for each in request.remarks)]

    return ScriptedModel(said)


def worked(model, task=TASK, step=None, agent=None, planning=False, **options):
    made = {"name": "clerk", "strategy": "meta", "options": {"most": 2, **options}, **(agent or {})}

    async def go():
        world = {"tools": [read, send, bake], "agents": [Agent(**made)], "models": {"default": model}}
        async with Engine.open(**world, agent_planning=planning) as engine:
            about = {"id": "go", "agent": "clerk", "task": task, **(step or {})}
            run = await engine.start(Plan.model_validate({"steps": [about], "recovery": {"stalled": ["fail"]}}))
            return await run.result()

    MADE.clear()
    return asyncio.run(go())


def marks_in(request):
    return re.findall(r"\[(\w+)\]", request.remarks[-1].text)


def by_stage(model, stage):
    return [each for each in model.asked if stage_of(each) == stage]


def test_x4_tools_are_selected_then_it_is_planned_then_an_agent_with_just_these_follows_the_plan():
    follow = [calls("notes.read", name="today"), calls("mail.send", to="ada"), "Done."]
    model = playing({"tools": ["mail.send", "notes.read"]}, follow=follow)
    result = worked(model, step={"with": {"hint": "be kind"}})
    assert (result.status, result.output) == ("succeeded", "Done.")
    assert MADE == [("read", "today"), ("send", "ada")]
    [selecting], [drafting], thoughts = (by_stage(model, each) for each in ("select", "draft", "follow"))
    assert "- oven.bake: Bake something." in selecting.remarks[0].text
    assert "hint: be kind" in selecting.remarks[0].text
    assert "- mail.send(" in drafting.instructions
    assert "oven.bake" not in drafting.instructions
    assert [each.name for each in thoughts[0].offers] == ["mail.send", "notes.read"]
    assert [marks_in(each) for each in thoughts] == [["pending", "pending"], ["done", "pending"], ["done", "done"]]
    assert '"name":"today"' in thoughts[0].remarks[0].text  # the plan itself, with what it gives to its tools


def test_x4_an_agent_that_may_change_the_plan_is_given_its_tools_too():
    follow = [calls("notes.read", name="today"), calls("mail.send", to="ada"), "Done."]
    model = playing({"tools": ["mail.send", "notes.read"]}, follow=follow)
    assert worked(model, planning=True).output == "Done."
    [selecting], [drafting], thoughts = (by_stage(model, each) for each in ("select", "draft", "follow"))
    assert "agents.choose" not in selecting.remarks[0].text
    assert "- notes.read(" in drafting.instructions
    assert [each.name for each in thoughts[0].offers] == ["mail.send", "notes.read", "planning.replan"]


def test_x4_a_step_that_fails_is_shown_as_failed_and_may_be_done_in_another_way():
    follow = [
        calls_all(calls("notes.read", name="today"), calls("mail.send", to="nobody")),
        calls("mail.send", to="ada"),
        "Done.",
    ]
    model = playing({"tools": ["mail.send", "notes.read"]}, follow=follow)
    assert worked(model).output == "Done."
    marks = [marks_in(each) for each in by_stage(model, "follow")]
    assert marks == [["pending", "pending"], ["done", "failed"], ["done", "done"]]


@pytest.mark.parametrize("nonsense", ["none", {"tools": []}, {"tools": ["rm.all"]}, Failure("invalid", "no")])
def test_x4_where_the_model_selects_nothing_of_use_a_search_does(nonsense):
    model = playing(nonsense, follow=["Done."])
    assert worked(model).output == "Done."
    [thought] = by_stage(model, "follow")
    assert [each.name for each in thought.offers] == ["mail.send", "notes.read"]


def test_x4_a_search_may_select_from_the_start_and_few_tools_need_no_selection():
    model = playing(follow=["Done."])
    assert worked(model, select="search").output == "Done."
    assert [each.name for each in by_stage(model, "follow")[0].offers] == ["mail.send", "notes.read"]
    few = playing(follow=["Done."])
    assert worked(few, agent={"tools": ("mail.*", "notes.*")}).output == "Done."
    assert [each.name for each in by_stage(few, "follow")[0].offers] == ["mail.send", "notes.read"]
    assert by_stage(model, "select") == by_stage(few, "select") == []


def test_x7_where_no_plan_can_be_made_the_task_is_done_without_and_the_agent_is_told_so():
    model = playing({"tools": ["notes.read"]}, draft={"steps": []}, follow=[calls("notes.read", name="x"), "Done."])
    result = worked(model)
    assert (result.output, MADE) == ("Done.", [("read", "x")])
    first, second = by_stage(model, "follow")
    assert "without_a_plan: there is no plan that can be carried out" in first.remarks[0].text
    assert "Where the plan stands" not in first.remarks[0].text + second.remarks[-1].text


def test_x4_what_was_not_selected_cannot_be_called():
    follow = [calls("oven.bake", what="cake"), "So be it."]
    model = playing({"tools": ["notes.read", "mail.send"]}, follow=follow)
    assert worked(model).output == "So be it."
    assert MADE == []
    returned = by_stage(model, "follow")[1].remarks[-2]
    assert "there is no tool 'oven.bake' for you" in returned.text


def test_what_the_step_wants_is_what_the_agent_answers_with():
    wants = {"returns": {"type": "object", "required": ["sent"]}, "verdicts": ["nothing_to_do"]}
    wants["on"] = {"nothing_to_do": "next"}
    model = playing({"tools": ["mail.send"]}, follow=['{"verdict": "nothing_to_do", "answer": {"sent": 0}}'])
    result = worked(model, step=wants)
    assert (result.steps["go"].exit, result.output) == ("nothing_to_do", {"sent": 0})


def test_a_plan_of_ones_own_is_followed_too():
    model = ScriptedModel(lambda request: " ".join(marks_in(request)))
    given = {"strategy": "follow", "with": {"plan": PLAN, "tools": ["notes.read"]}}
    assert worked(model, step=given).output == "pending pending"
    assert [each.name for each in model.asked[0].offers] == ["notes.read"]


def test_steps_of_a_plan_of_ones_own_name_each_other_with_two_dollars():
    model = ScriptedModel(lambda request: request.remarks[0].text)
    steps = [{"id": "l", "tool": "notes.read"}, {"id": "s", "tool": "mail.send", "with": {"to": "$${steps.l.output}"}}]
    said = worked(model, step={"strategy": "follow", "with": {"plan": {"steps": steps}}}).output
    assert "${steps.l.output}" in said


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"plan": "x"}, "`plan` is no plan"),
        ({"plan": {"steps": "x"}}, "`plan` is no plan"),
        ({"plan": {"steps": [{"id": "a", "tool": "notes.read", "needs": ["b"]}]}}, "`plan` is no plan"),
        ({"plan": PLAN, "tools": "notes.read"}, "`tools` is 'notes.read'; write a list"),
        ({"plan": PLAN, "tools": [3]}, "`tools` is [3]; write a list"),
        ({"plan": PLAN, "tools": ["zz.z"]}, "there is no tool 'zz.z'"),
    ],
)
def test_what_is_no_plan_is_not_followed_in_silence(given, told):
    model = ScriptedModel(["Done."])
    step = {"strategy": "follow", "with": given, "recovery": {"invalid": ["fail"]}}
    failure = worked(model, step=step).failure
    assert (failure.kind, told in failure.message, model.asked) == ("invalid", True, []), failure.message
