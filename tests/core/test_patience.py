"""Rules 11 and 13: how long people are waited for, by whom a question may be answered, and what follows from silence."""

import pytest
from driven import tool

from perdure.core import events as e
from perdure.core.accepting import MOST_SAID, is_said_before
from perdure.core.calls import Approval, Failure, Outcome
from perdure.core.refusing import Answered, BadAnswer, NoQuestion
from perdure.core.values import Value
from perdure.testing.worlds import LOST, NOON, World

HOUR = 3_600_000
WITHIN = {"within": "1h", "to": ["ann"]}


MAY_IT = Outcome(exit="failure", approval=Approval("d1", "it wants to write x"))


def doubtful():
    steps = [tool("a", on={"failure": "sorry"}), tool("b"), {"id": "sorry", "fail": "${steps.a.failure.message}"}]
    return World({"questions": WITHIN, "steps": steps}, {"a": LOST}, repeat="never", forgetful=True).start()


def policy():
    plan = {"questions": WITHIN, "steps": [tool("a"), tool("b")]}
    return World(plan, {"a": [MAY_IT, 1]}, forgetful=True).start()


def broke():
    plan = {"questions": WITHIN, "budget": {"steps": 1, "then": "ask"}, "steps": [tool("a"), tool("b")]}
    return World(plan, forgetful=True).start()


def undoing():
    undo = {"tool": "x.back", "with": {}}
    steps = [{"id": "k", "checkpoint": True}, tool("a", undo=undo), {"id": "r", "rollback": "k"}]
    return World({"questions": WITHIN, "steps": steps}, {"a!": [MAY_IT, 1]}, forgetful=True).start()


ASKING = {"doubt": doubtful, "policy": policy, "budget": broke, "undo": undoing}


@pytest.mark.parametrize("make", ASKING.values(), ids=ASKING)
def test_a_plan_says_how_long_and_whom_it_asks(make):
    world = make_still(make)
    [question] = world.state.questions.values()
    assert (question.people, question.due) == (("ann",), NOON + HOUR)
    with pytest.raises(BadAnswer, match=r"only ann may answer .*, and eve is not among them"):
        world.answer(True, by="eve")


def make_still(make):
    """The run as it stands when it asks, and no later."""
    world = make()
    while not world.state.questions:
        assert world.step()
    return world


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (doubtful, "logic", "nobody said in time whether it had its effect"),
        (policy, "denied", "a person was asked, and nobody answered in time"),
        (broke, "budget", "the budget is used up (steps), and nobody gave more in time"),
        (undoing, "logic", "could not be taken back: a"),
    ],
)
def test_silence_is_a_no(make, kind, message):
    world = make().run()
    assert (world.status, world.failure) == ("failed", Failure(kind, message))
    assert [each.late for each in world.find(e.QuestionClosed)] == [True]
    assert world.now == NOON + HOUR
    assert "b" not in world.done()


@pytest.mark.parametrize("make", ASKING.values(), ids=ASKING)
def test_rule_11_nobody_is_late_while_the_run_is_paused(make):
    world = make_still(make)
    world.now = NOON + HOUR // 2
    world.pause()
    world.now = NOON + 100 * HOUR
    assert len(world.state.questions) == 1
    world.resume()
    assert world.state.wake_at == world.now + HOUR // 2
    world.answer(GOOD[make], by="ann")
    assert not world.find(e.QuestionClosed)


GOOD = {doubtful: "happened", policy: True, broke: 1, undoing: True}


@pytest.mark.parametrize("make", ASKING.values(), ids=ASKING)
def test_an_answer_that_comes_too_late_is_refused_and_changes_nothing(make):
    world = make_still(make)
    world.now = NOON + HOUR
    before = list(world.facts)
    with pytest.raises(NoQuestion, match="in time"):
        world.answer(GOOD[make], by="ann")
    assert world.facts == before
    world.run()
    assert (world.status, len(world.find(e.QuestionClosed))) == ("failed", 1)


@pytest.mark.parametrize("make", ASKING.values(), ids=ASKING)
def test_an_answer_in_time_is_the_end_of_waiting(make):
    world = make_still(make)
    world.now = NOON + HOUR - 1
    world.answer(GOOD[make], by="ann")
    world.run()
    assert not world.find(e.QuestionClosed)
    assert len(world.find(e.QuestionAsked)) == 1


def test_after_silence_a_doubt_is_asked_about_again_because_nobody_has_said():
    world = doubtful().run()
    world.retry("a")
    [question] = world.state.questions.values()
    assert question.question == "q_a_1_doubt1_again"
    assert question.due == NOON + HOUR + HOUR


def test_the_nearest_plan_says_it():
    inner = {"questions": {"to": ["bob"]}, "steps": [tool("a")]}
    plan = {"questions": WITHIN, "steps": [{"id": "p", "plan": inner}]}
    world = World(plan, {"a": LOST}, repeat="never", forgetful=True).run()
    [question] = world.state.questions.values()
    assert (question.people, question.due) == (("bob",), None)


def test_a_budget_that_was_given_up_meanwhile_is_not_given_up_again():
    world = make_still(broke)
    world.cancel()
    world.now = NOON + HOUR
    world.run()
    assert world.status == "cancelled"


# ------------------------------------------------------------------------------- answered once


def asked(**more):
    return World({"steps": [{"id": "q", "ask": "Well?", **more}]}, forgetful=True).run()


def test_the_same_answer_of_the_same_person_is_known_as_such():
    world = asked(form={"type": "object"})
    world.answer({"a": 1, "b": [2]}, by="ann")
    for value, by, same in [
        ({"b": [2], "a": 1.0}, "ann", True),
        ({"a": 1, "b": [2]}, "bob", False),
        ({"a": True, "b": [2]}, "ann", False),
    ]:
        with pytest.raises(Answered) as found:
            world.answer(value, "q_q_1", by=by)
        assert found.value.same is same


def test_of_a_long_answer_the_beginning_is_told():
    world = asked(answer="text")
    world.answer("x" * 10_000)
    with pytest.raises(Answered) as found:
        world.answer("y", "q_q_1")
    assert found.value.message == f"q_q_1 was answered: {'x' * MOST_SAID}…"


def test_a_question_that_was_closed_says_so():
    world = World(
        {
            "steps": [
                {"id": "q", "ask": "Well?", "deadline": "1h", "on": {"expired": "next"}},
                tool("a"),
                {"id": "z", "ask": "And?"},
            ]
        }
    ).run()
    with pytest.raises(NoQuestion, match="not needed any more"):
        world.answer(True, "q_q_1")


def test_what_was_said_before_is_told_from_what_is_new():
    world = asked()
    yes, no = (e.QuestionAnswered(question="q_q_1", value=Value(each), by="ann") for each in (True, False))
    assert is_said_before(world.state, yes) is False
    world.answer(True, by="ann")
    assert is_said_before(world.state, yes) is True
    with pytest.raises(Answered):
        is_said_before(world.state, no)


def test_whoever_pauses_a_run_in_the_last_moment_gives_people_time():
    world = World({"steps": [{"id": "q", "ask": "Well?", "deadline": "1h"}]}, forgetful=True).start()
    world.now = NOON + HOUR
    world.pause()
    world.now += HOUR
    world.answer(True)
    assert world.exit_of("q") == "approved"
