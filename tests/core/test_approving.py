"""S9 E6: an attempt that needs a person to agree stops before its effect, and goes on only as agreed."""

import pytest
from driven import LATER, driven, tool

from perdure.core import events as e
from perdure.core.calls import Approval, Outcome
from perdure.core.deciding import Deciding, Moment
from perdure.core.policy import Deed, Judgement
from perdure.core.turn import settle
from perdure.testing.worlds import LOST

MAY_IT = Outcome(exit="failure", approval=Approval("d1", "a wants to write x"))
OTHER = Outcome(exit="failure", approval=Approval("d2", "a wants to write y"))


def approvals(world):
    """What each attempt was allowed to do."""
    return [each.approved for each in world.find(e.AttemptStarted)]


def test_a_person_is_asked_about_exactly_this():
    world = driven([tool("a")], {"a": [MAY_IT, 7]})
    [question] = world.state.questions.values()
    assert (world.status, question.about, question.answer) == ("waiting", "policy", "approval")
    assert (question.text, question.approves) == ("a wants to write x", "d1")


def test_who_was_asked_is_not_asked_again_meanwhile():
    world = driven([tool("a")], {"a": [MAY_IT, 7]})
    making = Deciding(world.state, Moment(world.now))
    settle(making, world.state.cells["a"])
    assert making.events == []


@pytest.mark.parametrize("yes", [True, "approved"])
def test_a_yes_lets_the_next_attempt_do_exactly_that(yes):
    world = driven([tool("a")], {"a": [MAY_IT, 7]})
    world.answer(yes)
    assert (world.run().status, world.output, approvals(world)) == ("succeeded", 7, [(), ("d1",)])


@pytest.mark.parametrize("no", [False, "rejected"])
def test_a_no_fails_the_step_and_nothing_is_tried_again(no):
    world = driven([tool("a", retry={"attempts": 5, "wait": 0})], {"a": [MAY_IT, 7]})
    world.answer(no)
    assert (world.run().status, world.failure.kind, len(world.made)) == ("failed", "denied", 1)


def test_what_changed_meanwhile_is_asked_about_again():
    world = driven([tool("a")], {"a": [MAY_IT, OTHER, 7]})
    world.answer(True)
    world.run()
    assert [each.approves for each in world.find(e.QuestionAsked)] == ["d1", "d2"]
    world.answer(True)
    assert (world.run().status, approvals(world)) == ("succeeded", [(), ("d1",), ("d1", "d2")])


def test_an_approval_costs_no_try_and_holds_for_those_that_follow():
    world = driven([tool("a", retry={"attempts": 2, "wait": 0})], {"a": [MAY_IT, LATER, LOST, 7]})
    world.answer(True)
    assert (world.run().status, approvals(world)) == ("succeeded", [(), ("d1",), ("d1",), ("d1",)])


def test_a_new_visit_is_asked_about_anew():
    world = driven(
        [tool("a", on={"success": "b"}), tool("b", max_visits=2, on={"success": "a"})], {"a": [MAY_IT, 1, MAY_IT]}
    )
    world.answer(True)
    world.run()
    assert [(each.visit, each.approves) for each in world.find(e.QuestionAsked)] == [(1, "d1"), (2, "d1")]


def test_a_crash_while_somebody_thinks_forgets_nothing():
    world = driven([tool("a")], {"a": [MAY_IT, 7]})
    world.crash()
    world.answer(True)
    world.crash()
    assert (world.run().status, world.output) == ("succeeded", 7)


def test_a_step_may_be_stopped_while_it_waits_for_a_yes():
    world = driven([tool("a", on={"cancelled": "next"}), tool("b")], {"a": MAY_IT})
    world.cancel("a")
    assert (world.run().status, world.exit_of("a"), world.state.questions) == ("succeeded", "cancelled", {})


def test_what_the_rules_said_is_a_fact():
    said = (Judgement(Deed("write", "x"), "allow", "user"),)
    world = driven([tool("a"), tool("b")], {"a": Outcome(1, judged=said)})
    assert [each.judged for each in world.find(e.AttemptEnded)] == [said, ()]
