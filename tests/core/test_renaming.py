"""A run whose plan calls by names that stand for others: the plan, its calls and its keys keep the old ones."""

import pytest
from driven import driven, tool

from perdure.core import events as e
from perdure.core.accepting import Look
from perdure.core.calls import Failure
from perdure.core.growth import Finish
from perdure.core.refusing import NotMapped, Over
from perdure.core.renaming import by_words
from perdure.core.turn import pending, status_of
from perdure.plan.toolbox import Toolbox
from perdure.testing.worlds import HANGS, LOST, World

ASK = {"id": "ok", "ask": "?"}


def new(name):
    """Whether it is what the old name stands for."""
    return name in {"new.tool", "new"}


def renamed(world, **said):
    world.send(e.NamesMapped(**(said or {"tools": {"x.y": "new.tool"}})))
    return world


def test_whoever_is_asked_about_a_call_is_the_one_that_is_meant():
    world = World(
        {"steps": [ASK, tool("a")]}, {"a": [LOST, 1]}, repeat=lambda call: "safe" if new(call.name) else "never"
    )
    renamed(world.run())
    world.answer(True)
    world.run()
    assert (world.status, [made.attempt for made in world.made]) == ("succeeded", [1, 2])
    assert {made.call.name for made in world.made} == {"x.y"}  # which the runner calls by its new name


def test_a_deed_that_was_begun_under_the_old_name_is_the_same_deed():
    plain, other = (World({"steps": [tool("a")]}, {"a": HANGS}, repeat="keyed").run() for _ in range(2))
    renamed(other)
    for world in (plain, other):
        world.crash()
    digests = [[each.call for each in world.find(e.AttemptStarted)] for world in (plain, other)]
    assert len(digests[0]) == 2
    assert digests[0] == digests[1]


def test_its_terms_are_those_of_the_new_tool():
    rules = World({"steps": [tool("a")]}, probes=["new.tool"], undo={"new.tool": ("id",)}).rules
    rules.lasts, rules.seconds, rules.knows = (
        new,
        lambda call: 3.0 if new(call.name) else None,
        lambda call: new(call.name),
    )
    world = World({"steps": [ASK, tool("a")]})
    world.rules = rules
    found = by_words(rules, renamed(world.run()).state.names)
    call = world.state.cells[""].scope.outline.traits(world.state.cells[""].node.children[1]).literal[0]
    assert (found.probes("x.y"), found.undo("x.y"), found.lasts("x.y")) == (True, ("id",), True)
    assert (found.seconds(call), found.knows(call), found.estimate(call, {}), found.toolbox()) == (3.0, True, {}, None)
    assert (rules.probes("x.y"), rules.knows(call)) == (False, False)


def test_a_strategy_and_a_plan_by_name_are_found_by_their_old_names():
    agent = {"id": "ag", "agent": "coder", "strategy": "old"}
    plans = {"new": {"steps": [tool("i")]}}
    strategies = {"new": lambda _: Finish(output="grown")}
    world = World({"steps": [ASK, agent, {"id": "p", "plan": "old"}]}, {"i": 5}, plans=plans, strategies=strategies)
    renamed(world.run(), strategies={"old": "new"}, plans={"old": "new"})
    world.answer(True)
    world.run()
    assert (world.status, world.output, world.exit_of("ag")) == ("succeeded", 5, "success")


def test_a_name_that_stands_for_one_that_is_not_there_is_not_there():
    world = World({"steps": [ASK, {"id": "p", "plan": "old"}]}, plans={"old": {"steps": [tool("i")]}})
    renamed(world.run(), plans={"old": "gone"})
    world.answer(True)
    assert world.exit_of("p") == "failure"


def test_a_revision_may_call_by_the_old_name():
    world = World({"steps": [ASK, tool("a")]}).run()
    world.rules.toolbox = lambda: Toolbox.of("new.tool")
    renamed(world)
    world.send(e.RunRevised(edits=({"insert": tool("b"), "after": "a"},)))
    renamed(world, plans={"p": "q"})
    assert world.state.rules.toolbox().tools.keys() >= {"x.y", "new.tool"}
    assert world.state.revision == 1


def test_limits_are_those_of_the_new_tool():
    steps = [tool(f"a{n}") for n in range(4)]
    plan = {"steps": [{"id": "g", "mode": "graph", "steps": steps}]}
    world = World(plan, dict.fromkeys(["a0", "a1"], HANGS), limits={"x.y": 0, "new.tool": 2}).run()
    assert not world.made
    assert world.state.hungry.keys() == {"x.y"}
    renamed(world)
    assert world.state.hungry.keys() == {"new.tool"}
    world.send(Look())
    assert len(pending(world.state)) == 2
    assert set(world.state.tools_at_work.values()) == {"new.tool"}


def test_two_lines_become_one_in_the_right_order():
    steps = [tool("a", priority=1), {"id": "b", "tool": "new.tool", "priority": 2}, tool("c", priority=3)]
    world = World({"steps": [{"id": "g", "mode": "graph", "steps": steps}]}, slots=0).run()
    renamed(world)
    world.slots = 1
    world.send(Look())
    world.run()
    assert world.done() == ["c", "b", "a"]


@pytest.mark.parametrize("said", [{}, {"tools": {"x.y": "x.y"}}, {"plans": {"a": "b", "b": "a"}}])
def test_what_cannot_be_is_refused_and_nothing_changes(said):
    world = World({"steps": [ASK]}).run()
    before = len(world.facts)
    with pytest.raises(NotMapped):
        renamed(world, **said) if said else world.send(e.NamesMapped())
    assert len(world.facts) == before
    assert not world.state.names.tools


def test_names_of_a_run_that_is_over_can_be_mapped_for_what_is_to_be_taken_back():
    world = driven([tool("a")], {"a": 1}, undo={"x.y": ()})
    renamed(world)
    assert (world.status, world.state.names.tool("x.y")) == ("succeeded", "new.tool")
    world.cancel(exit="rolled_back")
    world.run()
    assert world.status == "rolled_back"
    with pytest.raises(Over):
        world.pause()


# ------------------------------------------------------------------------------- who does not know a tool


def stranger(world):
    """Somebody without the tools takes the run over."""
    world.rules.knows, known = (lambda _: False), world.rules.knows
    return known


@pytest.mark.parametrize("repeat", ["safe", "keyed", "never"])
def test_who_does_not_know_a_tool_leaves_what_was_lost_to_somebody_who_does(repeat):
    world = World({"steps": [tool("a")]}, {"a": [HANGS, 1]}, repeat=repeat).run()
    known = stranger(world)
    world.crash()
    assert (status_of(world.state), world.events[-1].type, not world.state.questions) == (
        "running",
        "attempt_lost",
        True,
    )
    world.pause()
    world.resume()
    world.send(Look())
    assert (status_of(world.state), list(world.state.unsettled)) == ("running", ["a"])
    world.rules.knows = known
    world.fold()
    world.send(Look())
    assert (bool(world.state.questions), world.state.unsettled) == (repeat == "never", {})
    assert status_of(world.state) == ("waiting" if repeat == "never" else "running")


def test_a_look_that_was_lost_is_left_as_well():
    script = {"a": LOST, "a?": {"happened": True, "output": 4}}
    world = World({"steps": [tool("a")]}, script, repeat="never", probes=["x.y"]).start()
    world.step()
    assert pending(world.state)[0].deed == "probe"
    known = stranger(world)
    world.crash()
    assert (status_of(world.state), len(world.state.questions)) == ("running", 0)
    world.rules.knows = known
    world.send(Look())
    world.run()
    assert (world.status, world.output) == ("succeeded", 4)


def test_what_a_person_says_about_a_doubt_is_heard_by_whoever_knows_the_tool():
    world = World({"steps": [tool("a")]}, {"a": LOST}, repeat="never", undo={"x.y": ()}).run()
    known = stranger(world)
    world.answer("undo")
    assert (status_of(world.state), list(world.state.unsettled)) == ("running", ["a"])
    world.rules.knows = known
    world.send(Look())
    world.run()
    assert world.find(e.EffectFound)
    assert world.failure.kind == "in_doubt"
    assert [made.deed for made in world.made] == ["do", "undo"]


def test_a_step_that_is_cancelled_meanwhile_is_left_no_more():
    world = World({"steps": [tool("a")]}, {"a": HANGS}).run()
    stranger(world)
    world.crash()
    world.cancel("a")
    assert (world.state.unsettled, world.status) == ({}, "failed")


def test_what_takes_back_and_was_lost_is_left_and_not_given_up():
    step = tool("a", undo={"tool": "back.x"})
    world = World({"steps": [step, tool("b")]}, {"b": HANGS, "a!": HANGS}, repeat="never").run()
    world.cancel(exit="rolled_back")
    world.run()
    known = stranger(world)
    world.crash()
    assert not world.find(e.EffectKept)
    assert status_of(world.state) == "stopping"
    world.rules.knows = known
    world.send(Look())
    assert world.find(e.EffectKept)


def test_a_failure_that_leaves_no_doubt_is_dealt_with_by_anybody():
    world = World({"steps": [tool("a")]}, {"a": Failure("logic", "no")})
    stranger(world)
    assert world.run().status == "failed"
