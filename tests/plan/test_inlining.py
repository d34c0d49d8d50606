"""E2 E12: a plan that calls others by name, written out so that it stands for itself."""

import json

import pytest

from perdure import Plan, run_sync
from perdure.plan.checks import check
from perdure.plan.inlining import Endless, inlined


def plan(*steps, **fields):
    return Plan.model_validate({"steps": list(steps), **fields})


def echo(id_, value, **fields):
    return {"id": id_, "tool": "flow.echo", "with": {"value": value}, **fields}


TWICE = plan(
    echo("first", "${inputs.n}"),
    echo("second", {"was": "${steps.first.output}"}, when="steps.first.output > 1"),
    name="twice",
    inputs={"n": {"type": "integer"}},
    output={"n": "${steps.first.output}", "seen": "${steps.?second.output}"},
)


def test_a_plan_that_was_inlined_does_the_same_without_the_others():
    calling = plan(
        {"id": "a", "plan": "twice", "with": {"n": 1}},
        {"id": "b", "plan": "twice", "with": {"n": 2}},
        output=["${steps.a.output}", "${steps.b.output}"],
    )
    written = inlined(calling, {"twice": TWICE})
    assert not check(written)
    assert run_sync(written).output == run_sync(calling, plans={"twice": TWICE}).output
    assert {"a_first", "b_second"} <= set(run_sync(written).steps)


def test_jumps_choices_conversations_and_contexts_name_the_new_steps():
    shape = plan(
        {"id": "think", "model": "weak", "prompt": "Think", "max_visits": 3},
        {"id": "more", "model": "weak", "prompt": "More", "after": "think"},
        {"id": "way", "decide": "'more_of_it'", "choices": ["more_of_it", "end"], "context": ["think"]},
        {"id": "more_of_it", "checkpoint": True, "on": {"success": "think"}},
        {"id": "back", "rollback": "more_of_it"},
        {"id": "end", "done": True},
    )
    written = json.loads(inlined(plan({"id": "s", "plan": "shape"}), {"shape": shape}).canonical_json())
    inside = {each["id"]: each for each in written["steps"][0]["plan"]["steps"]}
    assert inside["s_more"]["after"] == "s_think"
    assert inside["s_way"]["on"] == {"more_of_it": "s_more_of_it", "end": "s_end"}
    assert inside["s_way"]["context"]["from"] == ["s_think"]
    assert inside["s_more_of_it"]["on"] == {"success": "s_think"}
    assert inside["s_back"]["rollback"] == "s_more_of_it"


def test_plans_within_plans_groups_and_maps_are_inlined_too():
    outer = plan(
        {"id": "each", "map": [1, 2], "steps": [{"id": "one", "plan": "twice", "with": {"n": "${item}"}}]},
        {"id": "group", "steps": [{"id": "two", "plan": "twice", "with": {"n": 5}}]},
        output="${steps.each.output}",
    )
    whole = plan({"id": "top", "plan": "outer"}, {"id": "again", "plan": "outer"})
    written = inlined(whole, {"twice": TWICE, "outer": outer})
    assert not check(written)
    assert run_sync(written).output == [{"n": 1, "seen": None}, {"n": 2, "seen": {"was": 2}}]
    assert "again_two_first" in run_sync(written).steps


def test_names_that_nobody_knows_stay_and_a_plan_that_calls_itself_is_refused():
    calling = plan({"id": "a", "plan": "elsewhere"})
    assert inlined(calling, {"twice": TWICE}) == calling
    itself = plan({"id": "again", "plan": "itself"})
    with pytest.raises(Endless, match="itself calls itself"):
        inlined(plan({"id": "a", "plan": "itself"}), {"itself": itself})
