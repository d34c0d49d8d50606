"""E3: locks, slots and limits of tools."""

import pytest
from driven import LATER, NO, driven, tool

from perdure.core import events as e
from perdure.testing.worlds import HANGS, LOST, Takes, World


def graph(*steps, **more):
    return {"mode": "graph", "steps": list(steps), **more}


def at_work(world):
    return sorted(world.state.flying)


# ------------------------------------------------------------------------------- slots


def test_only_so_many_attempts_are_under_way_and_the_important_begin_first():
    plan = graph(tool("a"), tool("b"), tool("c", priority=1), tool("d"))
    assert driven(plan, slots=1).done() == ["c", "a", "b", "d"]
    world = World(plan, dict.fromkeys("abcd", HANGS), slots=2, forgetful=True).run()
    assert at_work(world) == ["a", "c"]
    world.slots = 3
    world.pass_time(0)
    assert at_work(world) == ["a", "b", "c"]


def test_a_tool_has_a_limit_of_its_own():
    plan = graph(
        tool("a"),
        tool("b"),
        {"id": "o", "tool": "x.other"},
        {"id": "d", "decide": {"tool": "x.y"}, "choices": ["z"], "on": {"z": "next"}},
    )
    world = World(plan, dict.fromkeys("abod", HANGS), limits={"x.y": 1}, forgetful=True).run()
    assert at_work(world) == ["a", "o"]
    assert driven(plan, {"d": "z"}, limits={"x.y": 1}).done() == ["a", "o", "b", "d"]


def test_the_line_is_the_same_after_a_crash():
    plan = graph(tool("a", retry={"wait": 0}), tool("b"), tool("c"), tool("d", priority=1, retry={"wait": 0}))
    world = driven(plan, {"a": [LATER, 1], "d": [LOST, LATER, 1]}, slots=1)
    assert world.done() == ["d", "d", "d", "a", "b", "c", "a"]


# ------------------------------------------------------------------------------- rule 15: locks


def test_rule_15_who_holds_a_lock_keeps_the_others_out():
    plan = graph(tool("a", locks=["x", "y"]), tool("b", locks=["y"]), tool("c", locks=["x"]), tool("d"))
    world = World(plan, {"a": Takes(5), "b": Takes(1), "c": Takes(1)}, forgetful=True).start()
    assert at_work(world) == ["a", "d"]
    world.run()
    assert world.status == "succeeded"
    assert not world.state.locks


def test_a_lock_is_held_between_tries_to_the_end_of_the_visit():
    plan = graph(tool("a", locks=["x"], retry={"wait": "1m"}), tool("b", locks=["x"]))
    world = World(plan, {"a": [LATER, 1]}, forgetful=True).start()
    world.step()
    assert at_work(world) == []
    assert world.run().done() == ["a", "a", "b"]


@pytest.mark.parametrize("forgetful", [False, True])
def test_a_lock_that_is_free_is_not_kept_for_one_whose_tool_has_no_room(forgetful):
    plan = graph(other("a", locks=["x"]), tool("b", locks=["x"]), other("c", locks=["x"]), tool("d"))
    script = {"a": Takes(5), "c": HANGS, "d": HANGS}
    world = World(plan, script, limits={"x.y": 1}, forgetful=forgetful).run()
    assert at_work(world) == ["c", "d"]


@pytest.mark.parametrize("forgetful", [False, True])
def test_nor_for_one_whose_tool_has_no_room_since_a_moment_ago(forgetful):
    now = tool("now", needs=["a"], priority=1)
    plan = graph(other("a", locks=["x"]), tool("b", locks=["x"]), other("c", locks=["x"]), now)
    script = {"a": Takes(5), "c": HANGS, "now": HANGS}
    world = World(plan, script, limits={"x.y": 1}, forgetful=forgetful).run()
    assert at_work(world) == ["c", "now"]


def test_who_waits_for_a_tool_alone_stands_in_line_for_it():
    plan = graph(other("a", locks=["x"]), tool("b", locks=["x"]), other("c"))
    world = World(plan, {"a": HANGS, "c": HANGS}, limits={"x.y": 1}, forgetful=False).run()
    world.limits = {"x.y": 0}
    world.send(e.AttemptEnded(step="a", exit="success"))
    assert [*world.state.hungry] == ["x.y"], "whoever has room tells those in its line, and nobody else"


def other(id_, **more):
    return {"id": id_, "tool": "x.other", **more}


def test_other_runs_may_hold_a_lock():
    world = World({"steps": [tool("a", locks=["x"])]}, forgetful=True)
    world.locked = frozenset({"x"})
    world.start()
    assert (at_work(world), world.status) == ([], "running")
    world.locked = frozenset()
    world.pass_time(0)
    assert at_work(world) == ["a"]


def test_a_group_takes_its_locks_before_its_steps_begin_and_they_may_use_them():
    group = {"id": "g", "locks": ["x"], "steps": [tool("a", locks=["x"]), tool("b")]}
    plan = graph(group, tool("c", locks=["x"]))
    world = World(plan, {"a": Takes(1), "b": Takes(1)}, forgetful=True).run()
    assert world.done() == ["a", "b", "c"]
    assert len(world.find(e.LocksTaken)) == 1


@pytest.mark.parametrize(
    "step",
    [
        {"id": "g", "parallel": [tool("a")]},
        {"id": "g", "map": [1], "steps": [tool("a")]},
        {"id": "g", "plan": {"steps": [tool("a")]}},
        {"id": "g", "decide": "'odd'", "choices": ["odd"], "on": {"odd": "next"}},
        {"id": "g", "agent": "coder"},
    ],
)
def test_all_kinds_of_steps_wait_for_their_locks(step):
    world = World({"steps": [{**step, "locks": ["x"]}]}, forgetful=True)
    world.locked = frozenset({"x"})
    world.start()
    assert world.find(e.AttemptStarted, e.StepEnded) == []
    world.locked = frozenset()
    world.pass_time(0)
    assert world.run().status == "succeeded"


def test_a_step_that_waits_for_a_person_holds_none():
    plan = graph({"id": "q", "ask": "Well?", "locks": ["x"]}, tool("a", locks=["x"]))
    assert driven(plan).done() == ["a"]
    plan = graph(tool("a", locks=["x"], priority=1), tool("b", locks=["x"]))
    world = driven(plan, {"a": [LOST, 1]}, repeat="never")
    assert (world.done(), world.status) == (["a", "b"], "waiting")
    world.answer("not_happened")
    assert world.run().status == "succeeded"


def test_one_who_waits_for_two_locks_does_not_hold_up_one_who_waits_for_one():
    plan = graph(
        tool("l", locks=["y"], priority=3),
        tool("e", locks=["x"], priority=2),
        tool("a", locks=["x", "y"], priority=1),
        tool("b", locks=["x"]),
    )
    world = World(plan, {"l": HANGS, "e": Takes(1), "b": HANGS}, forgetful=False).run()
    assert at_work(world) == ["b", "l"]


def test_the_important_get_a_lock_first():
    plan = graph(tool("a", locks=["x"]), tool("b", locks=["x"]), tool("c", locks=["x"], priority=1), limit=4)
    assert driven(graph(tool("z", locks=["x"], priority=9), *plan["steps"]), {"z": Takes(1)}).done() == [
        "z",
        "c",
        "a",
        "b",
    ]


def test_whoever_is_stopped_in_the_line_begins_no_more():
    plan = graph(
        tool("a", locks=["x"]),
        tool("b", locks=["x"]),
        {"id": "g", "locks": ["x"], "steps": [tool("c")]},
        join="settled",
    )
    world = World(plan, {"a": HANGS}, forgetful=False).start()
    world.cancel("b")
    world.cancel("g")
    world.send(e.AttemptEnded(step="a", exit="failure", failure=NO))
    assert world.run().done() == []
    assert world.exits() == [("b", "cancelled"), ("g", "cancelled"), ("a", "failure")]
