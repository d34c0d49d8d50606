"""The turn: its laws in the small, what is to be done in the world, and what a turn costs."""

import re
import sys
from pathlib import Path

import pytest
from driven import NO, driven, tool
from laws import check_journal

from perdure.core import events as e
from perdure.core.accepting import Look
from perdure.core.calls import Failure, Outcome
from perdure.core.deciding import Moment
from perdure.core.turn import StartAttempt, StopAttempt, caused, pending, turn
from perdure.plan.reading import read_text
from perdure.testing.worlds import HANGS, LOST, Takes, World

PAGE = (Path(__file__).parents[2] / "docs/reference/patterns.md").read_text(encoding="utf-8")
PATTERNS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)

# ------------------------------------------------------------------------------- commands


def test_pending_is_what_is_to_be_at_work_and_caused_is_what_has_changed():
    deed = tool("a", undo={"tool": "un.do"})
    plan = {
        "steps": [
            {"id": "k", "checkpoint": True},
            deed,
            {"id": "g", "parallel": [tool("b"), tool("c")], "on": {"failure": "back"}},
            {"id": "end", "done": True},
            {"id": "back", "rollback": "k"},
        ]
    }
    world = World(
        plan, dict.fromkeys(["b", "c", "a!"], HANGS), seconds=lambda call: 5 if call.name == "un.do" else None
    )
    [command] = caused(world.state, world.start() and world.events)
    assert command == StartAttempt("a", 1, 1)
    begun = world.send(e.AttemptEnded(step="a"))
    assert caused(world.state, begun) == pending(world.state) == [StartAttempt("b", 1, 1), StartAttempt("c", 1, 1)]
    failed = world.send(e.AttemptEnded(step="b", exit="failure", failure=NO))
    assert caused(world.state, failed) == pending(world.state) == [StopAttempt("c", 1, 1)]
    stopped = world.send(e.AttemptEnded(step="c", exit="failure", failure=NO))
    assert caused(world.state, stopped) == pending(world.state) == [StartAttempt("a", 1, 1, "undo")]
    late = world.pass_time(5)
    assert caused(world.state, late) == pending(world.state) == [StopAttempt("a", 1, 1, "undo")]
    assert caused(world.state, world.send(e.AttemptLost(step="a", deed="undo"))) == []
    world.run()
    assert pending(world.state) == []


@pytest.mark.parametrize(
    ("plan", "script", "status"),
    [
        ([tool("a")], {"a": HANGS}, "running"),
        ([{"id": "q", "ask": "Well?"}], {}, "waiting"),
        ([{"id": "w", "wait": {"signal": "x"}}], {}, "waiting"),
        ([tool("a")], {"a": NO}, "failed"),
        ([tool("a")], {}, "succeeded"),
    ],
)
def test_rule_19_a_run_in_a_word(plan, script, status):
    assert driven(plan, script).status == status


def test_rule_19_more_words():
    world = World({"steps": [tool("a", undo={"tool": "un.do"}), tool("b")]}, {"b": HANGS, "a!": HANGS}).run()
    world.pause()
    assert world.status == "paused"
    world.resume()
    world.cancel(exit="rolled_back")
    assert world.status == "stopping"
    world.step()
    assert (world.status, world.commands()) == ("stopping", [StartAttempt("a", 1, 1, "undo")])
    race = World({"mode": "graph", "join": "any", "steps": [tool("a"), tool("b")]}, {"b": HANGS}).start()
    race.step()
    assert race.status == "stopping"


def test_failures_and_outcomes_are_plain_records():
    assert Outcome.failed("logic", "no") == Outcome(None, "failure", Failure("logic", "no"))


def test_a_look_at_a_run_that_rests_says_nothing():
    world = World({"steps": [tool("a")]}, {"a": HANGS}).start()
    assert turn(world.state, Look(), Moment(world.now)) == []


def test_time_that_passed_while_nobody_looked_counts():
    world = World(
        {
            "steps": [
                {"id": "g", "parallel": [{"id": "w", "wait": "1s"}, {"id": "v", "wait": "2s"}, tool("a", timeout="3s")]}
            ]
        },
        {"a": HANGS},
    ).start()
    world.now += 3_600_000
    world.fold()
    world.send(Look())
    assert [step for step, _ in world.exits()] == ["w", "v"]
    assert world.find(e.AttemptStopping)


# ------------------------------------------------------------------------------- known shapes


def answer_all(world):
    """Give a run whatever it waits for."""
    for _ in range(50):
        world.run()
        if world.state.questions:
            question = next(iter(world.state.questions.values()))
            world.answer(
                {"approval": True, "choice": (*question.choices, None)[0], "text": "x"}.get(question.answer, {})
            )
        elif waiting := [name for name, cells in world.state.waiting.items() if cells]:
            world.signal(waiting[0], "sent")
        else:
            return world
    raise AssertionError("no end")


@pytest.mark.parametrize("text", PATTERNS, ids=lambda text: read_text(text).usable().name)
def test_every_workflow_pattern_runs_to_its_end_in_any_order_and_through_any_crash(text):
    plan = read_text(text).usable()
    for order in range(3):
        live, folded = (answer_all(World(plan, order=order, forgetful=each)) for each in (False, True))
        assert live.status == "succeeded"
        assert live.facts == folded.facts
        check_journal(live.events)


def test_a_process_that_dies_again_and_again_gets_to_the_end():
    body = [tool("x", **{"with": {"value": "${item}"}}), tool("y")]
    plan = {"steps": [{"id": "m", "map": [1, 2, 3], "steps": body, "limit": 2}, tool("z")]}
    world = World(plan, {"z": [LOST, LOST, 5], "x": Takes(1, 1)}).start()
    while world.step():
        if len(world.made) % 4 == 1:
            world.crash()
    assert (world.status, world.output) == ("succeeded", 5)


# ------------------------------------------------------------------------------- what a turn costs


def calls_in(work):
    """How many functions are called."""
    count = 0

    def note(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def chain(size):
    return {"steps": [tool(f"s{n}") for n in range(size)]}


def fan(size):
    return {"mode": "graph", "limit": 20, "steps": [tool(f"s{n}") for n in range(size)]}


def layers(size):
    steps = [tool(f"s{n}", **({"needs": [f"s{n - 10}", f"s{n - 9}"]} if n >= 10 else {})) for n in range(size)]
    return {"mode": "graph", "steps": steps}


def items(size):
    return {"steps": [{"id": "m", "map": list(range(size)), "steps": [tool("t")], "limit": 20}]}


def locked(size):
    return {"mode": "graph", "limit": 50, "steps": [tool(f"s{n}", locks=[f"l{n % 3}"]) for n in range(size)]}


def undone(size):
    steps = [tool(f"s{n}", undo={"tool": "un.do"}) for n in range(size)]
    return {
        "steps": [
            *steps,
            {"id": "k", "checkpoint": True},
            tool("last", undo={"tool": "un.do"}),
            {"id": "back", "rollback": "k"},
            tool("end"),
        ]
    }


@pytest.mark.parametrize("shape", [chain, fan, layers, items, locked, undone], ids=lambda shape: shape.__name__)
def test_a_turn_costs_what_has_changed_and_not_what_there_is(shape):
    costs = []
    for size in (200, 2_000):
        world = World(shape(size)).start()
        for _ in range(60):
            world.perform(world.commands()[0])
        commands = iter(world.commands())
        reports = [e.AttemptEnded(step=each.step, visit=each.visit) for each in [next(commands)]]
        costs.append(calls_in(lambda w=world, r=reports: turn(w.state, r[0], Moment(w.now, slots=64))))
    assert costs[1] <= costs[0] * 1.2, costs


def test_a_rollback_looks_at_what_came_after_its_checkpoint():
    costs = []
    for size in (50, 500):
        world = World(undone(size)).start()
        while world.commands()[0].step != "last":
            world.perform(world.commands()[0])
        costs.append(calls_in(lambda w=world: turn(w.state, e.AttemptEnded(step="last"), Moment(w.now))))
    assert costs[1] <= costs[0] * 1.2, costs
