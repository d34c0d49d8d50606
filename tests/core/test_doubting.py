"""E10: attempts of which nobody knows whether they had their effect: repeated, looked into, or asked about."""

import pytest
from driven import LATER, driven, tool

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.doubting import MOST_DOUBTS
from perdure.core.quarantine import MOST_LOSSES
from perdure.core.trying import LOOKING
from perdure.testing.worlds import HANGS, LOST, World

# ------------------------------------------------------------------------------- again, or a person


@pytest.mark.parametrize("repeat", ["safe", "keyed"])
@pytest.mark.parametrize("doubt", [LOST, Failure("in_doubt", "who knows")])
def test_e10_what_may_be_repeated_is_done_again_and_costs_no_try(repeat, doubt):
    world = driven([tool("a", retry={"attempts": 2, "wait": 0})], {"a": [doubt, doubt, LATER, 1]}, repeat=repeat)
    assert (world.status, len(world.made)) == ("succeeded", 4)
    assert {made.visit for made in world.made} == {1}


@pytest.mark.parametrize("repeat", ["safe", "keyed"])
def test_e17_one_that_is_lost_again_and_again_is_not_repeated_for_ever(repeat):
    world = driven([tool("a")], {"a": Failure("in_doubt", "it hung up")}, repeat=repeat)
    assert len(world.made) == MOST_DOUBTS + 1
    [question] = world.state.questions.values()
    assert question.about == "doubt"


def asked(script, plan=None, **dials):
    return driven(plan or [tool("a", retry={})], script, repeat="never", **dials)


DOUBTS = [LOST, Failure("in_doubt", "who knows"), Failure("timeout", "late"), Failure("cancelled", "cut")]


@pytest.mark.parametrize("doubt", DOUBTS)
def test_e10_what_may_never_be_repeated_is_asked_about(doubt):
    world = asked({"a": doubt})
    assert (world.status, len(world.made)) == ("waiting", 1)
    [question] = world.state.questions.values()
    assert (question.question, question.choices) == ("q_a_1_doubt1", ("happened", "not_happened", "again", "give_up"))
    assert "tool x.y" in question.text


@pytest.mark.parametrize("doubt", DOUBTS)
def test_the_answers_to_a_doubt(doubt):
    happened, silent, again, given_up = (asked({"a": [doubt, 7]}) for _ in range(4))
    happened.answer({"choice": "happened", "output": 5})
    assert (happened.status, happened.output, len(happened.made)) == ("succeeded", 5, 1)
    silent.answer("happened")
    assert (silent.status, silent.output) == ("succeeded", None)
    again.answer("not_happened")
    again.run()
    assert (again.status, again.output, [made.attempt for made in again.made]) == ("succeeded", 7, [1, 2])
    given_up.answer("give_up")
    assert (given_up.status, given_up.failure.kind) == ("failed", "in_doubt")


def test_what_happened_is_judged_like_any_result():
    plan = [{"id": "a", "decide": {"tool": "x.y"}, "choices": ["left"], "on": {"left": "next"}}]
    world = asked({"a": LOST}, plan)
    world.answer({"choice": "happened", "output": "left"})
    assert world.exit_of("a") == "left"
    world = asked({"a": LOST}, plan)
    world.answer({"choice": "happened", "output": "up"})
    assert world.failure.kind == "invalid"


def test_a_tool_that_must_not_be_repeated_and_took_too_long_is_asked_about():
    world = asked({"a": HANGS}, [tool("a", timeout="5s", retry={})])
    assert (world.status, len(world.state.questions)) == ("waiting", 1)


@pytest.mark.parametrize(("retry", "tries"), [({"attempts": 2, "wait": 0}, 2), (None, 1)])
def test_a_keyed_tool_that_took_too_long_is_tried_again_and_then_asked_about(retry, tries):
    world = driven([tool("a", timeout="5s", **({"retry": retry} if retry else {}))], {"a": HANGS}, repeat="keyed")
    assert (world.status, len(world.find(e.AttemptStarted)), len(world.state.questions)) == ("waiting", tries, 1)


def test_a_doubt_that_waits_for_room_is_not_forgotten():
    plan = {"mode": "graph", "steps": [tool("a", priority=1), tool("b")]}
    world = World(plan, {"a": HANGS, "b": HANGS}, slots=1, forgetful=True).start()
    world.slots = 0
    world.send(e.AttemptLost(step="a"))
    assert list(world.state.flying) == []
    world.fold()
    world.slots = 2
    world.pass_time(0)
    assert sorted(world.state.flying) == ["a", "b"]


def test_a_crash_is_survived_in_the_middle_of_everything():
    plan = {"mode": "graph", "steps": [tool("a"), tool("b"), tool("c", needs=["a", "b"])]}
    world = World(plan, {"a": 1, "b": 2}).start()
    for _ in range(3):
        world.crash()
        world.step()
    assert (world.run().status, world.output) == ("succeeded", {"a": 1, "b": 2, "c": None})


def test_a_person_may_have_it_tried_again_whatever_it_did():
    world = asked({"a": [LOST, 7]})
    world.answer("again")
    assert (world.run().status, world.output, len(world.made)) == ("succeeded", 7, 2)


@pytest.mark.parametrize("later", [0, 2])
def test_e10_a_keyed_deed_that_would_be_another_one_now_is_asked_about(later):
    given = {"with": {"path": "${1 / int(steps.?b.?output.orValue(1))}"}}
    plan = {"mode": "graph", "steps": [tool("a", **given), tool("b")]}
    world = World(plan, {"a": HANGS, "b": later}, repeat="keyed", forgetful=True).run()
    world.send(e.AttemptLost(step="a"))
    assert (world.status, len(world.state.questions), world.commands()) == ("waiting", 1, [])


def taken_back_before(**dials):
    """A run that was cut off in its second step, and goes on after what the first one gave was taken back."""
    steps = [tool("a", **UNDO), tool("b", **{"with": {"value": "${steps.?a.output}"}})]
    group = {"id": "g", "steps": steps, "timeout": 5, "undo": {"tool": "un.do"}}
    world = World({"steps": [group]}, {"a": 1, "a!": 1, "b": HANGS, "b?": {"happened": False}}, **dials).start()
    world.step()
    world.send(e.StepStopping(step="g", exit="cancelled", undo=("g",)))
    world.send(e.AttemptEnded(step="b", exit="failure", failure=Failure("cancelled", "it was stopped")))
    world.run()
    assert (world.state.ended.status, world.done("undo")) == ("failed", ["a"])
    world.retry("b")
    return world


@pytest.mark.parametrize("forgetful", [False, True])
def test_e10_a_keyed_deed_is_not_done_again_with_other_arguments_under_another_key(forgetful):
    world = taken_back_before(repeat="keyed", forgetful=forgetful)
    [question] = world.state.questions.values()
    assert (question.about, world.status) == ("doubt", "waiting")


@pytest.mark.parametrize("forgetful", [False, True])
def test_e10_no_probe_looks_for_a_deed_with_other_arguments(forgetful):
    world = taken_back_before(repeat="never", probes=["x.y"], forgetful=forgetful)
    assert ([each.about for each in world.state.questions.values()], world.done("probe")) == (["doubt"], [])


# ------------------------------------------------------------------------------- taking it back


UNDO = {"undo": {"tool": "un.do", "with": {"of": "a"}}}


def test_a_person_may_have_it_taken_back():
    plan = [tool("a", **UNDO, on={"failure": "next"}), tool("b")]
    world = asked({"a": LOST, "a!": [LATER, 1]}, plan)
    assert world.find(e.QuestionAsked)[0].choices == ("happened", "not_happened", "again", "undo", "give_up")
    world.answer("undo")
    world.run()
    assert (world.status, world.done(), world.done("undo")) == ("succeeded", ["a", "b"], ["a", "a"])
    assert world.exit_of("a") == "failure"
    assert world.find(e.StepEnded)[0].failure.kind == "in_doubt"
    assert world.fold().effects["a", 1].over


def test_what_is_taken_back_after_a_doubt_survives_a_crash_in_its_middle():
    world = World({"steps": [tool("a", **UNDO)]}, {"a": LOST, "a!": 1}, repeat="keyed", forgetful=True)
    world.rules.repeat = lambda call: "keyed" if call.name == "un.do" else "never"
    world.run().answer("undo")
    world.crash()
    assert (world.run().status, world.done("undo")) == ("failed", ["a"])


def test_to_take_back_is_not_offered_where_nothing_does():
    assert "undo" not in asked({"a": LOST}).find(e.QuestionAsked)[0].choices


def test_what_a_person_has_given_up_its_tool_does_not_take_back_either():
    plan = [{"id": "k", "checkpoint": True}, tool("a", on={"failure": "next"}), {"id": "r", "rollback": "k"}]
    world = asked({"a": LOST, "a!": 1}, plan, undo={"x.y": ()})
    world.answer("give_up")
    assert (world.run().status, world.done("undo")) == ("succeeded", [])


# ------------------------------------------------------------------------------- looking into the world


def looked(script, plan=None, repeat="never", **dials):
    return driven(plan or [tool("a", retry={"wait": 0})], script, repeat=repeat, probes=["x.y"], **dials)


@pytest.mark.parametrize("repeat", ["never", "keyed"])
@pytest.mark.parametrize("doubt", DOUBTS)
def test_what_a_probe_saw_happen_is_not_done_again(repeat, doubt):
    world = looked({"a": doubt, "a?": {"happened": True, "output": 5}}, repeat=repeat)
    assert (world.status, world.output) == ("succeeded", 5)
    assert (world.done(), world.done("probe")) == (["a"], ["a"])


@pytest.mark.parametrize("doubt", DOUBTS)
def test_what_a_probe_did_not_see_is_done_again(doubt):
    kind = doubt.kind if isinstance(doubt, Failure) else "in_doubt"
    world = looked({"a": [doubt, 7], "a?": {"happened": False}})
    assert world.done("probe") == ["a"]
    if kind == "cancelled":  # it was stopped on purpose, and surely did nothing
        assert (world.status, world.failure.kind) == ("failed", "cancelled")
    else:
        assert (world.status, world.output, len(world.done())) == ("succeeded", 7, 2)


def test_what_is_safe_is_not_looked_into():
    world = looked({"a": [LOST, 7]}, repeat="safe")
    assert (world.status, world.done("probe")) == ("succeeded", [])


@pytest.mark.parametrize("found", [{"happened": None}, None, 7, "yes", {}])
def test_a_probe_that_cannot_tell_leaves_it_to_a_person(found):
    world = looked({"a": LOST, "a?": found})
    assert (world.status, len(world.made)) == ("waiting", 2)
    assert "it could not tell" in world.find(e.QuestionAsked)[0].text


def test_a_probe_that_cannot_tell_leaves_a_keyed_deed_to_its_key():
    world = looked({"a": [LOST, 7], "a?": {"happened": None}}, repeat="keyed")
    assert (world.status, world.output) == ("succeeded", 7)


@pytest.mark.parametrize("trouble", [LOST, LATER, Failure("unknown", "the network is down")])
def test_a_probe_that_fails_is_asked_again_patiently(trouble):
    world = looked({"a": LOST, "a?": [trouble, trouble, {"happened": True, "output": 3}]})
    assert (world.status, world.output, len(world.done("probe"))) == ("succeeded", 3, 3)
    first, second = (made.at for made in world.made[1:3])
    assert second > first


def test_a_probe_that_always_fails_leaves_it_to_a_person():
    world = looked({"a": LOST, "a?": Failure("unavailable", "the network is down")})
    assert (world.status, len(world.done("probe"))) == ("waiting", LOOKING.attempts)
    assert "the network is down" in world.find(e.QuestionAsked)[0].text


def test_a_probe_that_hangs_is_stopped_and_asked_again():
    world = looked({"a": LOST, "a?": [HANGS, {"happened": True, "output": 1}]})
    assert (world.status, world.output) == ("succeeded", 1)
    assert [each.deed for each in world.find(e.AttemptStopping)] == ["probe"]


def test_one_that_is_lost_again_and_again_is_not_done_again_for_ever_though_it_never_happened():
    world = looked({"a": LOST, "a?": {"happened": False}})
    assert len(world.done()) == MOST_LOSSES
    assert world.find(e.QuestionAsked)[0].about == "doubt"


def test_a_look_takes_no_place_of_a_try():
    plan = {"mode": "graph", "steps": [tool("a"), tool("b")]}
    world = looked({"a": LOST, "a?": HANGS, "b": 1}, plan, slots=1)
    assert "b" in world.done()


def test_a_step_may_be_stopped_while_it_is_looked_into():
    world = World({"steps": [tool("a")]}, {"a": LOST, "a?": HANGS}, repeat="never", probes=["x.y"], forgetful=True)
    world.start()
    world.step()
    assert world.commands()[0].deed == "probe"
    world.cancel()
    assert (world.run().status, world.find(e.StepEnded)[0].failure.kind) == ("cancelled", "in_doubt")


def test_e10_a_crash_in_the_middle_of_a_look_looks_again():
    world = World(
        {"steps": [tool("a")]}, {"a": LOST, "a?": [HANGS, {"happened": True}]}, repeat="never", probes=["x.y"]
    )
    world.start()
    world.step()
    world.crash()
    assert (world.run().status, len(world.done())) == ("succeeded", 1)
