"""E1 E14: contracts: what has to hold before a step starts, and what its result has to fulfil."""

import pytest
from driven import driven, tool

from perdure.core.calls import Failure, Outcome
from perdure.testing.worlds import World

# ------------------------------------------------------------------------------- requires


@pytest.mark.parametrize(
    "step",
    [
        tool("a"),
        {"id": "a", "steps": [tool("in")]},
        {"id": "a", "ask": "Well?"},
        {"id": "a", "map": [1], "steps": [tool("in")]},
    ],
    ids=["tool", "group", "ask", "map"],
)
def test_e1_what_a_step_requires_must_hold_before_it_starts(step):
    world = driven([{**step, "requires": ["inputs.x > 1", "inputs.x < 3"]}], inputs={"x": 3})
    assert (world.failure, world.done()) == (Failure("unmet", "it requires: inputs.x < 3 (inputs.x is 3)"), [])


# ------------------------------------------------------------------------------- accept and ensures


@pytest.mark.parametrize(
    ("criteria", "output", "said"),
    [
        ({"accept": ["output > 3"]}, 4, None),
        ({"accept": ["output > 3"]}, 3, "not met: output > 3 (output is 3)"),
        ({"accept": [{"expr": "output > 3", "title": "large"}]}, 3, "not met: large (output is 3)"),
        ({"accept": [{"schema": {"type": "integer"}}]}, 3, None),
        ({"accept": [{"schema": {"type": "string"}}]}, 3, "not met: its schema: "),
        ({"accept": [{"schema": {"type": "string"}, "title": "a text"}]}, 3, "not met: a text: "),
        ({"ensures": ["output == 3", "exit == 'success'"]}, 3, None),
        ({"ensures": ["output == 4"]}, 3, "it does not ensure: output == 4 (output is 3)"),
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


# ------------------------------------------------------------------------------- the values that are told


def said(source: str, output: object = None, **inputs: object) -> str:
    """What follows the sentence that does not hold."""
    failure = driven([tool("a", ensures=[source])], {"a": output}, inputs=inputs).failure
    assert (failure.kind, failure.message.startswith(f"it does not ensure: {source}")) == ("unmet", True)
    return failure.message.removeprefix(f"it does not ensure: {source}").strip()


def test_e14_every_value_that_a_sentence_names_is_told_once():
    assert said("output.n > inputs.x && output.n < 9", {"n": 1, "m": 2}, x=3) == "(output.n is 1, inputs.x is 3)"
    assert said("false") == ""


def test_a_value_that_is_not_there_is_said_to_be_missing():
    assert said("has(output.n) && output.n > 1", {}) == "(output.n is missing)"
    told = said("size(output.a) > 1 && output.a[1] > 3", {"a": [1]})
    assert told == "(output.a is [1], output.a[1] is missing)"


def test_what_is_told_is_short_and_has_nothing_hidden_in_it():
    told = said("output == 'x'", "\x1b[31m" + "long " * 100)
    assert told.startswith('(output is "\\u001b[31mlong long')
    assert len(told) < 90
    told = said(" || ".join(f"output.x{n} == 0" for n in range(9)), {f"x{n}": n + 1 for n in range(9)})
    assert told == "(output.x0 is 1, output.x1 is 2, output.x2 is 3, output.x3 is 4)"


def test_a_secret_is_not_told():
    failure = driven([tool("a", ensures=["output == 'x' && output != secrets.key"])], {"a": "y"}).failure
    assert failure.message.endswith('(output is "y")')
