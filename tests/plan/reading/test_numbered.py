"""X1: numbered execution plans and the rules they are held to, without implicit conversion."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from perdure.plan.reading import read_data
from perdure.plan.reading.numbered import ExecutionPlan, ExecutionStep, PlanStatus, translate


def numbered(**changes):
    plan = {
        "request": "Check the weather and set a timer",
        "reasoning": "Two things that do not need each other",
        "steps": [
            {"step_number": 1, "tool": "weather.current", "parameters": {"city": "Berlin"}, "description": "Look"},
            {"step_number": 2, "tool": "timer.set", "parameters": {"minutes": 10}},
            {"step_number": 3, "tool": "answer.say", "depends_on": [1, 2], "condition": "steps.step_1.output.ok"},
        ],
    }
    return {**plan, **changes}


def codes(document):
    return [problem.code for problem in read_data(document).errors]


def test_a_numbered_plan_becomes_a_graph():
    reading = read_data(numbered())
    assert reading.dialect == "numbered"
    assert reading.errors == []
    assert reading.plan.mode == "graph"
    assert [(step.id, step.tool, step.needs) for step in reading.plan.steps] == [
        ("step_1", "weather.current", ()),
        ("step_2", "timer.set", ()),
        ("step_3", "answer.say", ("step_1", "step_2")),
    ]
    assert reading.plan.steps[2].when == "steps.step_1.output.ok"
    assert reading.plan.meta == {"reasoning": "Two things that do not need each other"}


def test_five_states():
    assert [status.value for status in PlanStatus] == ["pending", "running", "completed", "failed", "replanning"]


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ([{"step_number": 2, "tool": "a.b"}], "PRD1604"),
        ([{"step_number": 1, "tool": "a.b"}, {"step_number": 3, "tool": "a.b"}], "PRD1604"),
        ([{"step_number": 1, "tool": "a.b"}, {"step_number": 1, "tool": "a.b"}], "PRD1604"),
        ([{"step_number": 1, "tool": "a.b", "depends_on": [1]}], "PRD1605"),
        ([{"step_number": 1, "tool": "a.b", "depends_on": [2]}, {"step_number": 2, "tool": "a.b"}], "PRD1605"),
        ([{"step_number": 1, "tool": "a.b", "depends_on": [0]}], "PRD1605"),
        ([{"step_number": 1, "tool": "weather"}], "PRD1103"),
        ([{"step_number": "1", "tool": "a.b"}], "PRD1103"),
        ([{"step_number": 1.0, "tool": "a.b"}], "PRD1103"),
        ([{"step_number": True, "tool": "a.b"}], "PRD1103"),
        ([{"step_number": 1, "tool": "a.b", "parameters": []}], "PRD1103"),
        ([{"step_number": 1, "tool": "a.b", "surprise": 1}], "PRD1103"),
    ],
)
def test_rules_of_the_steps(steps, code):
    assert codes(numbered(steps=steps)) == [code]


def test_all_broken_rules_come_at_once_each_in_its_place():
    steps = [{"step_number": 1, "tool": "a.b", "depends_on": [1]}, {"step_number": 3, "tool": "a.b", "depends_on": [9]}]
    problems = read_data(numbered(steps=steps, completed_steps=[1], failed_steps=[1])).errors
    assert [(problem.code, problem.path) for problem in problems] == [
        ("PRD1604", ("steps", 1)),
        ("PRD1605", ("steps", 0)),
        ("PRD1605", ("steps", 1)),
        ("PRD1607", ("failed_steps",)),
    ]
    assert all(problem.help for problem in problems)


def test_a_step_called_step_is_not_a_number():
    assert read_data({"steps": [{"id": "a", "tool": "x.y"}, {"step": "b", "tool": "x.y"}]}).dialect == "current"


def test_no_timestamp_in_the_future():
    now = datetime(2026, 11, 15, tzinfo=UTC)
    late = (now + timedelta(seconds=1)).isoformat()
    _, problems = translate(numbered(created_at=late), now=now)
    assert [problem.code for problem in problems] == ["PRD1606"]
    assert translate(numbered(created_at=now.isoformat()), now=now)[1] == []


def test_completed_and_failed_never_overlap():
    assert codes(numbered(completed_steps=[1, 2], failed_steps=[2])) == ["PRD1607"]
    assert codes(numbered(completed_steps=[4])) == ["PRD1607"]
    assert codes(numbered(completed_steps=[1], failed_steps=[2], status="failed")) == []


def test_the_models_can_be_used_alone():
    step = ExecutionStep(step_number=1, tool="a.b")
    plan = ExecutionPlan(steps=(step,), status=PlanStatus.REPLANNING)
    assert plan.as_document()["steps"] == [{"id": "step_1", "title": "", "tool": "a.b", "with": {}, "needs": []}]
    with pytest.raises(ValidationError):
        ExecutionPlan(steps=())


def test_a_bare_list_of_numbered_steps_will_do():
    assert read_data([{"number": 1, "tool": "a.b"}]).errors == []


def test_numbers_and_labels_do_not_mix_and_the_refusal_says_how():
    reading = read_data([{"number": 1, "tool": "a.b"}, {"label": "x", "agent_key": "y"}])
    assert [problem.code for problem in reading.errors] == ["PRD1603"]
    assert "needs" in reading.errors[0].help


def test_depends_on_and_dependencies_are_needs():
    reading = read_data(
        {
            "steps": [
                {"id": "a", "tool": "x.y"},
                {"id": "b", "tool": "x.y", "depends_on": ["a"]},
                {"id": "c", "tool": "x.y", "dependencies": "a"},
            ]
        }
    )
    assert reading.dialect == "needs"
    assert reading.errors == []
    assert [step.needs for step in reading.plan.steps] == [(), ("a",), ("a",)]


def test_needs_beside_depends_on_is_refused():
    assert codes({"mode": "graph", "steps": [{"id": "a", "tool": "x.y", "needs": [], "depends_on": []}]}) == ["PRD1603"]
