"""E14: a loop that gets nowhere is stopped after three rounds; one that hears something new is not."""

import pytest
from driven import NO, driven, tool

from perdure.core.deciding import Deciding, Moment
from perdure.core.growth import Finish, Move
from perdure.core.turn import settle
from perdure.testing.worlds import World

LOOP = [tool("fix", max_visits=20), tool("tests", on={"failure": "fix"})]


def rounds(world, step="fix"):
    return world.done().count(step)


def test_a_loop_in_which_everything_comes_out_the_same_asks_after_three_rounds():
    world = driven(LOOP, {"fix": "patched", "tests": NO})
    assert (world.status, rounds(world)) == ("waiting", 3)
    (question,) = world.state.questions.values()
    assert (question.about, question.choices) == ("recovery", ("again", "fail"))
    making = Deciding(world.state, Moment(world.now))
    settle(making, world.state.root)
    assert making.events == [], "it waits"
    assert "gets nowhere" in question.text


@pytest.mark.parametrize("forgetful", [False, True])
@pytest.mark.parametrize(("answers", "status", "count"), [(["fail"], "failed", 3), (["again", "fail"], "failed", 6)])
def test_a_person_may_let_it_go_round(answers, status, count, forgetful):
    world = World({"steps": LOOP}, {"fix": "patched", "tests": NO}, forgetful=forgetful).start().run()
    for answer in answers:
        world.answer(answer)
        world.run()
    assert (world.status, world.failure.kind, rounds(world)) == (status, "stalled", count)


def test_again_is_worth_it_if_something_changes():
    world = World({"steps": LOOP}, {"fix": "patched", "tests": [NO, NO, NO, 1]}).start().run()
    world.answer("again")
    assert world.run().status == "succeeded"


def test_what_changes_with_each_round_is_progress():
    world = driven(LOOP, {"fix": list(range(30)), "tests": NO})
    assert (world.status, world.failure.kind, rounds(world)) == ("failed", "stalled", 20)
    assert "20 visits" in world.failure.message


def test_two_that_take_turns_get_nowhere_either():
    """Edits that are made and unmade, over and over."""
    world = driven(LOOP, {"fix": ["there", "back"] * 10, "tests": NO})
    assert (world.status, rounds(world)) == ("waiting", 6)


@pytest.mark.parametrize("pause", [{"wait": "10s"}, {"wait": {"signal": "go"}}, {"ask": "Is it there?"}])
def test_who_polls_is_not_stuck(pause):
    plan = {"steps": [{"id": "pause", "max_visits": 8, **pause}, tool("look", on={"failure": "pause"})]}
    world = World(plan, {"look": NO}).start()
    for _ in range(8):
        world.run()
        if "ask" in pause:
            world.answer(True)
        elif world.state.waiting.get("go"):
            world.signal("go")
        world.run()
    assert (rounds(world, "look"), world.failure.kind) == (8, "stalled")


def test_a_plan_may_say_what_a_stall_leads_to():
    group = {"id": "g", "steps": LOOP, "recovery": {"stalled": ["continue"]}}
    world = driven([group, tool("after")], {"fix": 1, "tests": NO})
    assert (world.status, world.done()[-1], rounds(world)) == ("succeeded", "after", 3)
    world = driven({"steps": LOOP, "recovery": {"stalled": ["fail"]}}, {"fix": 1, "tests": NO})
    assert (world.status, world.failure.kind, rounds(world)) == ("failed", "stalled", 3)


def test_a_group_that_asks_keeps_its_locks_and_goes_on_with_them():
    world = World({"steps": [{"id": "g", "locks": ["door"], "steps": LOOP}]}, {"fix": 1, "tests": [NO, NO, NO, 1]})
    world.start().run()
    assert list(world.state.locks) == ["door"]
    world.answer("again")
    assert world.run().status == "succeeded"


def test_a_nested_group_that_fails_by_it_may_be_told_to():
    world = World({"steps": [{"id": "g", "steps": LOOP}, tool("after")]}, {"fix": 1, "tests": NO}).start().run()
    world.answer("fail")
    assert (world.run().status, world.failure.kind) == ("failed", "stalled")


def test_a_loop_of_groups_is_seen_by_what_they_give():
    steps = [{"id": "g", "max_visits": 9, "parallel": [tool("a"), tool("b")]}, tool("tests", on={"failure": "g"})]
    assert rounds(driven(steps, {"a": 1, "b": "x" * 20_000, "tests": NO}), "a") == 3


def test_a_step_that_leads_back_to_itself():
    assert rounds(driven([tool("a", max_visits=9, on={"failure": "a"})], {"a": NO}), "a") == 3


def thinker(view):
    return Finish("success", view.born) if view.born >= 8 else Move([{"tool": "x.y", "with": {"q": 1}}])


def test_an_agent_that_does_the_same_again_and_again_is_stalled():
    plan = {"steps": [{"id": "ag", "agent": "x", "recovery": {"stalled": ["fail"]}}]}
    world = driven(plan, lambda command: 1, strategies={"agent:x": thinker})
    assert (world.status, world.failure.kind, len(world.made)) == ("failed", "stalled", 3)
    world = driven(plan, lambda command: command.step, strategies={"agent:x": thinker})
    assert (world.status, len(world.made)) == ("succeeded", 8)


def test_a_bound_that_ends_the_loop_anyway_ends_it():
    world = driven([tool("a", max_visits=3, on={"failure": "a", "exhausted": "b"}), tool("b")], {"a": NO})
    assert world.done() == ["a", "a", "a", "b"]
