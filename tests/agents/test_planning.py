"""X2: planning as tools that an agent calls while it works."""

import json

import pytest
from errand_tools import SHOP

from perdure import Plan, run_sync
from perdure.agents.planning import create_planning_tools
from perdure.plan.reading.numbered import ExecutionPlan

CREATE, REPLAN, MEND = create_planning_tools(SHOP)


def ran(*steps):
    return run_sync(Plan.model_validate({"steps": list(steps)}), tools=(CREATE, REPLAN, MEND))


def call(tool, **given):
    return {"id": tool.name.partition(".")[2], "tool": tool.name, "with": given}


def test_x2_the_tools_are_called_planning_create_and_planning_replan():
    assert (CREATE.name, REPLAN.name, MEND.name) == ("planning.create", "planning.replan", "planning.mend")
    assert not any(each.declared.effects for each in (CREATE, REPLAN, MEND))


def test_x2_an_agent_makes_a_plan_and_finds_another_way_within_a_run():
    found = ran(
        call(CREATE, request="The weather: city Berlin", tools=["weather.current"]),
        call(MEND, current_plan="${steps.create.output}", failed_steps=[1], reason="it was down"),
    )
    made = [json.dumps(found.steps[name].output) for name in ("create", "mend")]
    first, second = map(ExecutionPlan.model_validate_json, made)
    assert (first.steps[0].tool, second.steps[0].tool) == ("weather.current", "meteo.now")
    assert (second.status, second.id) == ("replanning", first.id)


def test_without_names_the_tools_are_searched_for():
    found = ran(call(CREATE, request="Set a timer: 5 minutes")).steps["create"].output
    assert [(step["tool"], step["parameters"]) for step in found["steps"]] == [("timer.set", {"minutes": 5})]


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (call(CREATE, request="Bake a cake"), "a plan cannot be made of 0 tools"),
        (call(CREATE, request="x", tools=["timer.sett"]), 'did you mean "timer.set"?'),
        (call(MEND, current_plan={"steps": []}, failed_steps=[1], reason="x"), "current_plan"),
        (call(MEND, current_plan={"steps": [{"step_number": 1, "tool": "a.b"}]}, failed_steps=[1], reason="x"), "there is no other way"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned_fails_with_a_sentence(step, told):
    found = ran(step)
    assert found.status == "failed"
    assert found.failure.kind == "invalid"
    assert told in found.failure.message


def test_plans_do_not_plan():
    create, *_ = create_planning_tools({**SHOP, CREATE.name: CREATE})
    step = call(create, request="Create a plan: planning.create", tools=["planning.create"])
    found = run_sync(Plan.model_validate({"steps": [step]}), tools=(create,))
    assert 'there is no tool "planning.create"' in found.failure.message
