"""E4 E9: a run goes its own way from where another one stood."""

import pytest
from driven import NO, tool
from laws import check_journal, snapshot

from perdure.core import events as e
from perdure.core.accepting import Look
from perdure.core.calls import Approval, Outcome
from perdure.core.refusing import Over, Refused
from perdure.core.turn import replay
from perdure.core.values import Value
from perdure.testing.worlds import HANGS, Takes, World


def forked(world, at, after=0, **changes):
    """A world that goes its own way after so many facts of another one, some seconds later."""
    world.facts, world.state = world.facts[:at], None
    world.state = replay("r_2", world.rules, ((e.decode(kind, body), when) for kind, body, when in world.facts))
    world.now += after * 1000
    slots, world.slots = world.slots, 0
    world.send(e.RunForked(of="r_1", seq=at, at=world.facts[-1][2], **changes))
    world.slots = slots
    live = snapshot(world.state, world.now)
    assert snapshot(world.fold(), world.now) == live
    return world


def going_on(world, **script):
    world.script = {**world.script, **script}
    if world.state.ended is None:
        world.send(Look())
    world.run()
    check_journal(world.events)
    return world


def place(world, fact, **about):
    """How many facts there are up to the first that is meant."""
    found = (n for n, each in enumerate(world.events, 1) if isinstance(each, fact) and fits(each, about))
    return next(found)


def fits(event, about):
    return all(getattr(event, name) == value for name, value in about.items())


def test_what_was_done_is_not_done_again():
    world = World({"steps": [tool("a"), tool("b"), tool("c")]}, {"b": NO}).run()
    world = going_on(forked(world, place(world, e.AttemptEnded, step="a")), b=2)
    assert (world.status, world.done()) == ("succeeded", ["a", "b", "b", "c"])
    assert world.state.forked.of == "r_1"


def test_what_was_under_way_is_in_doubt():
    world = World({"steps": [tool("a"), tool("b")]}, {"b": HANGS}, repeat="never").run()
    world = going_on(forked(world, len(world.facts)))
    [question] = world.state.questions.values()
    assert (question.about, question.step) == ("doubt", "b")
    world.answer("happened")
    assert going_on(world).status == "succeeded"
    assert not world.state.cells["b"].work.losses


def test_a_look_that_was_under_way_is_taken_again():
    world = World({"steps": [tool("a")]}, {"a": Takes(9), "a?": HANGS}, repeat="never", probes=["x.y"]).start()
    world.crash()
    assert world.commands()[0].deed == "probe"
    world = going_on(forked(world, len(world.facts)), **{"a?": {"happened": True, "output": 3}})
    assert (world.status, world.output) == ("succeeded", 3)


def test_budgets_are_not_filled_again():
    plan = {
        "budget": {"tokens": 100},
        "steps": [tool("a", estimate={"tokens": 60}), tool("b", estimate={"tokens": 60})],
    }
    world = World(plan, {"a": HANGS}).run()
    world = going_on(forked(world, len(world.facts)), a=1)
    assert world.failure.kind == "budget"


def test_effects_of_the_other_run_are_left_to_it():
    steps = [tool("a", undo={"tool": "un.do"}), tool("b", undo={"tool": "un.do"})]
    world = World({"steps": steps}, {"b": NO}).run()
    world = going_on(forked(world, place(world, e.StepEnded, step="a")), b=2)
    world.cancel(exit="rolled_back") if world.state.ended is None else world.send(e.RunStopping(exit="rolled_back"))
    world.run()
    assert world.done("undo") == ["b"]
    assert world.failure.detail == [{"step": "a", "kind": "denied", "message": "done by r_1; roll it back there"}]


def test_what_was_being_taken_back_there_is_not_taken_back_here():
    world = World({"steps": [tool("a", undo={"tool": "un.do"}), tool("b")]}, {"b": HANGS, "a!": HANGS}).run()
    world.cancel(exit="rolled_back")
    world.step()
    assert world.commands()[0].deed == "undo"
    world = going_on(forked(world, len(world.facts)))
    assert (world.status, [each.step for each in world.find(e.EffectKept)]) == ("rolled_back", ["a"])


def test_nobody_is_asked_whether_to_take_back_what_another_run_did():
    asking = Outcome(approval=Approval("d1", "may it?"))
    world = World({"steps": [tool("a", undo={"tool": "un.do"}), tool("b")]}, {"b": HANGS, "a!": asking}).run()
    world.cancel(exit="rolled_back")
    world.run()
    assert world.state.questions
    world = going_on(forked(world, len(world.facts)))
    assert (world.status, world.state.questions) == ("rolled_back", {})


def test_a_visit_that_the_other_run_began_is_its_deed():
    world = World({"steps": [tool("a", undo={"tool": "un.do"})]}, {"a": HANGS}).run()
    world = going_on(forked(forked(world, len(world.facts)), len(world.facts)), a=1)
    assert [each.of for each in world.state.effects.values()] == ["r_1"]


def test_inputs_change_from_there_on():
    plan = {
        "inputs": {"n": {"default": 1}},
        "steps": [tool("a", **{"with": {"value": "${inputs.n}"}}), tool("b", **{"with": {"value": "${inputs.n}"}})],
        "output": ["${steps.a.output}", "${steps.b.output}", "${run.goal}"],
    }
    world = World(plan).run()
    world = forked(world, place(world, e.AttemptEnded, step="a"), inputs=Value({"n": 2}), goal="two")
    assert going_on(world).output == [1, 2, "two"]


def test_its_clock_has_stood_still():
    world = World({"steps": [tool("a", timeout="60s"), tool("b")]}, {"a": Takes(50), "b": NO}).start(due=60)
    world.run()
    world = going_on(forked(world, place(world, e.AttemptEnded, step="a"), after=1_000_000), b=1)
    assert world.status == "succeeded"


def test_a_wait_that_was_over_long_ago_is_over():
    world = World({"steps": [{"id": "w", "wait": "1h"}]}).start()
    world = forked(world, len(world.facts), after=3_000)
    assert world.state.wake_at == world.now + 600_000
    world = forked(world, len(world.facts), after=3_000)
    assert world.status == "succeeded"


@pytest.mark.parametrize("wait", [{"signal": "bell", "for": "1h"}, {"until": "2030-01-01T00:00:00Z"}])
def test_a_signal_and_a_moment_are_waited_for_as_before(wait):
    world = World({"steps": [{"id": "w", "wait": wait}]}).start()
    before = world.state.wake_at
    world = forked(world, len(world.facts), after=3_000)
    assert world.state.wake_at == before + (3_000_000 if "signal" in wait else 0)


def test_the_fork_of_a_paused_run_goes_on():
    world = World({"steps": [{"id": "w", "wait": "1h"}]}).start()
    world.pause()
    world = forked(world, len(world.facts), after=3_000)
    assert world.state.wake_at == world.now + 3_600_000


def test_a_step_that_was_about_to_ask_asks_before_it_is_late():
    plan = {"steps": [{"id": "q", "ask": "May I?", "deadline": "0s", "default": True}]}
    world = World(plan).start()
    world = forked(world, place(world, e.StepEntered, step="q"))
    assert world.find(e.QuestionAsked)
    assert going_on(world).status == "succeeded"


def test_only_another_run_is_gone_away_from():
    world = World({"steps": [tool("a")]}, {"a": HANGS}).run()
    with pytest.raises(Refused, match="fork of itself"):
        world.send(e.RunForked(of="r_1", seq=1, at=1))
    world = World({"steps": [tool("a")]}).run()
    with pytest.raises(Over):
        world.send(e.RunForked(of="r_0", seq=1, at=1))
