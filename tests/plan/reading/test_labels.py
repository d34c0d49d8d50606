"""T1: plans in the label dialect load as they stand, from files and from Python."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from perdure.plan import Plan, PlanError
from perdure.plan.problems import written
from perdure.plan.reading import LabelStep, read_data, read_text

L = LabelStep

# The seven shapes of T2 to T10, written as their authors wrote them: with None targets, `dynamic`,
# and targets that nobody defined.
SKETCHES = {
    "T2 linear": [
        L("analyze", "planning_agent", "implement", None),
        L("implement", "code_agent", "persist", None),
        L("persist", None, "complete", None),
        L("complete", None, None, None),
    ],
    "T3 branching": [
        L("planning", "planning_agent", "choose", "error_recovery"),
        L("choose", "branching_agent", "dynamic", "error_recovery"),
        L("write_code", "code_agent", "planning", "planning"),
        L("write_tests", "test_agent", "planning", "planning"),
        L("error_recovery", "refinement_agent", "planning", "manual_intervention"),
    ],
    "T4 memory": [
        L("remember", "reminiscing_agent", "planning", "planning"),
        L("planning", "planning_agent", "implement", None),
        L("implement", "code_agent", "complete", None),
    ],
    "T5 classic loop": [
        L("generate", "code_agent", "apply", None),
        L("apply", "file_agent", "test", None),
        L("test", "test_agent", "check", None),
        L("check", "quality_agent", "done", "generate"),
        L("done"),
    ],
    "T6 many components": [
        L("plan", "planning_agent"),
        L("generate", steps=[L(f"gen_{n}", "code_agent") for n in range(12)]),
        L("complete"),
    ],
    "T7 parallel": [
        L("generate", parallel_steps=[L("gen_core", "code_agent"), L("gen_api", "code_agent")], on_fail="fix"),
        L("merge", "integration_agent", "complete"),
        L("fix", "refinement_agent", "generate"),
    ],
    "T10 large project": [
        L("comprehensive_planning", "comprehensive_planner", "plan_validation", "retry_planning"),
        L("plan_validation", "validation_agent", "components", "retry_planning"),
        L(
            "components",
            None,
            "integration",
            "fix_failures",
            parallel_steps=[L("core", "code_agent"), L("web", "code_agent")],
        ),
        L("integration", "integration_agent", "validation", "fix_integration"),
        L("validation", "validation_agent", "tests", "fix_failures"),
        L("tests", "test_agent", "quality_check", "fix_failures"),
        L("quality_check", "quality_agent", "complete", "refinement"),
        L("refinement", "refinement_agent", "tests", "fix_failures"),
        L("retry_planning", "planning_agent", "comprehensive_planning", "manual_intervention"),
        L("fix_integration", "integration_agent", "integration", "manual_intervention"),
        L("fix_failures", "refinement_agent", "integration", "manual_intervention"),
    ],
}


@pytest.mark.parametrize("name", SKETCHES)
def test_the_sketches_load_as_they_stand(name):
    plan = Plan.from_steps(SKETCHES[name])
    assert plan == Plan.model_validate(plan.canonical())


@pytest.mark.parametrize("name", SKETCHES)
def test_what_was_assumed_is_said_and_nothing_is_refused(name):
    reading = read_data([_as_dict(step) for step in SKETCHES[name]])
    assert reading.dialect == "labels"
    assert reading.errors == []
    assert {problem.code for problem in reading.problems} <= {"PRD1602"}


def _as_dict(step):
    found = {"label": step.label, "agent_key": step.agent_key, "on_success": step.on_success, "on_fail": step.on_fail}
    for key in ("steps", "parallel_steps"):
        if getattr(step, key):
            found[key] = [_as_dict(child) for child in getattr(step, key)]
    return found


def steps_of(plan):
    return {step["id"]: step for step in plan.canonical()["steps"]}


def test_positional_and_minimal():
    plan = Plan.from_steps([L("gen_core", "code_agent")])
    assert plan.canonical()["steps"] == [
        {"id": "gen_core", "kind": "agent", "agent": "code", "on": {"failure": "fail"}},
    ]


def test_a_bare_label_is_an_end():
    plan = Plan.from_steps([L("a", "x_agent"), L("finish")])
    assert steps_of(plan)["finish"] == {"id": "finish", "kind": "done"}


def test_targets_without_an_agent_are_a_savepoint():
    plan = Plan.from_steps([L("save", None, "work", "complete"), L("work", "code_agent")])
    assert steps_of(plan)["save"] == {
        "id": "save",
        "kind": "checkpoint",
        "on": {"success": "work", "failure": "complete"},
    }


def test_dynamic_means_any_sibling():
    plan = Plan.from_steps([L("choose", "branching_agent", "dynamic"), L("a", "x_agent", "choose"), L("b")])
    assert steps_of(plan)["choose"] == {
        "id": "choose",
        "kind": "decide",
        "decide": {"agent": "branching"},
        "choices": ["a", "b"],
        "on": {"failure": "fail"},
        "max_visits": 10,
    }


def test_dynamic_with_choices_means_those():
    plan = Plan.from_steps([L("choose", "b_agent", "dynamic", choices=["b"]), L("b")])
    assert steps_of(plan)["choose"]["choices"] == ["b"]


def test_a_choice_that_nobody_defined_is_refused():
    with pytest.raises(PlanError, match="zz"):
        Plan.from_steps([L("choose", "b_agent", "dynamic", choices=["b", "zz"]), L("b")])


def test_missing_states_are_supplied_and_reachable_only_by_jumps():
    plan = Plan.from_steps([L("a", "x_agent", None, "manual_intervention"), L("b", "x_agent")])
    steps = steps_of(plan)
    assert steps["manual_intervention"]["kind"] == "ask"
    assert steps["b"]["on"] == {"success": "done", "failure": "fail"}


def test_all_undefined_targets_are_named_in_one_refusal():
    reading = read_data(
        [
            {"label": "a", "agent_key": "x", "on_success": "p", "on_fail": "q"},
            {"label": "b", "agent_key": "x", "on_fail": "r"},
        ]
    )
    assert [problem.code for problem in reading.errors] == ["PRD1601"]
    assert '"p", "q", "r"' in reading.errors[0].message


def test_agent_steps_and_parallel_steps_run_in_that_order():
    plan = Plan.from_steps(
        [L("big", "plan_agent", steps=[L("s1", "x_agent")], parallel_steps=[L("p1", "x_agent"), L("p2", "x_agent")])]
    )
    inner = steps_of(plan)["big"]["steps"]
    assert [(step["id"], step["kind"], step.get("mode")) for step in inner] == [
        ("big_agent", "agent", None),
        ("big_steps", "group", None),
        ("big_parallel", "group", "graph"),
    ]


def test_backward_jumps_are_bounded_unless_they_say_so_themselves():
    reading = read_data(
        [
            {"label": "a", "agent_key": "x"},
            {"label": "b", "agent_key": "x", "on_fail": "a"},
            {"label": "c", "agent_key": "x", "on_fail": "c", "max_visits": 3},
        ]
    )
    assert reading.errors == []
    assert [step.max_visits for step in reading.plan.steps] == [10, None, 3]


def test_labels_that_are_no_ids_are_renamed_and_said():
    reading = read_data(
        [{"label": "gen-core", "agent_key": "x", "on_fail": "gen-core"}, {"label": "next", "agent_key": "x"}]
    )
    assert [step.id for step in reading.plan.steps] == ["gen_core", "next_2"]
    assert reading.plan.steps[0].on == {"failure": "gen_core"}
    assert sum("became the id" in problem.message for problem in reading.problems) == 2


def test_a_label_that_is_an_id_keeps_it():
    reading = read_data(
        [{"label": "a-b", "agent_key": "x"}, {"label": "a_b", "agent_key": "x"}, {"label": "a b", "agent_key": "x"}]
    )
    assert [step.id for step in reading.plan.steps] == ["a_b_2", "a_b", "a_b_3"]


def test_dynamic_among_hundreds_wants_its_choices_named():
    steps = [
        {"label": "choose", "agent_key": "x", "on_success": "dynamic"},
        *({"label": f"s{n}", "agent_key": "x"} for n in range(300)),
    ]
    [problem] = read_data(steps).errors
    assert (problem.code, problem.help) == ("PRD1603", "declare `choices`")


def test_children_that_are_no_list_are_refused():
    with pytest.raises(PlanError, match="must be a list"):
        Plan.from_steps([LabelStep("a", "b", steps="abc")])


def test_a_jump_into_a_group_is_refused_in_its_place():
    reading = read_text(
        "- {label: a, agent_key: x, on_fail: inner}\n- {label: g, steps: [{label: inner, agent_key: x}]}\n"
    )
    assert [(p.code, written(p.path), p.line) for p in reading.errors] == [("PRD1302", "[0].on_fail", 1)]


def test_mixed_words_load_or_say_how_to_write_it():
    fine = read_data(
        [{"label": "a", "tool": "http.get", "on_fail": "b", "retry": {"attempts": 2}}, {"id": "b", "agent": "code"}]
    )
    assert fine.errors == []
    both = read_data([{"label": "a", "id": "b", "agent_key": "x"}])
    assert [problem.code for problem in both.errors] == ["PRD1603"]
    twice = read_data([{"label": "a", "agent_key": "x", "on_fail": "fail", "on": {"failure": "next"}}])
    assert [problem.code for problem in twice.errors] == ["PRD1603"]
    beside = read_data([{"label": "a", "agent_key": "x", "tool": "a.b"}])
    assert [problem.code for problem in beside.errors] == ["PRD1603"]


def test_manual_intervention_asks_and_its_targets_are_the_answers():
    plan = Plan.from_steps([L("a", "x_agent", None, "manual_intervention"), L("manual_intervention", None, "a", None)])
    assert steps_of(plan)["manual_intervention"]["on"] == {"approved": "a", "rejected": "fail"}


def test_supplied_states_follow_any_last_step():
    reading = read_data(
        [{"label": "a", "agent_key": "x_agent", "on_fail": "manual_intervention"}, {"id": "b", "fail": True}]
    )
    assert reading.errors == []


def test_dynamic_with_nothing_to_choose_from_is_refused_once():
    reading = read_data([{"label": "a", "agent_key": "x", "on_success": "dynamic"}])
    assert [problem.code for problem in reading.errors] == ["PRD1603"]


def test_labelled_tools_fail_upward_too():
    plan = Plan.from_steps([{"label": "a", "tool": "x.y"}])
    assert steps_of(plan)["a"]["on"] == {"failure": "fail"}


def test_an_id_of_any_type_beside_labels_is_refused():
    reading = read_data([{"label": "a", "agent_key": "x"}, {"id": ["b"], "tool": "x.y"}, {"id": {}, "label": "c"}])
    assert {problem.code for problem in reading.errors} <= {"PRD1106", "PRD1103", "PRD1603"}
    assert reading.errors


def test_a_label_is_a_text():
    reading = read_data([{"label": 1, "agent_key": "x"}])
    assert "a label must be a text" in [problem.message for problem in reading.errors]


def test_labels_and_dependencies_mix():
    reading = read_data(
        {"steps": [{"label": "a", "agent_key": "x"}, {"label": "b", "agent_key": "y", "depends_on": ["a"]}]}
    )
    assert reading.errors == []
    assert reading.plan.mode == "graph"
    assert reading.plan.steps[1].needs == ("a",)


def test_other_records_with_those_fields_will_do():
    @dataclass
    class PlanStep:
        label: str
        agent_key: str | None = None
        on_success: str | None = None
        on_fail: str | None = None
        steps: list = field(default_factory=list)
        parallel_steps: list = field(default_factory=list)

    plan = Plan.from_steps(
        [PlanStep("a", "code_agent"), SimpleNamespace(label="b", agent_key="test_agent"), {"label": "c"}]
    )
    assert [step.kind for step in plan.steps] == ["agent", "agent", "done"]


def test_dynamic_with_children_is_refused_with_the_way_out():
    reading = read_data(
        [{"label": "a", "agent_key": "x", "on_success": "dynamic", "steps": [{"label": "b", "agent_key": "y"}]}]
    )
    [problem] = [each for each in reading.errors if each.code == "PRD1603"]
    assert "step of its own" in problem.help
