"""E1 E14: how visits end: exits of groups, and failures that a plan goes on after."""

import pytest
from driven import LATER, NO, driven, tool

from perdure.core import events as e
from perdure.core.calls import Failure

# ------------------------------------------------------------------------------- the exit of a group


@pytest.mark.parametrize(
    ("exit_", "word", "kind"),
    [
        ("steps.a.output", "odd", None),
        ("'success'", "success", None),
        ("'failure'", "failure", "logic"),
        ("'even'", "failure", "invalid"),
        ("3", "failure", "invalid"),
        ("steps.a.output.x", "failure", "invalid"),
    ],
)
def test_rule_2_a_group_gives_its_word_by_exit(exit_, word, kind):
    for step in ({"steps": [tool("a")], "exit": exit_}, {"plan": {"steps": [tool("a")], "exit": exit_}}):
        world = driven(
            [{"id": "g", "verdicts": ["odd"], "on": {"odd": "next", "failure": "next"}, **step}], {"a": "odd"}
        )
        [ended] = [event for event in world.find(e.StepEnded) if event.step == "g"]
        assert (ended.exit, ended.failure.kind if ended.failure else None) == (word, kind)


def test_the_word_of_a_plan_is_that_of_its_run():
    assert driven({"steps": [tool("a")], "exit": "steps.a.output"}, {"a": "success"}).status == "succeeded"
    assert driven({"steps": [tool("a")], "exit": "steps.a.output"}, {"a": "odd"}).failure == Failure(
        "unmet", "the plan ended with 'odd'"
    )
    assert driven({"steps": [tool("a")], "exit": "steps.a.output.x"}, {"a": "odd"}).failure.kind == "invalid"
    assert driven({"steps": [tool("a")], "output": "${steps.a.output.x}"}, {"a": "odd"}).failure.kind == "invalid"


def test_an_output_of_a_sub_plan_that_cannot_be_made_is_invalid():
    assert (
        driven([{"id": "p", "plan": {"steps": [tool("a")], "output": "${steps.a.output.x}"}}], {"a": 1}).failure.kind
        == "invalid"
    )


# ------------------------------------------------------------------------------- rule 4: recovery

GO = {"logic": ["continue"]}


@pytest.mark.parametrize(
    ("plan", "goes_on"),
    [
        ({"steps": [tool("a"), tool("b")], "recovery": GO}, True),
        ({"steps": [tool("a", recovery=GO), tool("b")]}, True),
        ({"steps": [tool("a", recovery={"other": ["continue"]}), tool("b")]}, True),
        ({"steps": [tool("a", recovery={"transient": ["continue"]}), tool("b")]}, False),
        ({"steps": [tool("a", recovery={"logic": ["fail"]}), tool("b")], "recovery": GO}, False),
        ({"steps": [tool("a", recovery={"logic": ["fail", "continue"]}), tool("b")]}, False),
        ({"steps": [tool("a", recovery={"logic": ["retry"]}), tool("b")], "recovery": GO}, False),
        ({"steps": [tool("a", recovery=GO, on={"failure": "fail"}), tool("b")]}, False),
        ({"steps": [tool("a", recovery=GO, on={"failure": "recover"}), tool("b")]}, True),
        ({"steps": [{"id": "g", "recovery": GO, "steps": [tool("a"), tool("b")]}]}, True),
        ({"steps": [{"id": "g", "plan": {"recovery": GO, "steps": [tool("a"), tool("b")]}}]}, True),
        (
            {
                "steps": [
                    {
                        "id": "g",
                        "plan": {"recovery": {"logic": ["fail"]}, "steps": [tool("a"), tool("b")]},
                        "recovery": GO,
                    }
                ]
            },
            None,
        ),
        ({"steps": [{"id": "g", "plan": {"steps": [tool("a"), tool("b")]}}], "recovery": GO}, True),
    ],
)
def test_rule_4_continue_by_the_nearest_table_that_knows_the_failure(plan, goes_on):
    world = driven(plan, {"a": NO})
    assert ("b" in world.done()) is (goes_on is True)
    assert world.status == ("failed" if goes_on is False else "succeeded")
    partial = [event.step for event in world.find(e.StepEnded) if event.partial]
    assert partial == {True: ["a"], False: [], None: ["g"]}[goes_on]


def test_the_recovery_of_a_plan_called_by_name():
    inner = {"recovery": GO, "steps": [tool("a"), tool("b")]}
    world = driven([{"id": "p", "plan": "inner"}], {"a": NO}, plans={"inner": inner})
    assert world.done() == ["p/1.a", "p/1.b"]


def test_in_a_graph_a_partial_success_counts_as_one():
    plan = {"mode": "graph", "recovery": {"other": ["continue"]}, "steps": [tool("a"), tool("b", needs=["a"])]}
    world = driven(plan, {"a": LATER})
    assert (world.status, world.output) == ("succeeded", {"a": None, "b": None})
