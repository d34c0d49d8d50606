"""E5: `single`, one call of a model; an answer that does not fit is handed back, so many times."""

import pytest
from thinkers import agent, grown_by, prompts, step_of, thought

from perdure.agents.strategies.options import OptionsError
from perdure.core.calls import Failure

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def test_e5_single_gives_what_the_model_says():
    world = thought(agent("single", instructions="Be brief."), lambda prompt, _: f"heard {prompt}")
    assert world.output == "heard What is it?"
    assert world.made[0].call.arguments["instructions"] == "Be brief."
    assert world.done() == ["ag/1.1"]


def test_single_tells_who_it_is_and_what_it_was_given():
    me = agent("single", role="a clerk", goal="to be right", backstory="Born in Bern.", instructions="Be brief.")
    step = step_of(**{"with": {"place": {"x": 1}, "odd name": "b"}})
    world = thought(me, lambda prompt, _: prompt, step=step)
    assert world.output == 'What is it?\n\nWhat you are given:\nodd name: b\nplace: {"x":1}'
    told = world.made[0].call.arguments["instructions"]
    assert told == "You are a clerk.\n\nYour goal: to be right\n\nBorn in Bern.\n\nBe brief."


def test_data_that_looks_like_a_reference_stays_data():
    me = agent("single", instructions="Never say ${inputs.task} or ${nonsense(.")
    world = thought(me, lambda prompt, _: prompt, step=step_of(**{"with": {"fact": "${inputs.what}"}}), what="${1/0}$")
    assert world.output == "What is ${1/0}$?\n\nWhat you are given:\nfact: ${1/0}$"
    assert world.made[0].call.arguments["instructions"] == me.instructions
    assert "1/0" not in str(grown_by(world))  # a grown step refers, and copies nothing


def test_an_answer_that_does_not_fit_is_handed_back_with_what_is_wrong():
    said = {"ag/1.1": "no JSON", "ag/1.2": '{"town": "Bern"}', "ag/1.3": '{"city": "Bern"}'}
    world = thought(agent("single"), lambda _, step: said[step], step=step_of(returns=CITY))
    assert world.output == {"city": "Bern"}
    assert "it is no JSON" in prompts(world)[1]
    assert '"city" is a required property' in prompts(world)[2]
    second = world.made[1].call.arguments
    assert second["answer"]["data"]["text"] == "no JSON"  # the model sees its own words in the conversation
    assert second["after"]


@pytest.mark.parametrize(("repairs", "asked"), [(0, 1), (1, 2), (3, 4)])
def test_repairs_are_bounded_and_the_failure_says_what_is_wrong(repairs, asked):
    world = thought(agent("single", {"repairs": repairs}), lambda *_: "{}", step=step_of(returns=CITY))
    assert (len(world.made), world.failure.kind) == (asked, "invalid")
    assert "required property" in world.failure.message


def test_a_model_that_fails_fails_its_agent_with_the_same():
    world = thought(agent("single"), lambda *_: Failure("denied", "no key"))
    assert world.failure == Failure("denied", "no key")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"repair": 1}, "repair is not known here; they may be: repairs"),
        ({"repairs": "many"}, "repairs must be a whole number"),
        ({"repairs": -1}, "repairs must be greater than or equal to 0"),
    ],
)
def test_options_that_make_no_sense_are_said_clearly(options, said):
    with pytest.raises(OptionsError, match="the options of agent 'me': ") as refused:
        thought(agent("single", options), lambda *_: "x")
    assert said in f"{refused.value.message}; {refused.value.help}"


def test_e21_a_repair_that_cannot_be_paid_is_not_begun():
    step = step_of(returns=CITY, budget={"calls": 1})
    world = thought(agent("single"), lambda *_: "{}", step=step)
    assert (len(world.made), world.failure.kind) == (1, "invalid")
    assert "1 calls are needed and 0 left" in world.failure.message


@pytest.mark.parametrize(("then", "status"), [("fail", "failed"), ("finish", "succeeded"), ("ask", "waiting")])
def test_a_first_call_that_cannot_be_paid_is_left_to_the_budget(then, status):
    world = thought(agent("single"), lambda *_: "x", step=step_of(budget={"tokens": 10, "then": then}))
    assert (world.status, world.made) == (status, [])


def test_a_verdict_is_the_exit_and_what_there_is_to_say_the_output():
    step = step_of(verdicts=["needs_work"], on={"needs_work": "next"})
    said = '{"verdict": "needs_work", "answer": "too short"}'
    world = thought(agent("single"), lambda *_: said, step=step)
    assert (world.exit_of("ag"), world.state.cells["ag"].result.output.data) == ("needs_work", "too short")


def test_an_agent_may_work_in_another_way_with_options_for_that():
    me = agent("tree", {"width": 2, "single": {"repairs": 0}})
    world = thought(me, lambda *_: "{}", step=step_of(returns=CITY, strategy="single"))
    assert len(world.made) == 1


def test_options_for_another_way_are_looked_at_when_it_is_gone():
    world = thought(agent("tree", {"single": {"repair": 0}}), lambda *_: "x", step=step_of(strategy="single"))
    assert (world.failure.kind, world.made) == ("invalid", [])
    assert "repair is not known here; they may be: repairs" in world.failure.message
