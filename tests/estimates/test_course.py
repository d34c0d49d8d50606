"""A7: one simulated run goes as the engine goes: its order, its limits, its loops, its failures."""

import asyncio
import random
from random import Random

import pytest
from tests.support.scheduling import DRAWS, layered, list_schedule, plan_of, scattered

from perdure import Engine, Plan
from perdure.core.calls import Failure
from perdure.estimates.course import Course
from perdure.estimates.history import History
from perdure.estimates.parts import SECOND, Layout
from perdure.estimates.past import Past, Sample, call_key, step_key
from perdure.estimates.sources import Means
from perdure.plan.model.parts import ToolCall
from perdure.testing.clock import FakeClock, run
from perdure.testing.scripted import Scripted
from perdure.testing.worlds import Takes, World


def step(id_, seconds=1.0, **more):
    return {"id": id_, "tool": "x.y", "estimate": {"seconds": seconds}, **more}


def took(plan, means=None, history=None, extra="", inputs=None):
    """A simulated run in which all takes what it declares."""
    layout = Layout(Plan.model_validate(plan), history or History(), means or Means(), inputs)
    return Course(layout, Random(1), spread=0, extra=extra).run()


def history_of(plan, **samples):
    """What steps of a plan took: samples by id."""
    found = Plan.model_validate(plan)
    identity = found.name or found.hash.rpartition(":")[2]
    return History([Past("r", identity, samples={step_key(identity, id_): each for id_, each in samples.items()})])


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("family", [layered, scattered])
def test_t7_a_simulated_run_takes_as_long_as_one_in_the_core(family, draw):
    for seed in range(8):
        rng = random.Random(f"{family.__name__} {draw} {seed}")
        nodes, places = family(rng, DRAWS[draw]), rng.randint(2, 8)
        world = World(plan_of(nodes, places), {f"s{n}": Takes(takes / 1000) for n, (takes, _) in enumerate(nodes)})
        begins = world.now
        world.run()
        simulated = took(plan_of(nodes, places), Means(slots=1_000_000)).took / 1000
        if draw == "equal":  # steps that end in the same instant are heard in another order
            assert simulated == pytest.approx(list_schedule(nodes, places), rel=0.05)
        else:
            assert simulated == world.now - begins


MIXED = {
    "steps": [
        step("a", 2),
        {"id": "end_of_a", "checkpoint": True},
        {
            "id": "both",
            "limit": 2,
            "parallel": [
                step("b", 3, priority=1),
                step("c", 4),
                step("d", 5),
                {"id": "e", "steps": [step("e1"), step("e2")]},
            ],
        },
        {"id": "each", "map": [1, 2, 3], "limit": 2, "steps": [step("f", 2), step("g", 1)]},
        {"id": "rest", "wait": 7},
        {"id": "first", "join": "any", "losers": "keep", "parallel": [step("h", 1), step("i", 9)]},
    ]
}


def test_t7_groups_within_groups_take_what_they_take_in_the_engine():
    async def carried_out():
        lasts = {"a": 2, "b": 3, "c": 4, "d": 5, "e1": 1, "e2": 1, "f": 2, "g": 1, "h": 1, "i": 9}

        async def answer(attempt):
            await asyncio.sleep(lasts[attempt.step.rpartition(".")[2]])

        clock = FakeClock()
        async with Engine.open(clock=clock, performer=Scripted({}, default=answer)) as engine:
            began = clock.now()
            assert (await (await engine.start(Plan.model_validate(MIXED))).result()).ok
            return clock.now() - began

    found = took(MIXED)
    assert (found.exit, found.took / 1000) == ("success", run(carried_out()))
    assert found.worked == found.took - 7 * SECOND, "nobody is at work while the clock is waited for"
    assert found.at_once == 2


def test_a_lock_lets_one_in_at_a_time_and_one_more_of_it_helps():
    plan = {"steps": [step(id_, 2, locks=["l"]) for id_ in "abc"], "mode": "graph"}
    found = took(plan)
    assert (found.took, dict(found.waits)) == (6 * SECOND, {"lock l": 6 * SECOND})
    assert took(plan, extra="lock l").took == 4 * SECOND
    assert took(plan, extra="everything").took == 2 * SECOND


def test_a_tool_with_a_limit_and_the_places_of_the_engine_make_steps_wait():
    plan = {"mode": "graph", "steps": [step(id_, 2) for id_ in "abcd"]}
    found = took(plan, Means(limits={"x.y": 2}))
    assert (found.took, dict(found.waits)) == (4 * SECOND, {"tool x.y": 4 * SECOND})
    assert took(plan, Means(slots=1)).took == 8 * SECOND
    assert took(plan, Means(slots=1), extra="slots").took == 4 * SECOND


def test_who_waits_for_a_tool_and_then_for_a_lock_is_not_forgotten():
    plan = {
        "mode": "graph",
        "steps": [step("a", 1), step("b", 3, locks=["l"]), step("c", 1, locks=["l"]), step("d", 1), step("e", 1)],
    }
    found = took(plan, Means(limits={"x.y": 2}))
    assert (found.exit, found.took) == ("success", 4 * SECOND)


LOOP = {
    "name": "loop",
    "steps": [
        step("test", 1, max_visits=4, on={"failure": "mend"}),
        {"id": "end", "done": True},
        step("mend", 2, on={"success": "test"}),
    ],
}


def test_a_loop_goes_round_as_often_as_its_history_says_and_no_oftener_than_it_may():
    red = [Sample(1000, "failure", "logic")]
    assert took(LOOP).took == SECOND, "nobody has seen it fail"
    found = Layout(Plan.model_validate(LOOP), history_of(LOOP, test=red * 200), Means())
    taken = [Course(found, Random(n), spread=0).run() for n in range(50)]
    assert {each.exit for each in taken if each.took == 12 * SECOND} == {"failure"}, "the fifth test is one too many"
    assert sum(each.took == 12 * SECOND for each in taken) > 40


def test_tries_are_repeated_with_their_pauses_and_other_ways_are_taken():
    plan = {
        "name": "again",
        "steps": [step("a", 1, retry={"attempts": 3, "wait": 10, "jitter": 0}, alternates=[{"tool": "x.z"}])],
    }
    busy, fast = [Sample(1000, "failure", "transient")] * 500, [Sample(5000)] * 500
    past = history_of(plan, a=busy).pasts[0]
    past.samples[call_key(ToolCall(tool="x.z"))] = fast
    found = took(plan, history=History([past]))
    assert (found.exit, found.took, found.worked) == ("success", (1 + 10 + 1 + 20 + 1 + 5) * SECOND, 8 * SECOND)


def test_what_fails_leads_where_the_plan_says():
    def plan(**more):
        return {"name": "f", "steps": [step("a", 1, **more), step("b", 1), {"id": "z", "fail": True}, step("c", 4)]}

    bad = [Sample(1000, "failure", "logic")] * 500
    assert took(plan(), history=history_of(plan(), a=bad)).took == SECOND
    jumps = plan(on={"failure": "c"})
    assert took(jumps, history=history_of(jumps, a=bad)).took == 5 * SECOND
    goes_on = plan(recovery={"logic": ["continue"]})
    found = took(goes_on, history=history_of(goes_on, a=bad))
    assert (found.exit, found.took) == ("failure", 2 * SECOND), "on without it, to the step that fails the run"


def test_a_jump_out_of_a_group_stops_what_is_live_there():
    plan = {
        "name": "out",
        "steps": [
            {"id": "g", "parallel": [step("a", 1, on={"failure": "z"}), step("b", 60)]},
            step("never", 100),
            step("z", 3),
        ],
    }
    bad = [Sample(1000, "failure", "logic")] * 500
    found = took(plan, history=history_of(plan, a=bad))
    assert (found.exit, found.took) == ("success", 4 * SECOND)


@pytest.mark.parametrize(
    ("join", "seconds", "exit_"),
    [
        ("all", 1, "failure"),
        ("any", 2, "success"),
        ("settled", 4, "success"),
        ({"quorum": 2}, 4, "success"),
        ({"tolerate": 1}, 4, "success"),
        ({"quorum": 3}, 1, "failure"),
    ],
)
def test_t7_joins_end_when_they_do_in_the_core(join, seconds, exit_):
    plan = {"name": "j", "join": join, "mode": "graph", "steps": [step("a", 1), step("b", 2), step("c", 4)]}
    bad = [Sample(1000, "failure", "logic")] * 500
    found = took(plan, history=history_of(plan, a=bad))
    world = World(plan, {"a": Takes(1, Failure("logic", "no")), "b": Takes(2), "c": Takes(4)})
    begins = world.now
    world.run()
    assert (found.exit, found.took) == (exit_, seconds * SECOND)
    assert world.now - begins == seconds * 1000


def test_what_needs_a_step_that_failed_or_was_skipped_is_passed_by():
    plan = {
        "name": "n",
        "join": "settled",
        "mode": "graph",
        "steps": [step("a", 1), step("b", 5, needs=["a"]), step("c", 2, when="false"), step("d", 7, needs=["c"])],
    }
    history = history_of(plan, a=[Sample(1000, "failure", "logic")] * 500)
    history.pasts[0].passed[step_key("n", "c")] = 500
    assert took(plan, history=history).took == SECOND


def test_a_run_that_does_not_end_is_given_up():
    plan = {"name": "on", "steps": [step("a", 1, on={"success": "a"}, max_visits=1_000_000)]}
    assert took(plan).exit == "endless"


def test_people_are_waited_for_but_nobody_works_meanwhile():
    plan = {"name": "p", "steps": [step("a", 1), {"id": "ok", "ask": "Go on?"}, step("b", 1)]}
    found = took(plan, history=history_of(plan, ok=[Sample(60_000, "approved")] * 500))
    assert (found.took, found.worked, found.people) == (62 * SECOND, 2 * SECOND, 60 * SECOND)


def test_a_map_has_as_many_items_as_its_input_or_as_it_had_before():
    plan = {
        "name": "m",
        "inputs": {"all": {"type": "array"}},
        "steps": [{"id": "m", "map": "${inputs.all}", "steps": [step("a", 1)]}],
    }
    plan["steps"][0]["limit"] = 1
    assert took(plan, inputs={"all": [1, 2, 3]}).took == 3 * SECOND
    history = history_of(plan)
    history.pasts[0].items[step_key("m", "m")] = [5]
    assert took(plan, history=history).took == 5 * SECOND
    assert took(plan).took == SECOND


def test_a_plan_that_is_called_by_name_is_looked_into_if_it_is_known():
    inner = Plan.model_validate({"name": "inner", "steps": [step("x", 3), step("y", 4)]})
    plan = Plan.model_validate({"steps": [{"id": "sub", "plan": "inner"}]})
    layout = Layout(plan, History(), Means(), plans={"inner": inner})
    assert Course(layout, Random(1), spread=0).run().took == 7 * SECOND
    unknown = Course(Layout(plan, History(), Means()), Random(1), spread=0).run()
    assert (unknown.exit, unknown.took) == ("success", 60 * SECOND)


def test_a_map_of_many_items_is_no_run_that_does_not_end():
    plan = {"steps": [{"id": "m", "map": list(range(30_000)), "limit": 50, "steps": [step("a", 1)]}]}
    assert took(plan).took == 600 * SECOND
