"""E8 E10: a run that is over goes on with a new visit of what failed."""

import pytest
from driven import NO, tool
from laws import check_journal, check_state, snapshot

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.growth import Finish, Move
from perdure.core.refusing import NoStep, Over, Refused
from perdure.testing.worlds import HANGS, LOST, Takes, World


def over(plan, script, **dials):
    """A run that came to its end."""
    world = World({"steps": plan} if isinstance(plan, list) else plan, script, forgetful=True, **dials).run()
    assert world.state.ended is not None
    return world


def again(world, step="", **script):
    """Open it again, with other answers; at each turn the fold says the same."""
    world.script = {**world.script, **script}
    world.retry(step)
    while world.step():
        live = snapshot(world.state, world.now)
        assert snapshot(world.fold(), world.now) == live
        check_state(world.state)
    check_journal(world.events)
    return world


def test_in_a_graph_a_step_that_had_worked_comes_again_alone_if_it_is_chosen():
    graph = [tool("a"), tool("b", needs=["a"]), tool("c", needs=["b"]), tool("d", needs=["c"])]
    world = again(over({"mode": "graph", "steps": graph}, {"c": NO}), "a", a=2, c=3)
    assert (world.status, world.done()) == ("succeeded", ["a", "b", "c", "a", "c", "d"])


def test_the_failed_step_is_visited_again_and_what_worked_stays():
    world = again(over([tool("a"), tool("b"), tool("c")], {"b": NO}), b=2)
    assert (world.status, world.done()) == ("succeeded", ["a", "b", "b", "c"])
    [event] = world.find(e.RunReopened)
    assert event.step == "b"
    assert [each.visit for each in world.find(e.AttemptStarted) if each.step == "b"] == [1, 2]


def test_groups_go_on_with_the_bodies_they_had():
    plan = [tool("a"), {"id": "g", "steps": [tool("b"), {"id": "h", "steps": [tool("c"), tool("d")]}]}]
    world = again(over(plan, {"d": NO}), d=4)
    assert world.done() == ["a", "b", "c", "d", "d"]
    assert [event.step for event in world.find(e.StepEntered)].count("g") == 1


def test_in_a_graph_what_was_cut_off_or_skipped_comes_again():
    long = {"id": "long", "steps": [tool("one"), tool("two")]}
    plan = {
        "mode": "graph",
        "steps": [tool("a"), tool("b", needs=["a"]), long, tool("z", needs=["b", "long"]), tool("ok")],
    }
    world = over(plan, {"a": Takes(1, NO), "two": HANGS})
    assert dict(world.exits()) == {
        "ok": "success",
        "one": "success",
        "a": "failure",
        "two": "cancelled",
        "long": "cancelled",
    }
    again(world, a=1, two=2)
    assert (world.status, world.done()) == ("succeeded", ["ok", "one", "a", "a", "two", "b", "z"])


def test_what_was_skipped_because_of_a_failure_is_looked_at_again():
    plan = {
        "mode": "graph",
        "join": {"tolerate": 0},
        "steps": [tool("a"), tool("b", needs=["a"]), tool("c", needs=["b"]), tool("d", when="false")],
    }
    world = over(plan, {"a": NO})
    assert world.exit_of("c") == "skipped"
    assert again(world, a=1).output == {"a": 1, "b": None, "c": None, "d": None}
    assert world.done() == ["a", "a", "b", "c"]


def test_items_of_a_map_and_steps_of_plans():
    body = [tool("x"), tool("y", **{"with": {"value": "${item}"}})]
    plan = [
        {"id": "m", "map": [1, 2, 3], "steps": body, "join": "settled", "accept": ["output[1] == 2"]},
        {"id": "p", "plan": "named"},
    ]
    world = over(
        [plan[1], {**plan[0], "join": "all", "limit": 1}], {"m/1[1].y": NO}, plans={"named": {"steps": [tool("n")]}}
    )
    again(world, **{"m/1[1].y": 2})
    assert (world.status, world.output) == ("succeeded", [1, 2, 3])
    assert world.done() == ["p/1.n", "m/1[0].x", "m/1[0].y", "m/1[1].x", "m/1[1].y", "m/1[1].y", "m/1[2].x", "m/1[2].y"]


def test_one_visit_beyond_the_bound():
    world = over([tool("a", max_visits=2, on={"failure": "a"})], {"a": NO})
    assert world.failure.kind == "stalled"
    again(world)
    assert [made.visit for made in world.made] == [1, 2, 3]
    assert (world.status, world.failure.kind) == ("failed", "stalled")
    assert again(world, a=1).status == "succeeded"


def test_a_step_may_be_named():
    world = over([tool("a"), tool("b"), tool("c")], {"c": NO})
    assert again(world, "a", c=1).done() == ["a", "b", "c", "a", "b", "c"]


def test_a_step_inside_a_group_that_went_well_may_be_named():
    world = over([{"id": "g", "steps": [tool("a"), tool("b")]}, tool("c")], {"c": NO})
    assert again(world, "b", c=1).done() == ["a", "b", "c", "b", "c"]


def test_a_group_that_failed_by_itself_is_entered_anew():
    world = over([{"id": "g", "steps": [tool("a")], "accept": ["output == 2"]}], {"a": 1})
    assert again(world, a=2).status == "succeeded"
    assert world.done() == ["a", "a"]


def test_a_cancelled_run_goes_on_where_it_was():
    plan = {
        "steps": [
            tool("a"),
            {
                "id": "g",
                "parallel": [
                    tool("b"),
                    {"id": "q", "ask": "Well?"},
                    {"id": "w", "wait": "5s"},
                    {"id": "l", "locks": ["x"], "steps": [tool("c")]},
                ],
            },
            tool("z"),
        ]
    }
    world = World(plan, {"b": HANGS, "c": HANGS}, forgetful=True).run()
    world.cancel()
    world.run()
    assert world.status == "cancelled"
    again(world, b=1, c=2)
    assert world.status == "waiting"
    world.answer(True)
    assert (world.run().status, world.done()) == ("succeeded", ["a", "b", "c", "z"])


def test_a_run_that_was_too_late_goes_on_without_a_limit():
    world = World({"steps": [tool("a")]}, {"a": HANGS}, forgetful=True).start(due=5).run()
    assert world.failure.kind == "timeout"
    world.now += 3_600_000
    assert again(world, a=1).status == "succeeded"


def test_time_stands_still_while_the_run_is_over():
    world = (
        World(
            {"steps": [{"id": "g", "timeout": "10s", "steps": [tool("a"), tool("b")]}]},
            {"a": Takes(4, NO)},
            forgetful=True,
        )
        .start(due=60)
        .run()
    )
    world.now += 3_600_000
    world.script = {"a": HANGS}
    world.retry()
    assert world.state.wake_at == world.now + 6000
    world.run()
    assert (world.failure.kind, world.state.ended.cause) == ("timeout", "g")


@pytest.mark.parametrize(("repeat", "status"), [("never", "waiting"), ("keyed", "succeeded"), ("safe", "succeeded")])
def test_e10_one_that_was_cut_off_in_doubt_is_not_done_blindly_again(repeat, status):
    plan = {"mode": "graph", "steps": [tool("pay"), tool("b")]}
    world = over(plan, {"pay": HANGS, "b": Takes(1, NO)}, repeat=repeat)
    again(world, pay=1, b=1)
    assert world.status == status
    visits = [event.visit for event in world.find(e.AttemptStarted) if event.step == "pay"]
    assert visits == {"never": [1], "keyed": [1, 1], "safe": [1, 2]}[repeat]
    if repeat == "never":
        world.answer("happened")
        assert world.run().status == "succeeded"


def test_a_doubt_is_asked_about_again_under_another_name():
    plan = {"mode": "graph", "steps": [tool("pay"), tool("b")]}
    world = over(plan, {"pay": LOST, "b": Takes(1, NO)}, repeat="never")
    again(world, b=1)
    assert [event.question for event in world.find(e.QuestionAsked)] == ["q_pay_1_doubt1", "q_pay_1_doubt1_again"]


def test_one_that_was_given_up_is_a_new_deed():
    world = World({"steps": [tool("pay")]}, {"pay": [LOST, 1]}, repeat="never", forgetful=True).run()
    world.answer("give_up")
    assert again(world).status == "succeeded"
    assert [made.visit for made in world.made] == [1, 2]


def test_locks_are_taken_again_from_the_outside_in():
    inner = {"id": "in", "locks": ["y"], "steps": [tool("a")]}
    world = over([{"id": "out", "locks": ["x"], "steps": [inner]}], {"a": NO})
    world.locked = frozenset({"x"})
    world.script = {"a": 1}
    world.retry()
    assert world.state.locks == {}
    world.locked = frozenset()
    world.pass_time(0)
    assert sorted(world.state.locks) == ["x", "y"]
    assert world.run().status == "succeeded"


def test_a_grown_agent_goes_on():
    def strategy(view):
        if view.first:
            return Move(add=[tool("x"), tool("x")])
        return None if view.live else Finish(output=[view.child("s1").output, view.child("s2").output])

    plan = {"mode": "graph", "steps": [{"id": "ag", "agent": "coder"}, tool("b")]}
    world = over(plan, {"ag/1.1": 1, "ag/1.2": HANGS, "b": Takes(1, NO)}, strategies={"agent:coder": strategy})
    again(world, b=3, **{"ag/1.2": 2})
    assert world.output == {"ag": [1, 2], "b": 3}


def test_what_cannot_be_opened_again():
    world = World({"steps": [tool("a"), tool("b")]}, {"a": HANGS}).start()
    with pytest.raises(Refused, match="not over"):
        world.retry()
    world.send(e.AttemptEnded(step="a", exit="failure", failure=Failure("logic", "no")))
    for step in ("b", "nowhere"):
        with pytest.raises(NoStep):
            world.retry(step)
    with pytest.raises(Over):
        world.signal("x")
    done = World({"steps": [tool("a")]}).run()
    with pytest.raises(Refused, match="succeeded"):
        done.retry()


def test_a_step_that_was_forgotten_cannot_be_named():
    group = {"id": "g", "max_visits": 2, "steps": [tool("a"), tool("b", on={"success": "g"}), tool("c")]}
    world = over([group], {"a": [1, NO], "b": 1})
    assert world.state.cells["b"].status == "over"
    with pytest.raises(NoStep):
        world.retry("b")


def test_a_plan_whose_output_cannot_be_made_ends_again():
    world = over({"steps": [tool("a")], "output": "${steps.a.output.x}"}, {"a": 1})
    assert again(world).status == "failed"
    assert again(world, "a", a={"x": 5}).output == 5


def test_it_may_be_opened_again_after_it_ended_while_paused():
    world = World({"steps": [tool("a")]}, {"a": HANGS}, forgetful=True).start()
    world.pause()
    world.send(e.AttemptEnded(step="a", exit="failure", failure=NO))
    assert (world.status, again(world, a=1).status) == ("failed", "succeeded")


@pytest.mark.parametrize("step", ["", "g"])
def test_a_group_that_was_too_late_settles_the_doubts_in_it_before_it_goes_on(step):
    plan = [{"id": "g", "timeout": "10s", "steps": [tool("a"), tool("pay"), tool("c")]}]
    world = over(plan, {"pay": HANGS}, repeat="never")
    assert world.state.ended.cause == "g"
    again(world, step, pay=1)
    assert world.status == "waiting", "nobody knows whether it was paid"
    world.answer("happened")
    assert (world.run().status, world.done()) == ("succeeded", ["a", "c"])
    assert [each.visit for each in world.find(e.AttemptStarted) if each.step == "pay"] == [1]


def test_a_step_in_a_group_that_was_too_late_is_not_too_late_again():
    world = over([{"id": "g", "timeout": "10s", "steps": [tool("a"), tool("b")]}], {"b": HANGS})
    assert (again(world, "b", b=1).status, world.done()) == ("succeeded", ["a", "b"])
