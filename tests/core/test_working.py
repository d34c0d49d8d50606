"""E3 E10 E14: attempts, retries, timeouts, and deeds of which nobody knows whether they were done."""

import itertools

import pytest
from driven import LATER, NO, driven, tool

from perdure.core import events as e
from perdure.core.calls import Failure, Outcome
from perdure.testing.worlds import HANGS, LOST, NOON, Takes, World

# ------------------------------------------------------------------------------- retries


def pauses(world):
    times = [made.at for made in world.made]
    return [after - before for before, after in itertools.pairwise(times)]


def test_rule_8_a_failed_attempt_is_tried_again_with_growing_pauses():
    world = driven(
        [tool("a", retry={"attempts": 4, "wait": "1s", "factor": 3, "max_wait": "5s", "jitter": 0})], {"a": LATER}
    )
    assert pauses(world) == [1000, 3000, 5000]
    assert (world.status, world.failure) == ("failed", LATER)


def test_e9_pauses_are_drawn_by_the_seed_of_the_run():
    plan = [tool("a", retry={"attempts": 5, "jitter": 1})]
    first, again, other = (pauses(driven(plan, {"a": LATER}, seed=seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert all(0 <= pause <= most for pause, most in zip(first, (1000, 2000, 4000, 8000), strict=True))


def test_the_other_side_may_ask_for_a_longer_pause():
    world = driven([tool("a", retry={"jitter": 0})], {"a": [Failure("rate_limited", "slow", retry_after=9), LATER, 1]})
    assert pauses(world) == [9000, 2000]


def test_no_try_begins_later_than_within():
    world = driven(
        [tool("a", retry={"attempts": 9, "wait": "4s", "factor": 1, "jitter": 0, "within": "10s"})], {"a": LATER}
    )
    assert len(world.made) == 3


@pytest.mark.parametrize("kind", ["invalid", "denied", "budget", "cancelled"])
def test_what_another_try_cannot_mend_is_not_tried_again(kind):
    assert len(driven([tool("a", retry={})], {"a": Failure(kind, "no")}).made) == 1


def test_an_unmet_result_is_tried_again():
    world = driven([tool("a", retry={}, accept=["output > 1"])], {"a": [1, 2]})
    assert (world.status, len(world.made)) == ("succeeded", 2)


def test_attempts_count_within_a_visit():
    world = driven([tool("a", retry={"attempts": 2, "wait": 0}, max_visits=2, on={"failure": "a"})], {"a": LATER})
    assert [(made.visit, made.attempt) for made in world.made] == [(1, 1), (1, 2), (2, 1), (2, 2)]


def test_a_pause_of_the_run_moves_the_next_try():
    world = World({"steps": [tool("a", retry={"wait": "10s", "jitter": 0})]}, {"a": [LATER, 1]}, forgetful=True).start()
    world.step()
    world.pass_time(4)
    world.pause()
    assert world.state.wake_at is None
    world.pass_time(60)
    world.resume()
    world.run()
    assert pauses(world) == [70_000]


# ------------------------------------------------------------------------------- timeouts


def test_rule_11_an_attempt_has_its_time_and_is_tried_again():
    world = driven([tool("a", timeout="5s", retry={"wait": 0})], {"a": [HANGS, Takes(4, 1)]})
    assert (world.status, world.now - NOON) == ("succeeded", 9000)
    assert [type(each).__name__ for each in world.find(e.AttemptStopping, e.RetryPlanned)] == [
        "AttemptStopping",
        "RetryPlanned",
    ]


def test_an_attempt_that_was_stopped_because_of_its_time_took_too_long():
    assert driven([tool("a", timeout="5s")], {"a": HANGS}).failure.kind == "timeout"


def test_an_attempt_that_does_not_even_stop_had_its_try():
    world = World(
        {"steps": [tool("a", timeout="5s", retry={"attempts": 2, "wait": 0})]}, {"a": HANGS}, forgetful=True
    ).start()
    for _ in range(2):
        world.pass_time(5)
        [stop] = world.commands()
        world.send(e.AttemptLost(step="a", attempt=stop.attempt))
    assert (world.status, world.failure.kind) == ("failed", "timeout")


def test_a_tool_may_say_how_long_it_takes():
    world = driven([tool("a")], {"a": HANGS}, seconds=lambda call: 7 if call.name == "x.y" else None)
    assert (world.failure.kind, world.now - NOON) == ("timeout", 7000)


def test_a_pause_of_the_run_gives_an_attempt_more_time():
    world = World({"steps": [tool("a", timeout="5s")]}, {"a": HANGS}, forgetful=True).start()
    world.pass_time(3)
    world.pause()
    world.pass_time(60)
    world.resume()
    world.pass_time(1.9)
    assert world.find(e.AttemptStopping) == []
    world.run()
    assert world.now == NOON + 65_000


# ------------------------------------------------------------------------------- deciding by a call


@pytest.mark.parametrize(
    ("gives", "exit_"),
    [
        ("left", "left"),
        ("right", "right"),
        ("up", "failure"),
        (3, "failure"),
        (None, "failure"),
        ("x" * 5000, "failure"),
    ],
)
def test_t3_a_choice_is_one_of_those_declared(gives, exit_):
    plan = [
        {"id": "d", "decide": {"tool": "x.y"}, "choices": ["left", "right"], "on": {"left": "next", "right": "done"}},
        tool("b"),
    ]
    world = driven(plan, {"d": gives})
    assert world.exit_of("d") == exit_
    assert world.done()[1:] == (["b"] if exit_ == "left" else [])
    assert exit_ != "failure" or world.failure.kind == "invalid"


def test_a_choice_leads_to_the_step_of_its_name():
    plan = [
        {"id": "d", "decide": {"model": "weak", "prompt": "?"}, "choices": ["b", "c"]},
        tool("b", on={"success": "done"}),
        tool("c"),
    ]
    assert driven(plan, {"d": "c"}).done() == ["d", "c"]


def test_models_and_agents_are_called_with_what_they_are_given():
    plan = [
        {"id": "m", "model": "weak", "prompt": "Say ${inputs.x}", "returns": {"type": "string"}},
        {
            "id": "a",
            "agent": "coder",
            "task": "Do ${steps.m.output}",
            "with": {"k": "${inputs.x}"},
            "verdicts": ["odd"],
            "on": {"odd": "next"},
        },
    ]
    world = driven(plan, {"m": "that", "a": Outcome(1, "odd")}, inputs={"x": "hello"})
    model, agent = (made.call for made in world.made)
    assert (model.kind, model.name, model.arguments) == (
        "model",
        "weak",
        {"prompt": "Say hello", "returns": {"type": "string"}},
    )
    assert (agent.kind, agent.name, agent.arguments) == ("agent", "coder", {"task": "Do that", "with": {"k": "hello"}})


def test_a_call_that_cannot_be_made_is_invalid():
    world = driven([tool("a", **{"with": {"x": "${steps.?b.output.c.d / 0}"}}), tool("b")])
    assert (world.failure.kind, world.made) == ("invalid", [])


# ------------------------------------------------------------------------------- stopping


def stopped(script, plan, **dials):
    world = World({"steps": plan}, script, forgetful=True, **dials).run()
    world.cancel("a")
    return world.run()


def test_a_step_that_is_cancelled_fails_its_group_unless_the_plan_knows_better():
    assert stopped({"a": HANGS}, [tool("a")]).failure == Failure("cancelled", "it was cancelled")
    assert stopped({"a": HANGS}, [tool("a", on={"cancelled": "next"}), tool("b")]).done() == ["b"]


def test_what_was_finished_before_the_stop_came_through_is_finished():
    world = World({"steps": [tool("a"), tool("b")]}, {"a": HANGS}, forgetful=True).run()
    world.cancel("a")
    world.send(e.AttemptEnded(step="a", output=e.Value(data=5)))
    assert world.exit_of("a") == "success"


@pytest.mark.parametrize("outcome", [{"exit": "odd"}, {"output": e.Value(data=1)}])
def test_what_was_finished_but_is_not_good_is_cancelled(outcome):
    world = World({"steps": [tool("a", accept=["output == 5"])]}, {"a": HANGS}, forgetful=True).run()
    world.cancel("a")
    world.send(e.AttemptEnded(step="a", **outcome))
    assert world.exit_of("a") == "cancelled"


@pytest.mark.parametrize(("repeat", "kind"), [("safe", "cancelled"), ("keyed", "in_doubt"), ("never", "in_doubt")])
def test_rule_12_one_that_was_stopped_at_work_is_in_doubt_unless_it_is_safe(repeat, kind):
    world = stopped({"a": HANGS}, [tool("a", on={"cancelled": "next"})], repeat=repeat)
    assert world.find(e.StepEnded)[0].failure.kind == kind


def test_a_step_may_be_stopped_while_it_waits_for_its_next_try_or_for_an_answer():
    world = World(
        {"steps": [tool("a", retry={"wait": "1h"}, on={"cancelled": "next"})]}, {"a": LATER}, forgetful=True
    ).start()
    world.step()
    world.cancel("a")
    assert world.find(e.StepEnded)[0].failure.kind == "cancelled"
    world = stopped({"a": LOST}, [tool("a", on={"cancelled": "next"})], repeat="never")
    assert (world.status, len(world.find(e.QuestionClosed))) == ("succeeded", 1)
    assert world.find(e.StepEnded)[0].failure.kind == "in_doubt"


def test_a_doubt_that_a_person_settled_is_none_when_the_step_is_stopped():
    world = driven([tool("a", on={"cancelled": "next"})], {"a": [LOST, HANGS]}, repeat="never")
    world.slots = 0
    world.answer("not_happened")
    world.cancel("a")
    assert world.find(e.StepEnded)[0].failure.kind == "cancelled"


def test_no_attempt_begins_after_the_stop():
    world = World({"steps": [tool("a")]}, {"a": HANGS}, slots=0, forgetful=True).start()
    world.cancel()
    assert (world.status, world.find(e.AttemptStarted)) == ("cancelled", [])


def test_nothing_begins_while_the_run_is_paused():
    world = World({"steps": [tool("a"), tool("b")]}, {"a": HANGS}, forgetful=True).start()
    world.pause()
    world.send(e.AttemptEnded(step="a"))
    assert (world.status, world.commands()) == ("paused", [])
    world.resume()
    assert world.run().status == "succeeded"


def test_progress_is_noted():
    world = World({"steps": [tool("a")]}, {"a": HANGS}, forgetful=True).start()
    world.send(e.AttemptProgressed(step="a", fraction=0.5, message="half"))
    world.fold()
    assert (world.state.cells["a"].work.fraction, world.state.cells["a"].work.message) == (0.5, "half")


def test_failure_is_said_twice_by_nobody():
    assert driven([tool("a")], {"a": Outcome(exit="failure")}).failure.kind == "invalid"
    assert driven([tool("a")], {"a": Outcome(3, "success", NO)}).failure == NO
