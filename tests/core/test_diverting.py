"""E14, A6: groups and agents that go another way, and tools that are found by skill; also folded anew at every turn."""

import pytest
from driven import NO, driven, tool

from perdure.core import events as e
from perdure.core.calls import Approval, Failure, Outcome, Usage
from perdure.core.growth import Finish, Move
from perdure.core.ladder import OWN
from perdure.core.refusing import NoStep
from perdure.engine.redeciding import redecide
from perdure.testing.worlds import HANGS, LOST, NOON, Takes, World

BACK = {"tool": "x.back"}
ALT = {"tool": "x.alt", "with": {"value": 5}}
PLAIN = [kind for kind in OWN if kind not in {"in_doubt", "cancelled", "budget"}]
LOOSE = {"stalled": ["fail"]}


def deeds(world):
    return [made.step + "!" * (made.deed == "undo") for made in world.made]


def rungs(world):
    return [(fact.step, fact.rung) for fact in world.events if isinstance(fact, e.RungTaken)]


def called(world, step="g"):
    return [made.call.name for made in world.made if made.step == step and made.deed == "do"]


def fails(kind="logic"):
    return Failure(kind, "no")


def always(kind):
    """Fails so at once, whatever it is."""
    return tool("a", retry={"attempts": 1}, recovery={"other": ["fail"]}), {"a": fails(kind)}


SHAPES = {
    "serial": lambda *steps: {"id": "g", "steps": list(steps)},
    "graph": lambda *steps: {"id": "g", "parallel": list(steps)},
    "map": lambda *steps: {"id": "g", "map": [1, 2], "steps": list(steps)},
    "plan": lambda *steps: {"id": "g", "plan": {"steps": list(steps)}},
    "named": lambda *_: {"id": "g", "plan": "inner"},
    "agent": lambda *_: {"id": "g", "agent": "coder", "task": "do it"},
}


def in_shape(shape, *steps, script=None, then=(), **more):
    """A run whose step `g` holds some steps."""

    def coder(view):
        added = [{**each, "id": "s"} for each in steps]
        if view.first:
            return Move(add=[{key: value for key, value in each.items() if key != "id"} for each in added])
        bad = next((each for each in view.fresh if each.failure), None)
        return Finish("failure", failure=bad.failure) if bad else None if view.live else Finish(output="grown")

    dials = more.pop("dials", {})
    plan = [{**SHAPES[shape](*steps), **more}, *then]
    return driven(plan, script, strategies={"agent:coder": coder}, plans={"inner": {"steps": list(steps)}}, **dials)


# ------------------------------------------------------------------------------- groups


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_group_that_fails_goes_another_way_as_far_as_that_helps_against_the_kind(shape, kind):
    step, script = always(kind)
    script = {**script, "g/1.1": fails(kind), "g": "other"}
    after = tool("b", **{"with": {"value": "${steps.g.output}"}})
    world = in_shape(shape, step, script=script, then=[after], alternates=[ALT], recovery=LOOSE)
    if "alternate" in OWN[kind]:
        assert (world.status, world.output, rungs(world)) == ("succeeded", "other", [("g", "alternate")])
        assert world.state.cells["g"].ways == ("alternate",)
    else:
        assert (world.status, rungs(world)) == ("failed", [])


@pytest.mark.parametrize("shape", SHAPES)
def test_what_was_done_in_a_group_is_taken_back_before_it_goes_another_way(shape):
    steps = tool("one", undo=BACK), tool("a", needs=["one"] if shape == "graph" else [])
    if shape == "agent":
        steps = tool("one", undo=BACK), tool("a", needs=["s1"])
    script = {"a": NO, "g/1.2": NO, "g": [NO, 7]}
    world = in_shape(shape, *steps, script=script, simpler={"tool": "x.light"}, alternates=[ALT])
    before, after = deeds(world)[: deeds(world).index("g")], deeds(world)[deeds(world).index("g") :]
    assert (world.status, world.output, called(world)) == ("succeeded", 7, ["x.light", "x.alt"])
    assert (before[-1][-1], after) == ("!", ["g", "g"])
    assert all(each.over for each in world.state.effects.values())
    assert [rung for _, rung in rungs(world)] == ["simplify", "alternate"]


@pytest.mark.parametrize("shape", ["serial", "plan"])
def test_a_group_in_which_something_stays_is_not_left(shape):
    """It could not be taken back, nothing takes it back, or nobody knows whether it was done."""
    kept = in_shape(shape, tool("one", undo=BACK), tool("a"), script={"a": NO, "one!": NO}, alternates=[ALT])
    message = "no; could not be taken back: one (no)"
    assert (kept.failure.message, rungs(kept), deeds(kept)[-1]) == (message, [], "one!")
    unknown = {"tool": "x.back", "with": {"of": "${output.nothing}"}}
    error = in_shape(shape, tool("one", undo=unknown), tool("a"), script={"a": NO, "one": {}}, alternates=[ALT])
    assert (error.failure.message, rungs(error), deeds(error)) == ("no", [], ["one", "a"])
    lasts = in_shape(shape, tool("one"), tool("a"), script={"a": NO}, alternates=[ALT], dials={"lasts": {"x.y"}})
    assert (lasts.failure.message, rungs(lasts)) == ("no", [])
    mild = in_shape(shape, tool("a"), script={"a": NO}, alternates=[ALT], dials={"lasts": {"x.y"}})
    assert (mild.status, rungs(mild)) == ("succeeded", [("g", "alternate")])


def test_one_that_was_cut_off_in_doubt_holds_its_group_back():
    both = {"id": "g", "parallel": [tool("a"), {"id": "b", "tool": "z.z"}], "alternates": [ALT]}
    world = driven([both], {"a": NO, "b": HANGS}, repeat=lambda call: "never" if call.name == "z.z" else "safe")
    assert (world.failure.message, rungs(world)) == ("no", [])
    assert rungs(driven([both], {"a": NO, "b": HANGS})) == [("g", "alternate")]


def test_what_was_done_and_not_accepted_counts_as_done():
    group = {"id": "g", "steps": [tool("a", accept=["output > 8"])], "alternates": [ALT]}
    assert rungs(driven([group], {"a": 5}, lasts={"x.y"})) == []
    assert rungs(driven([group], {"a": 5})) == [("g", "alternate")]


def test_other_branches_and_what_came_before_stay():
    plan = [tool("before", undo=BACK), {"id": "g", "steps": [tool("a")], "alternates": [ALT]}]
    world = driven(plan, {"a": NO})
    assert (world.status, deeds(world)) == ("succeeded", ["before", "a", "g"])


def test_what_others_do_meanwhile_neither_holds_a_group_back_nor_is_taken_back():
    group = {"id": "g", "steps": [tool("one", undo=BACK), tool("a")], "alternates": [ALT]}
    beside = {
        "id": "both",
        "parallel": [group, tool("other", undo={"tool": "x.lost", "with": {"of": "${output.nothing}"}})],
    }
    world = driven([beside], {"one": Takes(1, 1), "a": [Takes(5, NO)], "other": Takes(2, {}), "g": 7})
    assert (world.status, rungs(world)) == ("succeeded", [("g", "alternate")])
    assert [each for each in deeds(world) if each.endswith("!")] == ["one!"]


def test_where_the_failure_leads_is_asked_when_no_way_is_left():
    plan = [{"id": "g", "steps": [tool("a")], "alternates": [ALT], "on": {"failure": "b"}}, tool("c"), tool("b")]
    assert deeds(driven(plan, {"a": NO})) == ["a", "g", "c", "b"]
    assert deeds(driven(plan, {"a": NO, "g": NO})) == ["a", "g", "b"]


def test_a_table_says_when_a_group_goes_another_way():
    group = {"id": "g", "steps": [tool("a", recovery={"logic": ["fail"]})], "alternates": [ALT]}
    world = driven([group | {"recovery": {"logic": ["ask", "alternate"]}}, tool("b")], {"a": NO})
    assert (world.status, rungs(world)) == ("waiting", [])
    world = driven([group | {"recovery": {"logic": ["alternate", "continue"]}}, tool("b")], {"a": NO, "g": NO})
    assert (world.status, deeds(world)) == ("succeeded", ["a", "g", "b"])


def test_the_next_visit_of_a_group_begins_in_the_usual_way():
    group = {"id": "g", "steps": [tool("a")], "max_visits": 3}
    ways = ({"tool": "x.alt"}, {"agent": "coder"})
    for way in ways:
        plan = [group | {"alternates": [way]}, tool("b", on={"failure": "g"})]
        grown = {"agent:coder": lambda view: Move(add=[tool("s")]) if view.first else Finish()}
        world = driven(plan, {"a": [NO, 1, NO], "b": [NO, NO, 1]}, strategies=grown)
        assert (world.status, len(rungs(world)), deeds(world).count("a")) == ("succeeded", 2, 3)
        assert world.state.cells["g"].ways == ("alternate",)


def test_all_that_a_visit_spends_counts_whatever_way_it_goes():
    plan = [{"id": "g", "steps": [tool("a")], "alternates": [{"model": "weak", "prompt": "?"}], "budget": {"steps": 1}}]
    world = driven(plan, {"a": Outcome(exit="failure", failure=NO, usage=Usage(seconds=1))})
    assert (world.failure.kind, rungs(world)) == ("budget", [("g", "alternate")])


def test_a_question_about_a_budget_is_not_asked_any_more_in_another_way():
    inside = [
        tool("a"),
        tool("c", needs=["a"]),
        {"id": "w", "wait": {"signal": "go"}},
        {"id": "f", "fail": "no", "needs": ["w"]},
    ]
    group = {"id": "g", "alternates": [ALT], "parallel": inside, "budget": {"steps": 1, "then": "ask"}}
    world = World({"steps": [group]}, {}).start().run()
    (first,) = world.state.questions
    world.signal("go")
    world.run()
    (second,) = world.state.questions
    assert (rungs(world), first != second) == ([("g", "alternate")], True)
    world.answer(5)
    assert (world.run().status, world.output) == ("succeeded", 5)


def test_a_group_that_took_too_long_has_its_time_anew():
    plan = [{"id": "g", "steps": [tool("a")], "timeout": 5, "alternates": [{"agent": "coder"}, ALT]}]
    grown = {"agent:coder": lambda view: Move(add=[tool("s")]) if view.first else Finish()}
    world = driven(plan, {"a": HANGS, "g/1.1": HANGS}, strategies=grown)
    assert (world.status, world.output, called(world)) == ("succeeded", 5, ["x.alt"])
    (first, _) = world.find(e.RungTaken)
    assert (first.strategy, first.due - NOON) == ("agent:coder", 10_000)


def test_a_group_keeps_its_locks_while_it_goes_another_way():
    plan = [{"id": "all", "parallel": [
        {"id": "g", "steps": [tool("one", undo=BACK), tool("a")], "locks": ["desk"], "alternates": [ALT]},
        tool("b", locks=["desk"], priority=-1)]}]  # fmt: skip
    world = driven(plan, {"a": NO})
    assert deeds(world) == ["one", "a", "one!", "g", "b"]


def test_one_who_is_stopped_goes_no_other_way():
    inner = {"id": "g", "parallel": [tool("a"), tool("c")], "alternates": [ALT]}
    plan = [{"id": "all", "parallel": [inner, {"id": "w", "wait": {"signal": "go"}}], "join": "any"}]
    world = World({"steps": plan}, {"a": HANGS, "c": HANGS}).start()
    world.cancel()
    world.run()
    assert (world.status, rungs(world)) == ("cancelled", [])


def test_a_run_that_is_stopped_while_a_group_is_taken_back_ends():
    plan = [{"id": "g", "steps": [tool("one", undo=BACK), tool("a")], "alternates": [ALT]}]
    world = World({"steps": plan}, {"a": NO, "one!": HANGS}).start().run()
    assert deeds(world) == ["one", "a"]
    world.cancel()
    world.script = {}
    world.run()
    assert (world.status, rungs(world)) == ("cancelled", [])


def test_a_loop_that_gets_nowhere_is_left_for_another_way_before_somebody_is_asked():
    loop = [tool("a"), {"id": "d", "decide": "'more'", "choices": ["more", "enough"], "on": {"more": "a"}}]
    group = {"id": "g", "steps": loop, "alternates": [ALT]}
    loop[0]["max_visits"] = 9
    world = driven([group], {"a": 1})
    assert (world.status, rungs(world)) == ("succeeded", [("g", "alternate")])


def test_what_an_earlier_round_has_done_holds_its_group_back():
    loop = [tool("a", tool="x.once", max_visits=3), tool("b", on={"success": "a"})]
    for inside in (
        loop,
        [{"id": "h", "steps": [tool("a", tool="x.once")], "max_visits": 3}, tool("b", on={"success": "h"})],
    ):
        group = {"id": "g", "steps": inside, "alternates": [ALT]}
        world = driven([group], {"a": [1, NO], "b": 1}, lasts={"x.once"})
        assert (world.status, rungs(world)) == ("failed", [])
        assert rungs(driven([group], {"a": [1, NO], "b": 1})) == [("g", "alternate")]
        assert rungs(driven([group], {"a": [NO, NO]}, lasts={"x.once"})) == [("g", "alternate")]


def test_what_has_held_a_group_back_is_said():
    def stays(world, step="g"):
        return next(fact.stays for fact in world.find(e.StepEnded) if fact.step == step)

    inside = [tool("one"), tool("two"), tool("a", recovery={"logic": ["fail"]})]
    for offer in ({"alternates": [ALT]}, {"simpler": ALT}, {"retry": THRICE}):
        for more in ({}, {"recovery": {"logic": ["continue"]}}, {"on": {"failure": "next"}}):
            world = driven([{"id": "g", "steps": inside, **offer, **more}], {"a": NO}, lasts={"x.y"})
            assert (stays(world), rungs(world)) == (("one", "two"), [])
    kept = driven([{"id": "g", "steps": [tool("one", undo=BACK), tool("a")], "retry": THRICE}], {"a": NO, "one!": NO})
    assert stays(kept) == ("one",)
    asked = World({"steps": [{"id": "g", "steps": inside, "retry": THRICE, "recovery": {"logic": ["ask"]}}]}, {"a": NO})
    asked.rules.lasts = {"x.y"}.__contains__
    asked.start().run()
    asked.answer("fail")
    assert stays(asked.run()) == ("one", "two")
    rolled = {"id": "h", "steps": [{"id": "g", "steps": inside, "retry": THRICE}], "recovery": {"logic": ["rollback"]}}
    assert stays(driven([rolled], {"a": NO}, lasts={"x.y"})) == ("one", "two")


def test_a_group_that_has_no_other_way_was_not_held_back():
    for offer in ({}, {"retry": {"attempts": 1}}, {"retry": THRICE, "recovery": {"logic": ["fail"]}}):
        group = {"id": "g", "steps": [tool("one"), tool("a")], **offer}
        kind = "denied" if "recovery" in offer else "logic"
        world = driven([group], {"a": fails(kind)}, lasts={"x.y"})
        assert [fact.stays for fact in world.find(e.StepEnded)] == [()] * len(world.find(e.StepEnded))
    gone = driven([{"id": "g", "steps": [tool("a")], "alternates": [ALT]}], {"a": NO, "g": NO}, lasts={"x.y"})
    assert {fact.stays for fact in gone.find(e.StepEnded)} == {()}


def test_what_an_earlier_round_has_grown_holds_its_group_back():
    grown = {"agent:coder": lambda view: Move(add=[tool("s")]) if view.first else Finish()}
    for inner in ({"agent": "coder"}, {"plan": "inner"}):
        inside = {"id": "i", **inner}
        for first in (inside | {"max_visits": 3}, {"id": "h", "steps": [inside], "max_visits": 3}):
            loop = [first, tool("b", on={"success": first["id"]}, max_visits=2)]
            group = {"id": "g", "steps": loop, "alternates": [ALT], "recovery": LOOSE}
            world = driven([group], {"b": [1, NO]}, strategies=grown, plans={"inner": {"steps": [tool("c")]}})
            assert (world.status, rungs(world)) == ("failed", [])


# ------------------------------------------------------------------------------- done again


THRICE = {"attempts": 3, "wait": "2s", "jitter": 0}
ONCE = {"retry": {"attempts": 1}}


def until_again(world):
    """Go on until a group is to be done again."""
    world.start()
    while not rungs(world):
        assert world.step()
    return world


def pauses(world, step="g"):
    return [fact.due for fact in world.find(e.RetryPlanned) if fact.step == step and fact.deed == "do"]


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_group_is_done_again_as_often_as_it_says_as_far_as_that_helps_against_the_kind(shape, kind):
    step, script = always(kind)
    for each, status in (([fails(kind), fails(kind), 4], "succeeded"), (fails(kind), "failed")):
        script = {"a": each, "g/1.1": each, "g/1[0].a": each, "g/1[1].a": each}
        after = tool("b", **{"with": {"value": "${steps.g.output}"}})
        world = in_shape(shape, step, script=script, then=[after], retry=THRICE, recovery=LOOSE)
        if "retry" in OWN[kind]:
            assert (world.status, rungs(world)) == (status, [("g", "retry")] * 2)
            assert world.state.cells["g"].body.tries == 3
        else:
            assert (world.status, rungs(world)) == ("failed", [])


def test_a_group_that_says_nothing_is_done_once():
    for more in ({}, {"recovery": {"transient": ["retry", "fail"]}}):
        world = driven([{"id": "g", "steps": [tool("a", retry={"attempts": 2})], **more}], {"a": fails("transient")})
        assert (world.status, deeds(world), rungs(world)) == ("failed", ["a", "a"], [])


@pytest.mark.parametrize("shape", SHAPES)
def test_what_was_done_in_a_group_is_taken_back_before_it_is_done_again(shape):
    steps = tool("one", undo=BACK), tool("a", needs=["one"] if shape == "graph" else [])
    if shape == "agent":
        steps = tool("one", undo=BACK), tool("a", needs=["s1"])
    script = {"a": [NO, 1], "g/1.2": [NO, 1], "g/1[0].a": [NO, 1], "g/1[1].a": 1, "g/1.a": [NO, 1]}
    world = in_shape(shape, *steps, script=script, retry=THRICE)
    assert (world.status, rungs(world)) == ("succeeded", [("g", "retry")])
    assert sum("!" in each for each in deeds(world)) == 1
    visits = [(each.step, each.visit) for each in world.made if each.deed == "do"]
    assert len(set(visits)) == len(visits)


@pytest.mark.parametrize("shape", ["serial", "plan"])
def test_a_group_in_which_something_stays_is_not_done_again(shape):
    kept = in_shape(shape, tool("one", undo=BACK), tool("a"), script={"a": NO, "one!": NO}, retry=THRICE)
    assert (kept.status, rungs(kept)) == ("failed", [])
    lasts = in_shape(shape, tool("one"), tool("a"), script={"a": NO}, retry=THRICE, dials={"lasts": {"x.y"}})
    assert (lasts.status, rungs(lasts), deeds(lasts)) == ("failed", [], ["one", "a"])


def test_the_pauses_between_the_tries_of_a_group_grow():
    world = driven([{"id": "g", "steps": [tool("a")], "retry": THRICE | {"attempts": 4}}], {"a": NO})
    assert [due - NOON for due in pauses(world)] == [2000, 6000, 14_000]
    slow = Failure("unavailable", "later", retry_after=9.0)
    world = driven([{"id": "g", "steps": [tool("a", **ONCE)], "retry": THRICE}], {"a": [slow, 1]})
    assert ([due - NOON for due in pauses(world)], world.status) == ([9000], "succeeded")
    world = driven([{"id": "g", "steps": [tool("a")], "retry": THRICE | {"wait": 0}}], {"a": NO})
    assert [due - NOON for due in pauses(world)] == [0, 0]
    world = driven([{"id": "g", "steps": [tool("a")], "retry": THRICE | {"within": 5}}], {"a": NO})
    assert [due - NOON for due in pauses(world)] == [2000]


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_begins_in_a_group_before_its_pause_is_over(shape):
    """A run that was loaded, paused, and loaded again in between goes on when it would have."""
    plan = [{**SHAPES[shape](tool("a")), "retry": THRICE}]
    grown = {"agent:coder": lambda view: Move(add=[tool("s")]) if view.first else Finish("failure", failure=NO)}
    world = World({"steps": plan}, {"a": NO}, strategies=grown, plans={"inner": {"steps": [tool("a")]}}, forgetful=True)
    until_again(world)
    made = len(world.made)
    assert (world.status, world.state.wake_at) == ("waiting", NOON + 2000)
    world.send(e.SignalReceived(name="x"))
    assert len(world.made) == made
    world.send(e.RunPaused())
    world.now += 60_000
    world.send(e.RunResumed())
    assert (len(world.made), world.state.wake_at) == (made, NOON + 62_000)


def test_a_group_has_its_time_for_each_try():
    plan = [{"id": "g", "steps": [tool("a")], "timeout": 5, "retry": THRICE}]
    world = driven(plan, {"a": [HANGS, HANGS, 7]})
    assert (world.status, world.output, [due - NOON for due in pauses(world)]) == ("succeeded", 7, [7000, 16_000])
    world = driven(plan, {"a": HANGS})
    assert (world.failure.kind, world.now - NOON) == ("timeout", 21_000)


def test_all_tries_of_a_visit_count_whatever_they_tried():
    ways = {"alternates": [{"agent": "coder"}, ALT], "retry": THRICE, "recovery": LOOSE}
    grown = {"agent:coder": lambda view: Move(add=[tool("s")]) if view.first else Finish("failure", failure=NO)}
    world = driven([{"id": "g", "steps": [tool("a")], **ways}], {"a": NO, "g": NO}, strategies=grown)
    assert [rung for _, rung in rungs(world)] == ["retry", "retry", "alternate", "alternate"]
    assert called(world) == ["x.alt"]
    early = driven([{"id": "g", "steps": [tool("a")], **ways}], {"a": fails("denied"), "g": NO}, strategies=grown)
    assert [rung for _, rung in rungs(early)] == ["alternate", "retry", "alternate"]
    leaf = driven([tool("g", **ways)], {"g": [fails("denied"), NO]}, strategies=grown)
    assert [rung for _, rung in rungs(leaf)] == ["alternate", "retry", "alternate"]
    late = ways | {"retry": THRICE | {"within": 1}}
    leaf = driven([tool("g", **late)], {"g": [fails("denied"), NO]}, strategies=grown)
    assert [rung for _, rung in rungs(leaf)] == ["alternate", "alternate"]


def test_the_next_visit_of_a_group_has_all_its_tries():
    plan = [{"id": "g", "steps": [tool("a")], "max_visits": 2, "retry": THRICE}, tool("b", on={"failure": "g"})]
    world = driven(plan, {"a": [NO, NO, 1, NO, NO, 1], "b": [NO, 1]})
    assert (world.status, len(rungs(world)), deeds(world).count("a")) == ("succeeded", 4, 6)


def test_a_group_that_is_done_again_keeps_its_locks():
    plan = [{"id": "all", "parallel": [
        {"id": "g", "steps": [tool("a")], "locks": ["desk"], "retry": THRICE},
        tool("b", locks=["desk"], priority=-1)]}]  # fmt: skip
    assert deeds(driven(plan, {"a": [NO, 1]})) == ["a", "a", "b"]


def test_a_group_that_never_had_its_locks_waits_for_them_again():
    plan = [{"id": "all", "parallel": [
        tool("b", locks=["desk"], priority=1),
        {"id": "g", "steps": [tool("a")], "locks": ["desk"], "timeout": 5, "retry": THRICE}]}]  # fmt: skip
    world = until_again(World({"steps": plan}, {"b": HANGS}, forgetful=True))
    world.send(e.AttemptEnded(step="b", visit=1))
    assert (world.run().status, deeds(world)) == ("succeeded", ["a"])


def test_what_is_spent_in_all_tries_of_a_group_counts_together():
    plan = [{"id": "g", "steps": [tool("a")], "retry": THRICE | {"attempts": 9}, "budget": {"steps": 2}}]
    world = driven(plan, {"a": NO})
    assert (world.failure.kind, deeds(world)) == ("budget", ["a", "a"])


def test_a_map_is_done_again_with_all_its_items():
    plan = [{"id": "g", "map": "${inputs.of}", "steps": [tool("a", **{"with": {"value": "${item}"}})], "limit": 1}]
    plan[0]["retry"] = THRICE
    document = {"inputs": {"of": {"type": "array"}}, "steps": plan}
    world = driven(document, {"g/1[1].a": [NO, 20]}, {"of": [1, 2, 3]})
    assert (world.status, world.output, rungs(world)) == ("succeeded", [1, 20, 3], [("g", "retry")])
    assert sorted(deeds(world)) == ["g/1[0].a", "g/1[0].a", "g/1[1].a", "g/1[1].a", "g/1[2].a"]


def test_one_who_is_stopped_between_two_tries_is_over_and_goes_on_at_once_when_somebody_wants_it():
    plan = [{"id": "g", "steps": [tool("a")], "timeout": 5, "retry": THRICE}]
    world = until_again(World({"steps": plan}, {"a": [NO, HANGS, 3]}, forgetful=True))
    world.cancel()
    assert world.status == "cancelled"
    world.now += 500_000
    world.retry()
    at = world.now
    assert [(each.step, each.visit) for each in world.find(e.AttemptStarted)] == [("a", 1), ("a", 2)]
    assert (world.run().status, world.output, world.now - at) == ("succeeded", 3, 5000 + 4000)


def test_a_loop_that_gets_nowhere_is_begun_anew_before_somebody_is_asked():
    loop = [tool("a"), {"id": "d", "decide": "'more'", "choices": ["more", "enough"], "on": {"more": "a"}}]
    loop[0]["max_visits"] = 9
    group = {"id": "g", "steps": loop, "retry": THRICE, "recovery": {"stalled": ["retry", "ask"]}}
    world = driven([group], {"a": 1})
    assert (world.status, rungs(world)) == ("waiting", [("g", "retry")] * 2)


def test_groups_within_groups_are_done_again_each_by_its_own_count():
    inner = {"id": "h", "steps": [tool("a")], "retry": THRICE | {"attempts": 2}}
    world = driven([{"id": "g", "steps": [tool("one"), inner], "retry": THRICE}], {"a": NO})
    assert (world.status, deeds(world).count("a"), deeds(world).count("one")) == ("failed", 6, 3)
    assert rungs(world) == [("h", "retry"), ("g", "retry"), ("h", "retry"), ("g", "retry"), ("h", "retry")]


# ------------------------------------------------------------------------------- looser criteria


@pytest.mark.parametrize("shape", SHAPES)
def test_looser_criteria_are_asked_about_what_a_group_gave(shape):
    criteria = {"accept": ["output == 9"], "relaxed": ["output != 4"]}
    inside = tool("a", **{"with": {"value": 5}})
    world = in_shape(shape, inside, **criteria)
    assert (world.status, rungs(world)) == ("succeeded", [("g", "relax")])
    strict = in_shape(shape, inside, accept=["output == 9"], relaxed=["output == 4"])
    assert (strict.failure.kind, rungs(strict)) == ("unmet", [])
    assert rungs(in_shape(shape, inside, accept=["true"], relaxed=["true"])) == []


def test_looser_criteria_help_against_no_other_failure():
    group = {"id": "g", "parallel": [tool("a", when="false")], "join": "any", "accept": ["true"], "relaxed": ["true"]}
    assert driven([group], {}).failure.message == "too few steps succeeded"
    group = {"id": "g", "steps": [tool("a")], "ensures": ["false"], "accept": ["false"], "relaxed": ["true"]}
    assert "does not ensure" in driven([group], {}).failure.message


def test_a_group_that_is_not_good_enough_is_asked_about_as_well():
    group = {"id": "g", "steps": [tool("a")], "accept": ["output > 8"], "recovery": {"unmet": ["ask"]}}
    world = driven([group, tool("b")], {"a": 5})
    assert (world.status, [each.step for each in world.state.questions.values()]) == ("waiting", ["g"])


def test_what_came_of_another_way_is_held_to_the_same_criteria():
    group = {"id": "g", "steps": [tool("a")], "accept": ["output > 8"], "relaxed": ["output > 3"]}
    world = driven([group | {"alternates": [ALT]}], {"a": NO})
    assert (world.output, rungs(world)) == (5, [("g", "alternate"), ("g", "relax")])


# ------------------------------------------------------------------------------- agents


JUST = {"recovery": {"logic": ["fail"]}}


def once(name):
    """A strategy that tries one step and gives what that gave; it tells in its memo who it is."""

    def strategy(view):
        if view.first:
            return Move(
                add=[{"tool": "x.y", "with": {"value": f"{name} {view.task}"}, "undo": BACK, **JUST}], memo=name
            )
        (child,) = view.fresh
        return Finish("failure", failure=child.failure) if child.failure else Finish(output=[name, child.output])

    return strategy


STRATEGIES = {"agent:first": once("first"), "agent:second": once("second"), "careful": once("careful")}
AGENT = {"id": "g", "agent": "first", "task": "A"}


@pytest.mark.parametrize(
    ("way", "output"),
    [
        ({"agent": "second", "task": "B"}, ["second", "second B"]),
        ({"agent": "first", "task": "B", "strategy": "careful"}, ["careful", "careful B"]),
        ({"agent": "nobody", "task": "B"}, "whole"),
        ({"model": "weak", "prompt": "B"}, "whole"),
    ],
)
def test_an_agent_that_fails_is_followed_by_another(way, output):
    world = driven(
        [AGENT | {"alternates": [way]}],
        {"g/1.1": [NO, lambda call: call.arguments["value"]], "g": "whole"},
        strategies=STRATEGIES,
    )
    assert (world.status, world.output) == ("succeeded", output)
    visits = [(each.step, each.visit) for each in world.made]
    assert len(set(visits)) == len(visits)


def test_a_step_may_be_followed_by_an_agent_and_that_by_a_step():
    ways = [{"agent": "second", "task": "B"}, ALT]
    world = driven([tool("g", alternates=ways)], {"g": [fails("denied"), 8], "g/1.1": NO}, strategies=STRATEGIES)
    assert (world.status, world.output, called(world)) == ("succeeded", 8, ["x.y", "x.alt"])
    assert [each.attempt for each in world.made if each.step == "g"] == [1, 2]


def test_an_agent_that_follows_a_step_waits_for_its_locks():
    """The step had let go of them while a person thought."""
    both = [tool("g", locks=["desk"], alternates=[{"agent": "second"}], priority=1), tool("b", locks=["desk"])]
    script = {"g": Outcome(approval=Approval("d", "write it")), "b": HANGS}
    world = World({"steps": [{"id": "all", "parallel": both}]}, script, strategies=STRATEGIES).start().run()
    world.answer(False)
    world.run()
    assert (rungs(world), deeds(world), set(world.state.eager)) == ([("g", "alternate")], ["g"], {"g"})
    world.send(e.AttemptEnded(step="b", visit=1))
    assert (world.run().status, deeds(world)[-1]) == ("succeeded", "g/1.1")


def test_a_person_is_asked_about_each_way_of_a_visit_anew():
    ways = [{"agent": "second", "task": "B"}]
    step = tool("g", alternates=ways, recovery={"logic": ["ask", "alternate"]})
    world = World({"steps": [step]}, {"g": [NO, fails("denied")], "g/1.1": NO}, strategies=STRATEGIES).start().run()
    world.answer("again")
    world.run()
    (question,) = world.state.questions
    assert (rungs(world), question) == ([("g", "alternate")], "q_g_1_failed1_again")
    world.answer("fail")
    assert world.run().status == "failed"


def test_agents_are_not_nested_without_an_end():
    def deeper(view):
        if view.first:
            return Move(add=[{"tool": "x.y", "alternates": [{"agent": "deeper"}], "retry": {"attempts": 1}}])
        return Finish("failure", failure=view.fresh[0].failure)

    step = tool("g", alternates=[{"agent": "deeper"}])
    world = World({"steps": [step]}, lambda _: NO, strategies={"agent:deeper": deeper}).start().run()
    assert world.failure.kind == "logic"
    assert len(rungs(world)) == 8


def test_the_steps_of_another_agent_have_the_tables_around_it_and_not_those_of_the_plan_it_stands_for():
    inner = {"steps": [tool("a")], "recovery": {"unmet": ["fail"]}}
    step = {"id": "g", "plan": inner, "alternates": [{"agent": "second"}], "recovery": {"unmet": ["continue"]}}
    world = driven([step], {"a": NO, "g/1.1": fails("unmet")}, strategies=STRATEGIES)
    assert (world.status, world.state.cells["g/1.1"].result.partial) == ("succeeded", True)


# ------------------------------------------------------------------------------- found by skill


def skilled(*names):
    return {"skilled": lambda call, skills, layers: names if tuple(skills) == ("weather",) else ()}


def found(world):
    return [each.tool for each in world.find(e.RungTaken)]


GONE = Failure("unavailable", "gone")
STEP = tool("a", skills=["weather"], retry={"attempts": 1}, **{"with": {"value": 3}})


def test_a_tool_with_the_skills_of_a_step_stands_in_for_its_own():
    world = driven([STEP], {"a": [GONE, GONE, 4]}, **skilled("x.y", "b.get", "c.get"))
    assert (world.status, called(world, "a")) == ("succeeded", ["x.y", "b.get", "c.get"])
    assert found(world) == ["b.get", "c.get"]
    assert world.state.cells["a"].ways == ("alternate:b.get", "alternate:c.get")
    assert all(dict(each.call.arguments) == {"value": 3} for each in world.made)


def test_what_a_step_names_itself_comes_first_and_is_not_found_again():
    step = STEP | {"alternates": [{"tool": "b.get"}], "simpler": {"tool": "d.get"}}
    world = driven([step], {"a": GONE}, **skilled("b.get", "d.get", "c.get"))
    assert (called(world, "a"), world.failure.kind) == (["x.y", "b.get", "c.get"], "unavailable")


@pytest.mark.parametrize(
    "step",
    [
        tool("a", retry={"attempts": 1}),
        STEP | {"with": {"key": "${secrets.KEY}"}},
        {"id": "a", "model": "weak", "prompt": "?", "skills": ["weather"], "retry": {"attempts": 1}},
        {"id": "a", "steps": [tool("s", retry={"attempts": 1})], "skills": ["weather"]},
    ],
)
def test_who_names_no_skills_has_a_secret_or_calls_no_tool_gets_none_that_was_not_named(step):
    assert rungs(driven([step], {"a": GONE, "s": GONE}, **skilled("b.get"))) == []


def test_arguments_that_cannot_be_told_are_handed_to_nobody():
    step = STEP | {"with": {"value": "${steps.first.output.no}"}}
    assert rungs(driven([tool("first"), step], {"first": {}}, **skilled("b.get"))) == []


def test_which_tool_was_found_is_a_fact():
    """A journal is folded, and decided anew, where the tool is not known any more."""
    world = World({"steps": [STEP]}, {"a": [GONE, HANGS]}, **skilled("b.get")).start().run()
    world.rules.skilled = lambda *_: ()
    world.fold()
    assert world.state.cells["a"].traits.tool == "b.get"
    world.crash()
    world.script = {"a": 4}
    assert (world.run().status, called(world, "a")[-1]) == ("succeeded", "b.get")


def test_a_choice_may_be_made_by_a_tool_that_was_found():
    step = {
        "id": "a",
        "decide": {"tool": "x.y"},
        "choices": ["left", "right"],
        "skills": ["weather"],
        "retry": {"attempts": 1},
    }
    world = driven([step | {"on": {"left": "done"}}, tool("b")], {"a": [GONE, "left"]}, **skilled("b.get"))
    assert (world.status, called(world, "a"), world.exit_of("a")) == ("succeeded", ["x.y", "b.get"], "left")


# ------------------------------------------------------------------------------- what may come between


def test_a_crash_in_another_way_is_settled_there():
    group = {"id": "g", "steps": [tool("a")], "alternates": [{"tool": "z.pay"}]}
    world = World(
        {"steps": [group]}, {"a": NO, "g": LOST}, repeat=lambda call: "never" if call.name == "z.pay" else "safe"
    )
    world.start().run()
    (question,) = world.state.questions.values()
    assert (question.about, "z.pay" in question.text) == ("doubt", True)
    world.answer({"choice": "happened", "output": 3})
    assert (world.run().status, world.output) == ("succeeded", 3)


@pytest.mark.parametrize("way", [ALT, {"agent": "second"}])
def test_a_run_is_opened_again_after_its_last_way_failed(way):
    plan = {"steps": [{"id": "g", "steps": [tool("a")], "alternates": [way]}, tool("b")]}
    world = World(plan, {"a": [NO, 1], "g": NO, "g/1.1": [NO, 2]}, strategies=STRATEGIES).start().run()
    assert world.status == "failed"
    world.retry()
    assert world.run().status == "succeeded"


def test_a_step_of_a_way_that_was_left_cannot_be_opened_again():
    world = driven([{"id": "g", "steps": [tool("a")], "alternates": [ALT]}], {"a": NO, "g": NO})
    with pytest.raises(NoStep):
        world.retry("a")


@pytest.mark.parametrize("way", [ALT, {"agent": "second"}])
def test_a_plan_that_is_revised_meanwhile_leaves_the_way_as_it_is(way):
    plan = {
        "steps": [
            {"id": "g", "steps": [tool("a"), tool("c")], "alternates": [way], "max_visits": 2},
            tool("b", on={"failure": "g"}),
        ]
    }
    world = World(plan, {"a": [NO, 1], "g": [HANGS], "g/1.1": HANGS, "b": [NO, 1]}, strategies=STRATEGIES).start().run()
    edits = ({"amend": "c", "fields": {"title": "C"}}, {"insert": tool("d"), "after": "b"})
    world.send(e.RunRevised(edits=edits))
    world.fold()
    world.script = {"b": [NO, 1]}
    world.run()
    assert (world.status, deeds(world)[-2:], rungs(world)) == ("succeeded", ["b", "d"], [("g", "alternate")])


def test_a_group_whose_last_visit_went_another_way_gets_steps_for_its_next_one():
    group = {"id": "g", "parallel": [tool("a"), tool("c")], "alternates": [{"agent": "second"}], "max_visits": 2}
    plan = {"steps": [group, tool("b", on={"failure": "g"})]}
    world = World(plan, {"a": [NO, 1], "b": HANGS}, strategies=STRATEGIES).start().run()
    assert rungs(world) == [("g", "alternate")]
    world.send(e.RunRevised(edits=({"insert": tool("d"), "into": "g"},)))
    world.fold()
    world.send(e.AttemptEnded(step="b", visit=1, exit="failure", failure=NO))
    world.script = {}
    assert (world.run().status, sorted(deeds(world)[-4:])) == ("succeeded", ["a", "b", "c", "d"])


def test_it_would_be_decided_the_same_again():
    group = {"id": "g", "steps": [tool("one", undo=BACK), tool("a")], "alternates": [{"agent": "second"}, ALT]}
    world = driven([group], {"a": NO, "g/1.1": NO}, strategies=STRATEGIES)
    again = redecide("r_1", world.rules, list(zip(world.events, (at for _, _, at in world.facts), strict=True)))
    assert (again.difference, again.facts) == (None, len(world.facts))
