"""E1 E17: how a step is entered, or passed by."""

import pytest
from driven import NO, driven, tool

from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.core.growth import Finish
from perdure.testing.worlds import HANGS, Takes, World

# ------------------------------------------------------------------------------- rule 5: when


def test_rule_5_a_false_condition_skips_without_a_visit():
    world = driven(
        [tool("a", when="inputs.x > 1"), tool("b", **{"with": {"value": "${steps.a.output}"}})], inputs={"x": 1}
    )
    assert world.exits() == [("a", "skipped"), ("b", "success")]
    assert "a" not in world.state.visits
    assert world.output is None


@pytest.mark.parametrize("when", ["inputs.absent", "1 / 0 == 1", "'yes'", "1", "null"])
def test_rule_5_a_condition_that_goes_wrong_is_invalid_and_never_false(when):
    world = driven([tool("a", when=when), tool("b")])
    assert (world.status, world.failure.kind, world.done()) == ("failed", "invalid", [])


def test_the_condition_is_looked_at_once():
    plan = {"mode": "graph", "limit": 1, "steps": [tool("a"), tool("b", needs=["a"], when="steps.a.output == 1")]}
    assert driven(plan, {"a": 1}).exit_of("b") == "success"
    assert driven(plan, {"a": 2}).exit_of("b") == "skipped"


# ------------------------------------------------------------------------------- rule 8: visits


def test_rule_8_visits_are_numbered_run_wide_and_counted_by_group():
    inner = {
        "id": "g",
        "max_visits": 2,
        "steps": [tool("a", max_visits=2, on={"failure": "a", "exhausted": "next"})],
        "on": {"success": "g", "exhausted": "done"},
    }
    world = driven([inner], {"a": NO})
    assert [event.visit for event in world.find(e.AttemptStarted) if event.step == "a"] == [1, 2, 3, 4]
    assert world.exits()[-1] == ("g", "exhausted")
    assert world.status == "succeeded"


def test_exhausted_without_a_target_fails_as_stalled():
    world = driven([tool("a", max_visits=1, on={"success": "a"})])
    assert (world.failure.kind, world.failure.message) == ("stalled", "it had its 1 visits")


@pytest.mark.parametrize("trap", [{"when": "1 / 0 == 1"}, {"requires": ["false"]}])
def test_e17_a_loop_around_a_step_that_cannot_be_entered_ends(trap):
    world = driven([tool("a", max_visits=2, on={"failure": "a", "exhausted": "done"}, **trap)])
    assert world.exits() == [("a", "failure"), ("a", "failure"), ("a", "exhausted")]


# ------------------------------------------------------------------------------- rule 11: time


def test_rule_11_a_group_has_its_time():
    world = driven([{"id": "g", "timeout": "3s", "steps": [tool("a"), tool("b")]}], {"a": Takes(2), "b": Takes(2)})
    assert (world.failure.kind, world.state.ended.cause, world.now % 10_000) == ("timeout", "g", 3000)


def test_a_group_may_wait_for_a_lock_no_longer_than_it_may_take():
    plan = {"steps": [{"id": "g", "timeout": "3s", "locks": ["x"], "steps": [tool("a")]}]}
    world = World(plan, forgetful=True)
    world.locked = frozenset({"x"})
    world.run()
    assert (world.status, world.failure.kind) == ("failed", "timeout")


def test_time_stands_still_while_paused():
    world = World(
        {"steps": [{"id": "g", "timeout": "10s", "steps": [tool("a")]}]}, {"a": HANGS}, forgetful=True
    ).start()
    world.pass_time(4)
    world.pause()
    world.pass_time(1000)
    world.resume()
    assert world.state.wake_at == world.now + 6000
    world.pass_time(5.9)
    assert world.status == "running"
    world.run()
    assert world.failure.kind == "timeout"


def test_a_moment_of_the_calendar_does_not_wait_for_a_pause():
    plan = {"steps": [{"id": "w", "wait": {"until": "2027-01-15T08:00:10Z"}}, {"id": "v", "wait": "10s"}]}
    world = World(plan, forgetful=True).start()
    world.pass_time(4)
    world.pause()
    world.pass_time(100)
    assert world.exit_of("w") == ""
    world.resume()
    assert world.exit_of("w") == "elapsed"
    begun = world.now
    world.run()
    assert world.now == begun + 10_000


def test_the_run_has_its_time_and_stops_what_is_live():
    world = driven([{"id": "g", "parallel": [tool("a"), tool("b")]}], {"a": HANGS, "b": HANGS}, due=30)
    assert (world.status, world.failure.kind, world.exit_of("g")) == ("failed", "timeout", "cancelled")
    assert driven([tool("a")], due=30).status == "succeeded"


def test_a_clock_that_goes_back_changes_nothing():
    world = World(
        {"steps": [{"id": "w", "wait": "10s"}, tool("a", retry={"wait": "5s", "jitter": 0})]},
        {"a": [NO, 1]},
        forgetful=True,
    ).start()
    world.pass_time(8)
    world.now -= 100_000
    world.signal("x")
    assert world.state.wake_at == 1_800_000_010_000
    world.run()
    assert world.status == "succeeded"


@pytest.mark.parametrize(
    ("wait", "said"),
    [
        ({"for": "${inputs.x}"}, "'soon'"), ({"for": "${inputs.n}"}, "no length of time"), ({"for": "${inputs.minus}"}, "no length of time"),
        ({"until": "${inputs.x}"}, "no moment"), ({"until": "${inputs.n}"}, "no moment"), ({"until": "${inputs.local}"}, "no zone"),
    ],
)  # fmt: skip
def test_a_wait_for_no_time_is_invalid(wait, said):
    world = driven(
        [{"id": "w", "wait": wait}], inputs={"x": "soon", "n": None, "minus": -1, "local": "2027-01-01T00:00:00"}
    )
    assert world.failure.kind == "invalid"
    assert said in world.failure.message


def test_a_wait_can_be_computed():
    world = driven([{"id": "w", "wait": {"for": "${inputs.x}"}}], inputs={"x": "2s"})
    assert (world.exit_of("w"), world.now % 10_000) == ("elapsed", 2000)


# ------------------------------------------------------------------------------- sub-plans

INNER = {
    "inputs": {"n": {"type": "integer"}, "m": {"default": 5}},
    "steps": [tool("a", **{"with": {"value": "${inputs.n}-${inputs.m}"}})],
    "output": {"gives": "${steps.a.output}"},
}


@pytest.mark.parametrize("plan", [INNER, "inner"], ids=["inline", "by name"])
def test_e2_a_plan_as_a_step(plan):
    world = driven([{"id": "p", "plan": plan, "with": {"n": 3}}], plans={"inner": INNER})
    assert world.output == {"gives": "3-5"}
    assert world.done() == ["a" if plan is INNER else "p/1.a"]


@pytest.mark.parametrize("plan", [INNER, "inner"], ids=["inline", "by name"])
@pytest.mark.parametrize("given", [{}, {"n": "three"}, {"n": "${1 / 0}"}])
def test_a_sub_plan_is_not_entered_with_inputs_that_do_not_fit(plan, given):
    world = driven([{"id": "p", "plan": plan, "with": given}], plans={"inner": INNER})
    assert (world.failure.kind, world.done()) == ("invalid", [])


def test_a_plan_by_a_name_that_nobody_has():
    assert driven([{"id": "p", "plan": "nobody"}]).failure == Failure("invalid", "there is no plan named 'nobody'")


def test_a_plan_may_call_itself():
    down = {
        "inputs": {"n": {"type": "integer"}},
        "steps": [
            {"id": "p", "plan": "down", "with": {"n": "${inputs.n - 1}"}, "when": "inputs.n > 0"},
            tool("t", **{"with": {"value": "${inputs.n}"}}),
        ],
    }
    world = driven([{"id": "p", "plan": "down", "with": {"n": 3}}], plans={"down": down})
    assert world.done() == ["p/1.p/1.p/1.p/1.t", "p/1.p/1.p/1.t", "p/1.p/1.t", "p/1.t"]
    assert world.output == 3


def test_e17_a_plan_that_calls_itself_without_an_end_is_stopped():
    world = driven([{"id": "p", "plan": "ever"}], plans={"ever": {"steps": [{"id": "p", "plan": "ever"}]}})
    assert (world.status, world.failure.kind) == ("failed", "invalid")
    assert "200 groups around it" in world.failure.message


def test_a_sub_plan_has_the_shorter_of_two_times():
    inner = {"timeout": "5s", "steps": [tool("a")]}
    for step, seconds in (({}, 5), ({"timeout": "2s"}, 2), ({"timeout": "9s"}, 5)):
        world = driven([{"id": "p", "plan": inner, **step}], {"a": HANGS})
        assert (world.failure.kind, world.now % 10_000) == ("timeout", seconds * 1000)


def test_results_of_a_named_plan_have_keys_of_their_visit():
    plan = {
        "steps": [
            {"id": "p", "plan": "inner", "with": {"n": 1}, "max_visits": 2, "on": {"success": "p", "exhausted": "done"}}
        ]
    }
    assert driven(plan, plans={"inner": INNER}).done() == ["p/1.a", "p/2.a"]


# ------------------------------------------------------------------------------- how agents work


def ended(view):
    """Works without a step."""
    return Finish(output="in its own way")


def test_an_agent_that_is_known_works_in_no_way_that_is_not():
    step = {"id": "a", "agent": "me", "strategy": "zzz", "task": "t"}
    world = driven([step], strategies={"agent:me": ended})
    assert (world.failure.kind, world.failure.message) == ("invalid", "there is no strategy 'zzz'")
    assert driven([{**step, "strategy": "x"}], strategies={"x": ended}).output == "in its own way"


def test_another_way_that_there_is_not_is_passed_over():
    lost = {"agent": "me", "strategy": "zzz", "task": "t"}
    world = driven([tool("a", alternates=[lost])], {"a": NO}, strategies={"agent:me": ended})
    assert (world.status, world.failure.kind) == ("failed", NO.kind)
