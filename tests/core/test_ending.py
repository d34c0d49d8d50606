"""E1 E14: how visits end: criteria, exits of groups, and failures that a plan goes on after."""

import pytest
from driven import LATER, NO, driven, tool

from perdure.core import events as e
from perdure.core.calls import Failure, Outcome
from perdure.testing.worlds import World

# ------------------------------------------------------------------------------- accept and ensures


@pytest.mark.parametrize(
    ("criteria", "output", "said"),
    [
        ({"accept": ["output > 3"]}, 4, None),
        ({"accept": ["output > 3"]}, 3, "not met: output > 3"),
        ({"accept": [{"expr": "output > 3", "title": "large"}]}, 3, "not met: large"),
        ({"accept": [{"schema": {"type": "integer"}}]}, 3, None),
        ({"accept": [{"schema": {"type": "string"}}]}, 3, "not met: its schema: "),
        ({"accept": [{"schema": {"type": "string"}, "title": "a text"}]}, 3, "not met: a text: "),
        ({"accept": [{"agent": "judge"}]}, 3, "agents do not judge yet"),
        ({"ensures": ["output == 3", "exit == 'success'"]}, 3, None),
        ({"ensures": ["output == 4"]}, 3, "it does not ensure: output == 4"),
    ],
)
def test_rule_4_a_result_that_does_not_fulfil_its_criteria_is_unmet(criteria, output, said):
    world = driven([tool("a", **criteria)], {"a": output})
    assert world.status == ("succeeded" if said is None else "failed")
    assert said is None or (world.failure.kind, said in world.failure.message) == ("unmet", True)


def test_a_criterion_that_goes_wrong_is_invalid():
    assert driven([tool("a", accept=["output.x > 1"])], {"a": 1}).failure.kind == "invalid"


def test_a_verdict_is_not_judged_by_what_success_must_fulfil():
    plan = [tool("a", verdicts=["needs_work"], accept=["output > 3"], on={"needs_work": "b"}), tool("b")]
    world = driven(plan, {"a": Outcome(1, "needs_work")})
    assert world.exits() == [("a", "needs_work"), ("b", "success")]


@pytest.mark.parametrize(
    "step",
    [
        {"id": "g", "steps": [tool("a")]},
        {"id": "g", "plan": {"steps": [tool("a")]}},
        {"id": "g", "plan": {"steps": [tool("a")], "output": "${steps.a.output}"}},
        {"id": "g", "decide": "'one'", "choices": ["one"]},
    ],
)
def test_groups_and_decisions_are_judged_too(step):
    world = driven([tool("before"), {**step, "accept": ["output == 4"]}], {"a": 1, "before": 1})
    assert (world.failure.kind, world.state.ended.cause) == ("unmet", "g")


def test_answers_are_judged_but_for_a_no():
    plan = {"steps": [{"id": "q", "ask": "How many?", "answer": "text", "accept": ["size(output) < 3"]}]}
    world = World(plan, forgetful=True).run()
    world.answer("many")
    assert (world.failure.kind, world.state.cells["q"].result.output.data) == ("unmet", "many")
    world = World(
        {"steps": [{"id": "q", "ask": "May I?", "accept": ["output == true"], "on": {"rejected": "done"}}]}
    ).run()
    world.answer(False)
    assert world.exit_of("q") == "rejected"


def test_what_a_group_ensures_sees_its_steps():
    world = driven(
        [{"id": "g", "steps": [tool("a"), tool("b")], "ensures": ["steps.a.output < steps.b.output"]}], {"a": 1, "b": 2}
    )
    assert world.status == "succeeded"


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
