"""E5 E21: `sample`, several answers to the same question: the majority, or the best by a judge."""

import pytest
from thinkers import agent, grown_by, prompts, step_of, thought, world_of

from perdure.agents.strategies.options import OptionsError
from perdure.core.calls import Failure

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def said(*texts):
    """The n-th question is answered with the n-th text."""
    return lambda _, step: texts[int(step.rpartition(".")[2]) - 1]


def test_e5_the_answer_that_most_agree_on():
    world = thought(agent("sample"), said("a", "b", "a", "c", "a"))
    assert world.output == "a"


def test_no_more_are_asked_than_may_still_change_the_majority():
    assert len(thought(agent("sample"), said("a", "a", "a")).made) == 3
    assert len(thought(agent("sample"), said("a", "b", "a", "a")).made) == 4
    assert len(thought(agent("sample"), said("a", "b", "a", "b", "b")).made) == 5
    assert len(thought(agent("sample", {"answers": 1}), said("a")).made) == 1


def test_of_equals_the_first_is_taken():
    assert thought(agent("sample", {"answers": 4}), said("b", "a", "b", "a")).output == "b"
    assert thought(agent("sample", {"answers": 3}), said("c", "a", "b")).output == "c"


def test_answers_agree_in_what_by_says_and_those_that_do_not_fit_have_no_vote():
    texts = ['{"n": 1}', '{"n": "x"}', "nonsense", '{"n": 2, "why": "b"}', '{"n": 2, "why": "a"}']
    world = thought(agent("sample", {"by": "output.n"}), said(*texts), step=step_of(returns=NUMBER))
    assert world.output == {"n": 2, "why": "b"}


def test_no_answer_at_all_is_a_failure_that_says_why():
    world = thought(agent("sample"), said(*["x"] * 5), step=step_of(returns=NUMBER))
    assert world.failure.kind == "invalid"
    assert "it is no JSON" in world.failure.message
    assert len(world.made) == 5
    world = thought(agent("sample"), lambda *_: Failure("denied", "no key"))
    assert "no key" in world.failure.message


def test_angles_are_given_to_the_answers_in_turn():
    world = thought(agent("sample", {"angles": ["Think of ${x}.", "Go backwards."]}), said("a", "a", "a"))
    assert ["Go backwards." in each for each in prompts(world)] == [True, False, True]
    assert "Think of ${x}." in prompts(world)[1]


@pytest.mark.parametrize(
    ("judge", "tools"),
    [
        ({"expr": "size(output)"}, {}),
        ({"tool": "x.rate"}, {"x.rate": lambda output: {"score": len(output)}}),
        ({"tool": "x.rate", "with": {"it": "${inputs.output}"}}, {"x.rate": lambda it: float(len(it))}),
        ({"model": "strong"}, {}),
    ],
)
def test_e5_best_of_n_by_a_judge(judge, tools):
    def say(prompt, step):
        if "What is to be judged" in prompt:
            return {"score": len(prompt.rpartition("\n")[2]) / 100, "reasons": ["long"]}
        return said("a", "ccc", "a", "bb", "zzz")(prompt, step)

    world = thought(agent("sample", {"judge": judge}), say, tools)
    assert world.output == "ccc"  # of equals the first
    judged = [step for step in world.done() if step.endswith("judge")]
    assert len(judged) == (0 if "expr" in judge else 4)  # the same answer is judged once


def test_a_goal_ends_it_early():
    options = {"judge": {"expr": "size(output)"}, "goal": 2}
    assert len(thought(agent("sample", options), said("a", "bb", "ccc", "d", "e")).made) == 2


def test_a_judge_that_cannot_say_fails_honestly():
    for judge in ({"expr": "output.score"}, {"model": "strong"}):
        world = thought(agent("sample", {"judge": judge}), lambda *_: "nonsense")
        assert world.failure == Failure("unmet", "no answer could be judged")


def test_options_are_refused_with_a_reason():
    for judge, why in (({}, "exactly one of expr, tool"), ({"votes": 3}, "counted as votes")):
        with pytest.raises(OptionsError, match=why):
            thought(agent("sample", {"judge": judge}), lambda *_: "x")
    with pytest.raises(OptionsError, match="less than or equal to 64"):
        thought(agent("sample", {"answers": 65}), lambda *_: "x")


# ------------------------------------------------------------------------------- budgets


@pytest.mark.parametrize(("calls", "asked"), [(1, 1), (2, 2), (3, 3), (4, 4), (9, 5)])
def test_e21_how_many_there_are_follows_from_what_is_left(calls, asked):
    world = thought(agent("sample"), said("a", "b", "c", "d", "e"), step=step_of(budget={"calls": calls}))
    assert (world.output, len(world.made)) == ("a", asked)


@pytest.mark.parametrize(("calls", "answers"), [(2, 1), (3, 1), (4, 2), (10, 5), (99, 5)])
def test_e21_an_answer_that_could_not_be_judged_is_not_asked_for(calls, answers):
    def say(prompt, step):
        return '{"score": 0.5}' if "judged" in prompt else step

    world = thought(agent("sample", {"judge": {"model": "x"}}), say, step=step_of(budget={"calls": calls}))
    assert sum(step.endswith("judge") for step in world.done()) == answers
    assert len(world.made) == 2 * answers


def test_the_same_in_any_order():
    for order in range(20):
        world = world_of(agent("sample"), said("a", "b", "a", "c", "a"), order=order).run()
        assert world.output == "a"


def test_every_question_refers_and_carries_what_it_may_take():
    world = thought(agent("sample", tokens=100), said("a", "a", "a"), what="w" * 1000)
    for step in grown_by(world):
        assert step["tokens"] == 100
        assert 1000 / 4 + 100 < step["estimate"]["tokens"] < 1000
        assert "www" not in str(step)
