"""X2, X8, E12: where steps have failed, another way is found, or it is said that there is none."""

import pytest
from errand_tools import SHOP
from hypothesis import given
from hypothesis import strategies as st

from perdure.agents.planner import create_execution_plan
from perdure.agents.replanning import BadReplan, ExecutionState, NoWay, ReplanRequest, replan
from perdure.plan.reading import read_data
from perdure.plan.reading.numbered import ExecutionPlan, PlanStatus
from perdure.tools import toolbox_of

PLAN = create_execution_plan(
    "city Berlin, 5 minutes", [SHOP["weather.current"], SHOP["timer.set"], SHOP["heating.set"]]
)


def again(plan, *failed, done=(), reason="it was down", known=SHOP, **facts):
    state = ExecutionState(completed_steps=done, facts=facts)
    return replan(ReplanRequest(current_plan=plan, execution_state=state, reason=reason, failed_steps=failed), known)


def test_x8_another_tool_with_the_same_skills_takes_the_place_of_one_that_failed():
    found = again(PLAN, 1, done=(2,))
    assert (found.status, found.failed_steps, found.completed_steps) == (PlanStatus.REPLANNING, (1,), (2,))
    assert (found.steps[0].tool, found.steps[0].parameters) == ("meteo.now", {"city": "Berlin"})
    assert found.steps[1:] == PLAN.steps[1:]
    assert "Step 1 (weather.current) failed and is now done by meteo.now" in found.reasoning


def test_x2_the_history_is_kept():
    found = again(again(PLAN, 1), 2)
    first, second = found.metadata["history"]
    assert (first["reason"], first["failed_steps"], first["steps"][0]["tool"]) == (
        "it was down",
        [1],
        "weather.current",
    )
    assert (second["failed_steps"], second["steps"][0]["tool"]) == ([2], "meteo.now")
    assert found.id == PLAN.id


def test_what_was_tried_before_is_not_tried_again():
    found = again(again(PLAN, 1), 1)
    assert found.metadata["history"][-1]["ways"][0]["instead"] is None
    assert found.steps[0].condition == "false"


def test_a_tool_that_does_more_to_the_world_never_stands_in():
    known = {name: SHOP[name] for name in ("weather.current", "weather.archive", "timer.set", "heating.set")}
    assert again(PLAN, 1, known=known).steps[0].tool == "weather.current"


def test_a_tool_that_lacks_a_value_stands_in_once_the_value_is_known():
    known = {name: SHOP[name] for name in ("weather.current", "sky.look", "timer.set", "heating.set")}
    assert again(PLAN, 1, known=known).steps[0].condition == "false"
    found = again(PLAN, 1, known=known, latitude=52.5, longitude=13.4)
    assert (found.steps[0].tool, found.steps[0].parameters) == ("sky.look", {"latitude": 52.5, "longitude": 13.4})


def test_a_tool_that_does_not_give_what_others_take_never_stands_in():
    plan = PLAN.model_copy(
        update={
            "steps": (
                *PLAN.steps[:2],
                PLAN.steps[2].model_copy(update={"parameters": {"degrees": "${steps.step_1.output.sky}"}}),
            )
        }
    )
    assert again(plan, 1).steps[0].condition == "false"


def test_x8_without_another_way_the_step_and_all_that_depends_on_it_are_dropped():
    plan = create_execution_plan(
        "city Berlin, 5 minutes", [SHOP["timer.set"], SHOP["heating.set"], SHOP["weather.current"]]
    )
    assert [(step.tool, step.depends_on) for step in plan.steps] == [
        ("timer.set", ()),
        ("weather.current", ()),
        ("heating.set", (1, 2)),
    ]
    found = again(plan, 1)
    assert [step.condition for step in found.steps] == ["false", None, "false"]
    assert "Dropped with them: step 3." in found.reasoning
    assert read_data(found.as_document(), toolbox=toolbox_of(SHOP.values())).errors == []


def test_x8_where_nothing_is_left_it_is_said_that_there_is_no_way():
    plan = create_execution_plan("5 minutes", [SHOP["timer.set"]])
    with pytest.raises(NoWay) as refusal:
        again(plan, 1)
    assert refusal.value.code == "PRD4202"
    assert "timer.set declares no skills" in refusal.value.message


@pytest.mark.parametrize(("failed", "done"), [((4,), ()), ((1,), (9,)), ((1,), (1,))])
def test_a_request_that_does_not_fit_the_plan_is_refused(failed, done):
    with pytest.raises(BadReplan) as refusal:
        again(PLAN, *failed, done=done)
    assert refusal.value.code == "PRD4203"


def test_e12_what_is_done_stays_even_if_it_depended_on_what_failed():
    plan = create_execution_plan(
        "city Berlin, 5 minutes", [SHOP["timer.set"], SHOP["heating.set"], SHOP["weather.current"]]
    )
    found = again(plan, 1, done=(3,))
    assert (found.completed_steps, found.steps[2].condition) == ((3,), None)


@given(
    st.lists(st.sampled_from(sorted(SHOP)), min_size=1, max_size=6),
    st.sets(st.integers(1, 6), min_size=1),
    st.sets(st.integers(1, 6)),
)
def test_x2_a_plan_that_was_planned_again_is_valid_or_there_is_no_way(names, failed, done):
    plan = create_execution_plan("city Berlin, 5 minutes", [SHOP[name] for name in names])
    wrong = {each for each in failed if each <= len(names)} or {1}
    try:
        found = again(plan, *sorted(wrong), done=tuple(sorted({each for each in done if each <= len(names)} - wrong)))
    except NoWay:
        return
    assert ExecutionPlan.model_validate_json(found.model_dump_json()) == found
    assert set(found.failed_steps) == wrong
    assert read_data(found.as_document(), toolbox=toolbox_of(SHOP.values())).errors == []
