"""E5 E13 T9: `reflexion`, attempts that learn from those before."""

import asyncio
from dataclasses import replace

import pytest
from thinkers import agent, grown_by, prompts, step_of, thought, world_of

from perdure import Engine, Plan, tool
from perdure.agents.roster import BadAgent, Roster
from perdure.agents.strategies.options import OptionsError
from perdure.core import events as e
from perdure.core.calls import Failure, Outcome
from perdure.testing.models import ScriptedModel

LONG = {"accept": [{"expr": "size(output) > 3", "title": "long enough"}], "strategy": "single"}


def learner(prompt, step):
    """Says more with every lesson it was told."""
    if "what to do differently" in prompt:
        return {"lesson": f"Say more, after {prompt.count('Attempt')}."}
    return "x" * (2 * (prompt.count("Say more") + 1))


def test_e5_an_attempt_that_is_not_good_enough_teaches_the_next():
    world = thought(agent("reflexion", LONG), learner)
    assert world.output == {"answer": "xxxx", "lessons": ["Say more, after 1."], "rounds": 2, "score": 1.0}
    assert world.done() == ["ag/1.1/1.1", "ag/1.2", "ag/1.3/1.1"]
    asked = prompts(world)
    assert "Attempt 1 of 3 gave:\nxx\n\nIt does not fulfil: long enough" in asked[1]
    assert asked[2] == "What is it?\n\nThis was tried before. What was learned:\n- Say more, after 1."


def test_t9_rounds_are_bounded_and_the_best_is_handed_on():
    world = thought(agent("reflexion", {**LONG, "rounds": 1}), learner)
    assert world.failure.kind == "unmet"
    assert "long enough" in world.failure.message
    assert world.output["answer"] == "xx"
    never = {"accept": ["output == 'never'"], "strategy": "single", "rounds": 6, "memory": 2}
    world = thought(agent("reflexion", never), learner)
    assert (len(world.output["lessons"]), world.output["rounds"], len(world.made)) == (2, 6, 11)


@pytest.mark.parametrize(
    "judge",
    [{"expr": "size(output) >= 4"}, {"tool": "x.rate"}, {"model": "strong"}, {"agent": "critic"}],
)
def test_e13_somebody_judges_and_says_what_to_change(judge):
    def say(prompt, step):
        if "What is to be judged" in prompt:
            good = prompt.rstrip().endswith("xxxx") or "xxxx" in prompt
            return {"score": 0.9 if good else 0.3, "reasons": ["so short"], "fixes": ["write more"]}
        return learner(prompt, step)

    tools = {"x.rate": lambda output: {"score": 1.0 if len(output) > 3 else 0.1, "fixes": ["write more"]}}
    critic = agent("single").model_copy(update={"name": "critic"})
    world = thought(agent("reflexion", {"judge": judge, "strategy": "single"}), say, tools, others=[critic])
    assert (world.output["answer"], world.output["rounds"]) == ("xxxx", 2)
    [reflecting] = [each for each in prompts(world) if "what to do differently" in each]
    assert ("write more" in reflecting) == ("expr" not in judge)


def test_an_attempt_that_fails_teaches_too():
    def say(prompt, step):
        if "what to do differently" in prompt:
            assert "It failed: denied: no key" in prompt
            return {"lesson": "Ask for the key."}
        return "fine" if "Ask for the key." in prompt else Failure("denied", "no key")

    assert thought(agent("reflexion", LONG), say).output["answer"] == "fine"
    world = thought(agent("reflexion", LONG), lambda *_: Failure("denied", "no key"))
    assert world.failure == Failure("denied", "no key")


def test_an_attempt_may_be_a_step_of_a_plan():
    attempt = {"tool": "x.do", "with": {"task": "${inputs.task}", "lessons": "${inputs.lessons}"}}
    tools = {"x.do": lambda task, lessons: [task, *lessons]}
    options = {"attempt": attempt, "accept": ["size(output) == 2"]}
    world = thought(agent("reflexion", options), lambda *_: {"lesson": "once more"}, tools)
    assert world.output["answer"] == ["What is it?", "once more"]


def test_a_result_in_the_form_that_is_wanted_is_handed_on_alone():
    returns = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

    def say(prompt, step):
        return {"lesson": "more"} if "what to do differently" in prompt else {"n": 1 + prompt.count("more")}

    options = {"accept": ["output.n == 2"], "strategy": "single"}
    assert thought(agent("reflexion", options), say, step=step_of(returns=returns)).output == {"n": 2}


def test_lessons_of_earlier_runs_are_facts_like_others():
    world = thought(agent("reflexion", LONG), learner, step=step_of(**{"with": {"lessons": ["Say more"]}}))
    assert world.output["rounds"] == 1


def test_the_same_lesson_again_and_again_is_no_stall():
    world = thought(
        agent("reflexion", {"accept": ["false"], "strategy": "single", "rounds": 8}), lambda *_: '{"lesson": "x"}'
    )
    assert (world.failure.kind, world.output["rounds"]) == ("unmet", 8)


def test_data_that_looks_like_a_reference_stays_data():
    def say(prompt, step):
        return {"lesson": "${1/0}"} if "what to do differently" in prompt else "${1/0}"

    options = {"accept": ["size(output) > 9"], "strategy": "single", "rounds": 2}
    world = thought(agent("reflexion", options), say)
    assert (world.output["answer"], world.output["lessons"]) == ("${1/0}", ["${1/0}"])
    assert "1/0" not in str(grown_by(world))


def test_e5_killed_at_every_turn_it_goes_on_there_and_pays_for_nothing_twice():
    def run_of():
        return world_of(agent("reflexion", {**LONG, "accept": ["size(output) > 7"], "rounds": 5}), learner)

    expected = run_of().run()
    for turn in range(1, len(expected.made) + 1):
        world = run_of()
        for _ in range(turn):
            world.step()
        world.crash()
        assert world.run().output == expected.output
        assert len(world.done()) == len(set(world.done()))


# ------------------------------------------------------------------------------- budgets


@pytest.mark.parametrize(("calls", "rounds"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (50, 3)])
def test_e21_a_round_that_cannot_be_paid_is_not_begun(calls, rounds):
    options = {"accept": ["false"], "strategy": "single"}
    world = thought(agent("reflexion", options), learner, step=step_of(budget={"calls": calls}))
    assert (world.failure.kind, world.output["rounds"]) == ("unmet", rounds)
    assert len(world.made) == 2 * rounds - 1


@tool(name="x.look", repeat="safe")
def look(at: str) -> str:
    """Look."""
    return at


WORDY = replace(look, summary="Look. " * 500)
"""Told at every attempt, it takes a thousand tokens."""


def asked_within(tokens):
    """What a model is asked for within so many tokens, by an agent with a tool that takes many words."""
    model = ScriptedModel(lambda request: {"lesson": "more"} if request.returns else "xx")
    me = agent("reflexion", {"accept": ["size(output) > 3"], "recall": 0}, tools=("x.*",), tokens=64)

    async def go():
        async with Engine.open(tools=[WORDY], agents=[me], models={"default": model}) as engine:
            step = step_of(budget={"tokens": tokens}, task="What is it?")
            await (await engine.start(Plan.model_validate({"steps": [step]}))).result()

    asyncio.run(go())
    return ["lesson" if each.returns else "attempt" for each in model.asked]


@pytest.mark.parametrize(("tokens", "rounds"), [(1_000, 0), (1_600, 1), (1_800, 1), (2_400, 3)])
def test_e21_what_is_told_of_tools_counts_before_another_round_is_begun(tokens, rounds):
    assert asked_within(tokens) == ["attempt", "lesson"] * (rounds - 1) + ["attempt"] * min(rounds, 1)


def test_e21_no_lesson_is_asked_for_where_the_budget_was_too_small():
    world = thought(agent("reflexion", LONG), lambda *_: Failure("budget", "the limit is reached"))
    assert (world.failure, len(world.made)) == (Failure("budget", "the limit is reached"), 1)

    def say(prompt, step):
        return Failure("budget", "the limit is reached") if "Say more" in prompt else learner(prompt, step)

    world = thought(agent("reflexion", {**LONG, "rounds": 5}), say)
    assert (world.failure.kind, world.output["answer"], world.output["rounds"]) == ("unmet", "xx", 2)
    assert "It failed: budget: the limit is reached" in world.failure.message


def test_e21_no_lesson_is_asked_for_where_the_budget_was_too_small_to_judge():
    tools = {"x.rate": lambda output: Outcome(exit="failure", failure=Failure("budget", "the limit is reached"))}
    options = {"judge": {"tool": "x.rate"}, "strategy": "single"}
    world = thought(agent("reflexion", options), learner, tools)
    assert (world.failure.kind, len(prompts(world))) == ("unmet", 1)
    assert world.failure.message == "no attempt could be judged; budget: the limit is reached"


def test_a_first_attempt_that_cannot_be_paid_is_left_to_the_budget():
    for then, status in (("fail", "failed"), ("finish", "succeeded"), ("ask", "waiting")):
        step = step_of(budget={"tokens": 5, "then": then})
        world = thought(agent("reflexion", LONG), learner, step=step)
        assert (world.status, world.made) == (status, [])


def test_options_are_refused_with_a_reason():
    for options, said in (
        ({"accept": [{"tool": "x.y"}]}, "accept takes expr and schema"),
        ({"judge": {"votes": 2}}, "nothing to vote about"),
        ({"rounds": 0}, "rounds must be greater than or equal to 1"),
    ):
        with pytest.raises(OptionsError, match=said):
            thought(agent("reflexion", options), learner)


@pytest.mark.parametrize("own", ["zzz", "reflexion", "adapted"])
def test_attempts_are_made_in_a_way_that_there_is_and_never_by_attempts(own):
    with pytest.raises(BadAgent, match=f'makes attempts by "{own}"') as refused:
        Roster([agent("reflexion", {"strategy": own})])
    assert "react" in refused.value.help
    with pytest.raises(BadAgent, match=own):
        Roster([agent("single", {"reflexion": {"strategy": own}})])
    with pytest.raises(OptionsError, match="under 'reflexion' is 3"):
        Roster([agent("single", {"reflexion": 3})])
    Roster([agent("reflexion", {"strategy": "mine"})], own=["mine"])


def test_e17_agents_that_judge_each_other_come_to_an_end():
    mutual = {"strategy": "single", "rounds": 1}
    other = agent("reflexion", {**mutual, "judge": {"agent": "me"}}).model_copy(update={"name": "other"})
    world = thought(
        agent("reflexion", {**mutual, "judge": {"agent": "other"}}), lambda *_: {"score": 1}, others=[other]
    )
    [refused] = [each for each in world.find(e.StepPassed) if each.failure]
    assert (refused.failure.kind, refused.step.count("/")) == ("invalid", 8)
    assert refused.failure.message.startswith("there are 8 agents around it")
