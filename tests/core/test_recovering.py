"""E14, A6: every kind of failure, every rung, also when the run is folded anew before each message."""

from collections.abc import Mapping
from typing import get_args

import pytest
from driven import NO, driven, tool

from perdure.core import events as e
from perdure.core.accepting import Look
from perdure.core.calls import Approval, Failure, Outcome
from perdure.core.ladder import OWN, PATIENT
from perdure.core.refusing import BadAnswer
from perdure.plan.model.parts import FailureKind, Rung
from perdure.testing.worlds import HANGS, World

KINDS = get_args(FailureKind)
DOUBTS = {"in_doubt", "cancelled"}
"""Kinds that a report of an attempt has only where nobody knows what came of it."""
PLAIN = [kind for kind in KINDS if kind not in DOUBTS]


def no(kind="logic", **more):
    return Failure(kind, "no", **more)


@pytest.fixture(params=[False, True], ids=["live", "folded"])
def world(request):
    """A world, as it is or folded anew before every message: a crash between any two rungs."""

    def made(plan: Mapping | list, script, **more):
        plan = plan if isinstance(plan, Mapping) else {"steps": plan}
        found = World(plan, script, forgetful=request.param, **more)
        return found.start().run() if found.state.started is None else found

    return made


def deeds(world):
    """What was done and taken back, in order."""
    return [made.step + "!" * (made.deed == "undo") for made in world.made if made.deed != "probe"]


def rungs(world):
    return [fact.rung for fact in world.events if isinstance(fact, e.RungTaken)]


def tried(world, step="a"):
    return [made.call.name for made in world.made if made.step == step and made.deed == "do"]


OTHER = {"simpler": {"tool": "x.light"}, "alternates": [{"tool": "x.one"}, {"tool": "x.two"}]}


# ------------------------------------------------------------------------------- within a visit


@pytest.mark.parametrize("kind", PLAIN)
def test_what_a_step_offers_is_used_as_far_as_it_helps_against_the_kind(kind, world):
    found = world([tool("a", retry={"attempts": 2}, **OTHER)], {"a": no(kind)})
    own = OWN[kind]
    wanted = ["x.y"] + ["x.y"] * ("retry" in own) + ["x.light"] * ("simplify" in own)
    wanted += ["x.one", "x.two"] * ("alternate" in own)
    assert tried(found) == wanted
    if kind == "stalled":
        assert found.status == "waiting"
    else:
        assert (found.status, found.failure.kind) == ("failed", kind)


@pytest.mark.parametrize("kind", PLAIN)
def test_what_may_work_later_is_tried_again_even_where_nobody_says_so(kind, world):
    found = world([tool("a", recovery={"stalled": ["fail"]})], {"a": no(kind)})
    assert len(tried(found)) == (3 if kind in PATIENT else 1)


def test_the_other_side_says_how_long_to_stay_away(world):
    found = world([tool("a")], {"a": [no("rate_limited", retry_after=60), 1]})
    first, second = (made.at for made in found.made)
    assert second - first >= 60_000
    assert found.status == "succeeded"


def test_all_tries_of_a_visit_count_whatever_they_tried(world):
    script = {"a": [no("denied"), no("transient"), no("transient"), no("transient"), 1]}
    found = world(
        [tool("a", retry={"attempts": 3, "wait": 0}, alternates=[{"tool": "x.one"}, {"tool": "x.two"}])], script
    )
    assert tried(found) == ["x.y", "x.one", "x.one", "x.two"]
    assert found.status == "failed"


def test_another_way_is_done_with_its_own_arguments_and_its_own_declaration(world):
    plan = [tool("first"), tool("a", alternates=[{"tool": "x.one", "with": {"n": "${steps.first.output}"}}])]
    found = world(plan, {"first": 7, "a": [no("denied"), "ok"]})
    assert [dict(made.call.arguments) for made in found.made if made.step == "a"] == [{}, {"n": 7}]
    assert found.output == "ok"


def test_the_next_visit_begins_in_the_usual_way(world):
    plan = [tool("a", max_visits=2, alternates=[{"tool": "x.one"}]), tool("b", on={"failure": "a"})]
    found = world(plan, {"a": [no("denied"), 1, 2], "b": [no(), 1]})
    assert tried(found) == ["x.y", "x.one", "x.y"]


def test_looser_criteria_are_asked_about_the_same_result(world):
    plan = [tool("a", accept=["output > 8"], relaxed=["output > 3"])]
    assert (world(plan, {"a": 5}).status, tried(world(plan, {"a": 5}))) == ("succeeded", ["x.y"])
    assert rungs(world(plan, {"a": 5})) == ["relax"]
    assert world(plan, {"a": 2}).failure.kind == "unmet"
    assert rungs(world(plan, {"a": 9})) == []


def test_looser_criteria_do_not_help_one_that_gave_nothing(world):
    found = world([tool("a", relaxed=["output > 3"], recovery={"logic": ["relax", "fail"]})], {"a": no()})
    assert found.status == "failed"


def test_what_was_done_and_can_be_taken_back_is_not_done_in_another_way_as_well(world):
    """Else a rollback would know of the second deed alone."""
    plan = [tool("a", accept=["output > 8"], undo={"tool": "x.back"}, alternates=[{"tool": "x.one"}])]
    found = world(plan, {"a": 5})
    assert (tried(found), found.failure.kind) == (["x.y"], "unmet")


def test_what_may_have_been_done_and_can_be_taken_back_is_not_done_in_another_way_either(world):
    """It was cut off, and its tool knows a way back: that way must not be forgotten."""
    plan = [tool("a", timeout=1, alternates=[{"tool": "x.one"}])]
    found = world(plan, {"a": HANGS}, undo={"x.y": ()})
    assert (rungs(found), found.failure.kind) == ([], "timeout")
    found.cancel(exit="rolled_back")
    assert deeds(found.run())[-1] == "a!"
    assert rungs(world(plan, {"a": [HANGS, 1]})) == ["alternate"]


def test_one_that_is_stopped_before_it_began_in_another_way_leaves_no_doubt(world):
    """What came of the way before was settled, and that another tool may never be repeated says nothing about it."""
    plan = [tool("a", timeout=1, alternates=[{"tool": "z.pay"}])]
    never = {"repeat": lambda call: "never" if call.name == "z.pay" else "safe"}
    found = world(plan, {"a": HANGS}, limits={"z.pay": 0}, **never)
    assert rungs(found) == ["alternate"]
    found.cancel()
    found.run()
    assert (found.status, found.find(e.StepEnded)[-1].failure) == ("cancelled", None)


def test_arguments_that_cannot_be_told_may_be_told_in_another_way(world):
    plan = [tool("first"), {"id": "a", "tool": "x.y", "with": {"n": "${steps.first.output.nothing}"}}]
    plan[1]["alternates"] = [{"tool": "x.one"}]
    plan[1]["recovery"] = {"invalid": ["retry", "alternate"]}
    assert tried(world(plan, {"first": {}, "a": 1})) == ["x.one"]


@pytest.mark.parametrize("ways", [{}, {"alternates": [{"tool": "x.one", "with": {"n": "${steps.first.output.no}"}}]}])
def test_somebody_who_is_asked_about_arguments_that_cannot_be_told_is_heard(ways, world):
    """Nothing was tried, so nothing ends by which the answer would be looked at; and to try again changes nothing."""
    given = {} if ways else {"with": {"n": "${steps.first.output.no}"}}
    plan = [tool("first"), tool("a", **ways, **given, recovery={"invalid": ["ask"]})]
    found = world(plan, {"first": {}, "a": no("denied")})
    for _ in range(2):
        found.answer("again")
        assert found.run().status == "waiting"
    found.answer({"choice": "done", "output": 3})
    assert (found.run().status, found.output) == ("succeeded", 3)


@pytest.mark.parametrize("where", ["step", "group", "plan"])
def test_a_table_that_names_what_a_step_offers_says_when_it_is_used(where, world):
    table = {"logic": ["alternate", "retry", "fail"]}
    step = tool("a", retry={"attempts": 3, "wait": 0}, alternates=[{"tool": "x.one"}])
    plan = {"steps": [step | ({"recovery": table} if where == "step" else {})]}
    if where == "group":
        plan = {"steps": [{"id": "g", "recovery": table, **plan}]}
    if where == "plan":
        plan["recovery"] = table
    assert tried(world(plan, {"a": no()})) == ["x.y", "x.one", "x.one"]


def test_a_table_may_want_what_is_of_no_use_otherwise(world):
    plan = [tool("a", recovery={"invalid": ["retry"]})]
    assert len(tried(world(plan, {"a": no("invalid")}))) == 3


def test_a_tool_that_is_left_gives_its_place_back():
    plan = {"steps": [tool("a", alternates=[{"tool": "x.one"}]), tool("b")]}
    found = World(plan, {"a": [no("denied"), 1]}, limits={"x.y": 1, "x.one": 1}).start().run()
    assert deeds(found) == ["a", "a", "b"]


# ------------------------------------------------------------------------------- after it


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("rung", get_args(Rung))
def test_every_rung_for_every_kind(kind, rung, world):
    step = tool("a", retry={"attempts": 2, "wait": 0}, **OTHER)
    found = world(
        {"steps": [tool("done", undo={"tool": "x.back"}), step, tool("b")], "recovery": {kind: [rung]}}, {"a": no(kind)}
    )
    ends = {"ask": "waiting", "rollback": "rolled_back", "continue": "succeeded"}
    assert found.status == ends.get(rung, "failed")
    assert ("b" in deeds(found)) is (rung == "continue")
    assert ("done!" in deeds(found)) is (rung == "rollback")


@pytest.mark.parametrize("rung", ["ask", "rollback", "continue", "fail"])
def test_where_the_plan_says_where_a_failure_leads_it_leads_there(rung, world):
    plan = {"steps": [tool("a", on={"failure": "b"}), tool("c"), tool("b")], "recovery": {"other": [rung]}}
    assert deeds(world(plan, {"a": no()})) == ["a", "b"]


ANSWERS = [
    ("again", "succeeded", ["a", "a", "b"], 2),
    ({"choice": "done", "output": 9}, "succeeded", ["a", "b"], 9),
    ("continue", "succeeded", ["a", "b"], None),
    ("fail", "failed", ["a"], None),
]


@pytest.mark.parametrize(("answer", "status", "done", "output"), ANSWERS)
def test_a_person_says_how_to_go_on(answer, status, done, output, world):
    plan = {"steps": [tool("a", recovery={"logic": ["ask"]}), tool("b")], "output": "${steps.?a.output}"}
    found = world(plan, {"a": [no(), 2]})
    assert (found.status, found.made[-1].step) == ("waiting", "a")
    (question,) = found.state.questions.values()
    assert (question.about, question.choices) == ("recovery", ("again", "done", "continue", "fail"))
    assert "a failed: logic: no (after 1 try)." in question.text
    with pytest.raises(BadAnswer):
        found.answer("perhaps")
    found.answer(answer)
    found.run()
    assert (found.status, deeds(found)) == (status, done)
    assert status == "failed" or found.output == output


def test_what_a_person_has_done_has_to_be_what_was_asked_for(world):
    plan = [tool("a", accept=["output > 3"], recovery={"unmet": ["ask"]})]
    found = world(plan, {"a": 1})
    found.answer({"choice": "done", "output": 2})
    found.run()
    assert (found.status, found.failure.kind) == ("failed", "unmet")


def test_somebody_who_was_asked_and_said_fail_is_not_asked_again_by_each_group_around(world):
    plan = {"steps": [{"id": "g", "steps": [{"id": "h", "steps": [tool("a")]}]}], "recovery": {"other": ["ask"]}}
    found = world(plan, {"a": no()})
    found.answer("fail")
    found.run()
    assert found.status == "failed"


def test_a_person_who_said_no_is_not_the_end_where_there_is_another_way(world):
    plan = [tool("a", alternates=[{"tool": "x.one"}])]
    found = world(plan, {"a": [Outcome(approval=Approval("d", "write it")), 2]})
    found.answer(False)
    found.run()
    assert (found.status, tried(found)) == ("succeeded", ["x.y", "x.one"])


def test_a_no_may_lead_to_another_question(world):
    found = world([tool("a", recovery={"denied": ["ask"]})], {"a": [Outcome(approval=Approval("d", "write it")), 2]})
    found.answer(False)
    found.run()
    found.answer("again")
    assert found.run().status == "succeeded"


@pytest.mark.parametrize(
    "more",
    [{"alternates": [{"tool": "x.y"}]}, {"recovery": {"denied": ["ask"]}}, {"recovery": {"denied": ["retry"]}}],
    ids=["another way", "again", "retry"],
)
def test_what_a_person_said_no_to_is_not_agreed_to_by_trying_it_again(more, world):
    """Whoever tries it again asks again, and what is not agreed to is not carried along."""
    found = world([tool("a", **more)], {"a": Outcome(approval=Approval("d", "write it"))})
    found.answer(False)
    found.run()
    if more.get("recovery") == {"denied": ["ask"]}:
        found.answer("again")
        found.run()
    assert [each.approved for each in found.find(e.AttemptStarted)] == [(), ()]
    assert [each.about for each in found.state.questions.values()] == ["policy"]
    found.answer(True)
    found.run()
    assert found.find(e.AttemptStarted)[-1].approved == ("d",)


def test_what_surely_did_not_happen_and_is_asked_about_is_heard_as_such(world):
    """A probe said so: the question is about the failure, not about the doubt, and `fail` is not `again`."""
    plan = [tool("a", timeout=1, recovery={"timeout": ["ask"]})]
    found = world(plan, {"a": HANGS, "a?": {"happened": False}}, repeat="never", probes={"x.y"})
    assert [each.about for each in found.state.questions.values()] == ["recovery"]
    found.answer("fail")
    found.run()
    assert [each.deed for each in found.find(e.AttemptStarted)] == ["do", "probe"]
    assert found.status == "failed"


def test_cancelling_closes_what_was_asked(world):
    found = world([tool("a", recovery={"logic": ["ask"]})], {"a": no()})
    found.cancel()
    found.run()
    assert (found.status, found.state.questions) == ("cancelled", {})


# ------------------------------------------------------------------------------- rolling back


def grouped(**more):
    return [
        tool("before", undo={"tool": "x.back"}),
        {"id": "g", "steps": [tool("one", undo={"tool": "x.back"}), tool("a")], **more},
        tool("after"),
    ]


def test_a_group_takes_back_what_was_done_in_it_and_fails(world):
    found = world(grouped(recovery={"logic": ["rollback"]}), {"a": no()})
    assert deeds(found) == ["before", "one", "a", "one!"]
    assert (found.status, found.failure.kind, found.state.ended.cause) == ("failed", "logic", "a")


def test_then_the_plan_may_try_something_else(world):
    found = world(grouped(recovery={"logic": ["rollback"]}, on={"failure": "after"}), {"a": no()})
    assert (deeds(found), found.status) == (["before", "one", "a", "one!", "after"], "succeeded")


def test_a_plan_takes_back_everything(world):
    found = world({"steps": grouped(), "recovery": {"logic": ["rollback"]}}, {"a": no()})
    assert (deeds(found)[-2:], found.status) == (["one!", "before!"], "rolled_back")
    assert found.failure.kind == "logic"


def test_a_step_takes_back_its_own(world):
    plan = [tool("a", accept=["output > 3"], undo={"tool": "x.back"}, recovery={"unmet": ["rollback"]}), tool("b")]
    found = world(plan, {"a": 1})
    assert (deeds(found), found.status, found.failure.kind) == (["a", "a!"], "failed", "unmet")
    assert world([tool("a", recovery={"logic": ["rollback"]})], {"a": no()}).status == "failed"


def test_a_plan_may_roll_back_although_a_step_says_no_more_than_that_it_fails(world):
    steps = [tool("before", undo={"tool": "x.back"}), tool("a", recovery={"logic": ["fail"]})]
    found = world({"steps": steps, "recovery": {"logic": ["rollback"]}}, {"a": no()})
    assert (deeds(found), found.status) == (["before", "a", "before!"], "rolled_back")


# ------------------------------------------------------------------------------- groups


BOTH = {"id": "g", "parallel": [tool("a"), tool("b")], "join": {"quorum": 2}}


def test_a_group_has_a_ladder_of_its_own_where_those_inside_just_fail(world):
    plan = [
        {"id": "g", "steps": [tool("a", recovery={"logic": ["fail"]})], "recovery": {"logic": ["continue"]}},
        tool("b"),
    ]
    found = world(plan, {"a": no()})
    assert (found.status, deeds(found)) == ("succeeded", ["a", "b"])
    assert found.state.cells["g"].result.partial


def test_who_has_had_its_visits_is_left_behind_where_its_table_says_so_in_the_end():
    loop = [tool("a", max_visits=2, recovery={"stalled": ["ask", "continue"]}), tool("b", on={"failure": "a"})]
    found = driven([*loop, tool("c")], {"a": [1, 2], "b": [NO, NO, 1]})
    assert (found.status, found.done()) == ("succeeded", ["a", "b", "a", "b", "b", "c"])


@pytest.mark.parametrize(("answer", "done"), [("again", ["a", "a", "b"]), ("continue", ["a", "b"]), ("fail", ["a"])])
def test_a_person_is_asked_about_a_group(answer, done, world):
    inside = tool("a", recovery={"logic": ["fail"]})
    found = world([{"id": "g", "steps": [inside], "recovery": {"logic": ["ask"]}}, tool("b")], {"a": [no(), 1]})
    (question,) = found.state.questions.values()
    assert (question.step, question.choices) == ("g", ("again", "continue", "fail"))
    found.answer(answer)
    found.run()
    assert (deeds(found), found.status) == (done, "failed" if answer == "fail" else "succeeded")


def test_a_group_in_a_graph_cannot_be_entered_again(world):
    inside = tool("a", recovery={"logic": ["fail"]})
    group = {"id": "g", "steps": [inside], "recovery": {"logic": ["ask"]}}
    found = world([{"id": "all", "parallel": [group, tool("b")]}], {"a": no()})
    (question,) = found.state.questions.values()
    assert question.choices == ("continue", "fail")
    found.answer("continue")
    assert found.run().status == "succeeded"


def test_while_somebody_thinks_nothing_begins_in_the_group(world):
    inside = {"parallel": [tool("a", on={"failure": "fail"}), tool("b", needs=["a"])], "join": "settled"}
    found = world([{"id": "g", "recovery": {"logic": ["ask"]}, **inside}, tool("c")], {"a": no()})
    assert (found.status, deeds(found)) == ("waiting", ["a"])
    found.send(Look())
    assert deeds(found) == ["a"]
    found.answer("continue")
    assert deeds(found.run()) == ["a", "c"]


@pytest.mark.parametrize("how", ["cancel", "loser"])
def test_nobody_need_answer_about_a_group_that_is_not_wanted_any_more(how, world):
    inside = tool("a", recovery={"logic": ["fail"]})
    group = {"id": "g", "steps": [inside], "recovery": {"logic": ["ask"]}}
    plan = [{"id": "all", "parallel": [group, {"id": "w", "wait": {"signal": "go"}}], "join": "any"}, tool("c")]
    found = world(plan, {"a": no()})
    if how == "cancel":
        found.cancel()
    else:
        found.signal("go")
    found.run()
    assert (found.status, found.state.questions) == ("cancelled" if how == "cancel" else "succeeded", {})


def test_too_few_that_succeeded_is_a_failure_of_the_group(world):
    group = {"id": "g", "parallel": [{"id": "a", "tool": "x.y", "when": "false"}], "join": "any"}
    found = world([group | {"recovery": {"unmet": ["continue"]}}, tool("b")], {})
    assert (found.status, deeds(found)) == ("succeeded", ["b"])


def test_a_requirement_that_does_not_hold_is_dealt_with_by_the_group(world):
    group = {"id": "g", "steps": [tool("a", requires=["1 > 2"])], "recovery": {"unmet": ["rollback"]}}
    found = world([tool("before", undo={"tool": "x.back"}), group], {})
    assert (found.status, deeds(found)) == ("failed", ["before"])
    assert (
        world(
            {
                "steps": [tool("before", undo={"tool": "x.back"}), tool("a", requires=["1 > 2"])],
                "recovery": {"unmet": ["rollback"]},
            },
            {},
        ).status
        == "rolled_back"
    )


def test_a_group_that_is_taken_back_by_a_group_around_it(world):
    inner = {"id": "h", "steps": [tool("one", undo={"tool": "x.back"}), tool("a", requires=["1 > 2"])]}
    found = world([{"id": "g", "steps": [inner], "recovery": {"unmet": ["rollback"]}}], {})
    assert (deeds(found), found.status) == (["one", "one!"], "failed")


def test_a_group_is_asked_about_when_those_at_work_in_it_have_stopped(world):
    plan = [{"id": "g", "parallel": [tool("a"), tool("b")], "recovery": {"logic": ["ask"]}}, tool("c")]
    plan[0]["parallel"][0]["recovery"] = {"logic": ["fail"]}
    found = world(plan, {"a": no(), "b": HANGS})
    assert [each.step for each in found.state.questions.values()] == ["g"]
    found.send(Look())
    found.answer("continue")
    assert (found.run().status, found.exit_of("b")) == ("succeeded", "cancelled")


def test_what_is_stopped_already_is_not_stopped_again_to_be_taken_back():
    inner = {"id": "h", "parallel": [tool("a", on={"failure": "fail"}), tool("c")]}
    outer = {"id": "g", "parallel": [inner, tool("b")], "recovery": {"logic": ["rollback"]}, "losers": "keep"}
    found = World({"steps": [outer]}, {"a": no(), "b": HANGS, "c": HANGS}).start()
    found.perform(next(each for each in found.commands() if each.step == "a"))
    found.cancel("g")
    found.run()
    assert (found.exit_of("h"), found.exit_of("g"), found.status) == ("failure", "cancelled", "failed")
