"""R18 E17: a step that kills its process again and again is not tried for ever, and the rest goes on."""

import pytest
from driven import driven, tool

from perdure.core.quarantine import MOST_LOSSES
from perdure.testing.worlds import HANGS, LOST, World


@pytest.mark.parametrize("repeat", ["safe", "keyed"])
def test_r18_a_step_whose_process_dies_three_times_is_asked_about(repeat):
    world = driven([tool("a")], {"a": LOST}, repeat=repeat)
    assert len(world.made) == MOST_LOSSES
    [question] = world.state.questions.values()
    assert (question.about, "died 3 times" in question.text) == ("doubt", True)


def test_what_a_person_lets_go_on_is_tried_once_more():
    world = driven([tool("a")], {"a": [LOST, LOST, LOST, LOST, 7]})
    world.answer("not_happened")
    assert len(world.run().made) == MOST_LOSSES + 1
    world.answer("not_happened")
    assert world.run().output == 7


def test_the_rest_goes_on():
    world = driven({"mode": "graph", "join": "settled", "steps": [tool("a"), tool("b")]}, {"a": LOST, "b": 2})
    assert (world.status, world.exit_of("b")) == ("waiting", "success")
    world.answer("give_up")
    assert world.run().status == "succeeded"


def killed_by(world, culprit, most=50):
    """Let the process die whenever the culprit is at work, and everything else in it with it."""
    for _ in range(most):
        commands = world.commands()
        if not commands:
            return
        if any(each.step == culprit for each in commands):
            world.crash()
        else:
            world.perform(commands[0])


@pytest.mark.parametrize("forgetful", [False, True])
def test_r18_those_that_only_stood_beside_are_not_blamed(forgetful):
    steps = [tool(each) for each in ("a", "b", "c", "d")]
    world = World({"mode": "graph", "join": "settled", "steps": steps}, {"b": HANGS}, forgetful=forgetful).start()
    killed_by(world, "b")
    assert [each.step for each in world.state.questions.values()] == ["b"]
    assert {each: world.exit_of(each) for each in "acd"} == dict.fromkeys("acd", "success")


def test_a_process_that_is_ended_while_its_run_is_paused_is_nobodys_fault():
    world = World({"steps": [tool("a")]}, {"a": HANGS}).start()
    for _ in range(5):
        world.pause()
        world.crash()
        world.resume()
    assert not world.state.questions
    assert world.commands()
