"""E7 E17 R10: budgets. Nothing begins that they do not cover; when one is used up its owner fails, finishes or asks."""

import pytest
from driven import LATER, NO, driven, tool

from perdure.core import events as e
from perdure.core.affording import afford, attempt_at
from perdure.core.calls import Approval, Call, Failure, Outcome, Usage
from perdure.core.deciding import Deciding, Moment
from perdure.core.growth import Finish, Move
from perdure.core.refusing import BadAnswer
from perdure.core.trying import LOOK_SECONDS
from perdure.testing.worlds import HANGS, LOST, Takes, World


def model(id_, **more):
    return {"id": id_, "model": "weak", "prompt": "Think", **more}


def took(value=1, **usage):
    return Outcome(value, usage=Usage(**usage))


def three(**more):
    return {"steps": [tool("a"), tool("b"), tool("c")], **more}


# ------------------------------------------------------------------------------- then: fail, finish, ask


def test_e7_a_run_that_has_had_its_steps_fails():
    world = driven(three(budget={"steps": 2}))
    assert (world.status, world.done()) == ("failed", ["a", "b"])
    assert world.failure.kind == "budget"
    assert world.failure.message == "the budget of the run is used up: 2 of 2 steps spent, and 1 needed by c"
    assert world.state.ended.cause == "c"


def test_finish_ends_with_what_there_is():
    world = driven(three(budget={"steps": 2, "then": "finish"}), {"a": 1, "b": 2})
    assert (world.status, world.output, world.state.ended.partial) == ("succeeded", 2, True)


def test_finish_gives_the_output_of_the_plan_if_that_can_be_told():
    plan = three(budget={"steps": 2, "then": "finish"}, output="${steps.a.output}")
    assert driven(plan, {"a": 7}).output == 7
    assert driven({**plan, "output": "${steps.c.output}"}, {"b": 8}).output == 8
    assert driven({**plan, "output": "${steps.c.output.size}"}, {"b": 8}).output == 8


def test_ask_waits_for_more_and_goes_on_with_it():
    world = driven(three(budget={"steps": 1, "then": "ask"}))
    [question] = world.state.questions.values()
    assert (world.status, question.question, question.of, question.step) == ("waiting", "q_run_1_steps", "steps", "")
    world.answer(1)
    assert (world.run().status, list(world.state.questions)) == ("waiting", ["q_run_1_steps_again"])
    world.answer(100)
    assert (world.run().status, world.done()) == ("succeeded", ["a", "b", "c"])


@pytest.mark.parametrize(("word", "status"), [("finish", "succeeded"), ("fail", "failed")])
def test_a_person_may_say_that_it_is_enough(word, status):
    world = driven(three(budget={"steps": 1, "then": "ask"}))
    world.answer(word)
    assert (world.run().status, world.state.ended.partial) == (status, word == "finish")
    assert (world.failure.kind if world.failure else "") == ("budget" if word == "fail" else "")


@pytest.mark.parametrize("answer", [True, 0, -1, 2.5, "more", None, {"more": 1}, float("inf")])
def test_other_answers_are_refused(answer):
    world = driven(three(budget={"steps": 1, "then": "ask"}))
    with pytest.raises((BadAnswer, ValueError)):
        world.answer(answer)


def test_a_raise_survives_a_crash_and_a_new_visit():
    world = driven(three(budget={"steps": 2, "then": "ask"}), {"c": HANGS})
    world.answer(1)
    world.crash()
    assert world.commands()
    assert world.state.books.ledgers[""].most("steps") == 3


def test_a_question_that_nobody_needs_any_more_is_closed():
    world = driven(three(budget={"steps": 1, "then": "ask"}))
    world.cancel()
    assert (world.status, len(world.find(e.QuestionClosed))) == ("cancelled", 1)
    group = {"id": "g", "steps": [tool("a"), tool("b")], "budget": {"steps": 1, "then": "ask"}}
    plan = {"mode": "graph", "join": "any", "steps": [group, tool("x")]}
    world = driven(plan, {"x": Takes(5)})
    assert (world.status, len(world.find(e.QuestionClosed))) == ("succeeded", 1)


def test_an_answer_that_comes_while_the_owner_stops_changes_nothing():
    group = {"id": "g", "mode": "graph", "steps": [tool("a"), tool("b", needs=["a"]), tool("c")]}
    world = World({"steps": [{**group, "budget": {"calls": 1, "steps": 2, "then": "ask"}}]}, {"c": HANGS}).start()
    world.perform(world.commands()[0])
    assert not world.state.questions, "c is still at work in it"
    world.send(e.AttemptEnded(step="c"))
    assert list(world.state.questions) == ["q_g_1_steps"]


# ------------------------------------------------------------------------------- owners


def test_a_group_fails_like_any_other_and_the_plan_may_go_on():
    group = {"id": "g", "steps": [tool("a"), tool("b")], "budget": {"steps": 1}}
    world = driven([{**group, "on": {"failure": "z"}}, tool("y"), tool("z")])
    assert (world.status, world.done(), world.exit_of("g")) == ("succeeded", ["a", "z"], "failure")
    world = driven({"steps": [group, tool("z")], "recovery": {"budget": ["continue"]}})
    assert (world.status, world.done()) == ("succeeded", ["a", "z"])


def test_a_group_that_finishes_is_marked():
    group = {"id": "g", "steps": [tool("a"), tool("b")], "budget": {"steps": 1, "then": "finish"}, "accept": ["false"]}
    world = driven([group, tool("z", **{"with": {"value": "${steps.g.output}"}})], {"a": 5})
    assert (world.status, world.output) == ("succeeded", 5)
    assert [each.partial for each in world.find(e.StepEnded) if each.step == "g"] == [True]


def test_a_step_of_its_own_may_be_out_of_budget():
    world = driven([model("a", budget={"calls": 1}, retry={"attempts": 3, "wait": 0})], {"a": LATER})
    assert (len(world.made), world.failure.kind) == (1, "budget")
    step = model("a", budget={"calls": 1, "then": "finish"}, retry={"wait": 0}, undo={"tool": "un.do"})
    world = driven([step, tool("b")], {"a": LATER})
    assert (world.status, world.exit_of("a"), world.state.effects) == ("succeeded", "success", {})
    world = driven([model("a", budget={"calls": 1, "then": "ask"}, retry={"wait": 0})], {"a": [LATER, 3]})
    world.answer(1)
    assert world.run().output == 3
    world = driven([model("a", budget={"calls": 1, "then": "ask"}, retry={"wait": 0})], {"a": [LATER, 3]})
    world.answer("finish")
    assert (world.run().status, world.output) == ("succeeded", None)


def test_a_plan_inside_has_its_own_and_that_of_its_step():
    inner = {
        "budget": {"steps": 3, "then": "finish"},
        "steps": [tool("a"), tool("b"), tool("c")],
        "output": "${steps.a.output}",
    }
    world = driven([{"id": "p", "plan": inner, "budget": {"steps": 2}}])
    assert (world.status, world.done()) == ("failed", ["a", "b"])
    world = driven(
        [{"id": "p", "plan": {**inner, "budget": {"steps": 1, "then": "finish"}}, "budget": {"steps": 2}}], {"a": 4}
    )
    assert (world.status, world.done(), world.output) == ("succeeded", ["a"], 4)
    named = {**inner, "budget": {"steps": 1, "then": "finish"}}
    world = driven([{"id": "p", "plan": "inner", "budget": {"steps": 2}}], {"a": 4}, plans={"inner": named})
    assert (world.status, world.output) == ("succeeded", 4)
    world = driven([{"id": "p", "plan": "inner"}], plans={"inner": {"steps": [tool("a")]}})
    assert world.status == "succeeded"


def test_a_map_has_one_budget_for_all_its_items():
    plan = [{"id": "m", "map": [1, 2, 3], "steps": [tool("x")], "budget": {"steps": 2, "then": "finish"}, "limit": 1}]
    world = driven(plan, {"x": 9})
    assert (world.status, world.output) == ("succeeded", [9, 9, None])


def test_no_visit_begins_a_ledger_anew():
    loop = [{"id": "g", "steps": [tool("a")], "budget": {"steps": 2}, "max_visits": 5, "on": {"success": "g"}}]
    assert (driven(loop).failure.kind, len(driven(loop).made)) == ("budget", 2)


def test_to_open_a_run_again_does_not_either():
    world = driven(three(budget={"steps": 2}))
    world.retry()
    assert (world.run().status, world.done(), world.failure.kind) == ("failed", ["a", "b"], "budget")


def test_nothing_begins_in_a_group_that_is_about_to_be_stopped():
    group = {"id": "g", "budget": {"steps": 5}, "parallel": [tool("a"), tool("b")]}
    world = World({"steps": [group]}, {"a": HANGS, "b": Takes(1, NO)}).start()
    while world.state.cells["g"].status == "active":
        world.step()
    cell, making = world.state.cells["a"], Deciding(world.state, Moment(world.now))
    assert (afford(making, cell, attempt_at(cell, Call("tool", "x.y", {}))), making.events) == (None, [])


# ------------------------------------------------------------------------------- reserving


def test_what_does_not_fit_waits_for_what_a_sibling_does_not_need():
    plan = {
        "mode": "graph",
        "budget": {"tokens": 100},
        "steps": [model("a", estimate={"tokens": 80}), model("b", estimate={"tokens": 60})],
    }
    world = driven(plan, {"a": Takes(1, took(tokens=30)), "b": took(tokens=60)})
    assert [made.at - world.made[0].at for made in world.made] == [0, 0]
    assert (world.status, world.state.books.ledgers[""].spent["tokens"]) == ("succeeded", 90)
    world = driven(plan, {"a": took(tokens=80), "b": took(tokens=60)})
    assert (world.status, world.done(), world.failure.kind) == ("failed", ["a"], "budget")


def test_siblings_come_in_by_priority_and_small_ones_are_not_held_up():
    steps = [
        model("big", estimate={"tokens": 90}),
        model("late", estimate={"tokens": 15}, priority=-1),
        model("small", estimate={"tokens": 10}),
    ]
    world = driven(
        {"mode": "graph", "budget": {"tokens": 100}, "steps": steps},
        {"big": took(tokens=80), "small": took(tokens=5), "late": took(tokens=5)},
    )
    assert (world.status, world.done()) == ("succeeded", ["big", "small", "late"])


def test_many_that_want_the_same_come_one_after_the_other():
    steps = [model(f"m{n}", estimate={"tokens": 40}) for n in range(6)]
    world = driven({"mode": "graph", "budget": {"tokens": 100}, "steps": steps}, lambda command: took(tokens=12))
    assert (world.status, len(world.made)) == ("succeeded", 6)


def test_a_report_of_more_than_was_promised_is_believed_and_shown():
    plan = {
        "steps": [model("a", estimate={"usd": 0.1}), model("b"), tool("c")],
        "budget": {"usd": 1.0, "then": "finish"},
    }
    world = driven(plan, {"a": took(usd=3.5)})
    ledger = world.state.books.ledgers[""]
    assert (world.done(), ledger.used("usd", 0) / 1e9, ledger.left("usd", 0) / 1e9) == (["a"], 3.5, -2.5)


def test_what_costs_nothing_goes_on_when_the_money_is_gone():
    plan = {"steps": [model("a"), tool("b"), model("c", estimate={"usd": 0})], "budget": {"usd": 1.0}}
    assert driven(plan, {"a": took(usd=1.0), "c": took(usd=0.0)}).status == "succeeded"


def test_where_nobody_reports_the_promise_is_paid():
    plan = {
        "steps": [model("a", estimate={"tokens": 60}), model("b", estimate={"tokens": 60})],
        "budget": {"tokens": 100},
    }
    assert driven(plan).failure.kind == "budget"
    plan["budget"] = {"usd": 1.0}
    world = driven(plan, {"a": took(tokens=5, calls=1), "b": took(tokens=5, usd=0.1, calls=1)})
    assert (world.status, world.state.books.unpriced) == ("succeeded", 1)


def test_a_price_that_nobody_knows_is_counted_without_a_budget_too():
    world = driven({"steps": [model("a"), tool("b")]}, {"a": took(tokens=5, calls=1), "b": took()})
    assert (world.status, world.state.books.unpriced) == ("succeeded", 1)


def test_who_only_asks_for_approval_pays_nothing():
    may_it = Outcome(exit="failure", approval=Approval("d1", "may it?"))
    plan = {"steps": [tool("a", estimate={"usd": 0.4})], "budget": {"usd": 0.5}}
    world = driven(plan, {"a": [may_it, 1]})
    assert world.state.books.ledgers[""].spent.get("usd", 0) == 0
    world.answer(True)
    assert world.run().status == "succeeded"


def test_what_the_tool_says_of_itself_counts_where_the_plan_says_nothing():
    plan = {"steps": [tool("a"), tool("b", estimate={"usd": 0.1})], "budget": {"usd": 0.5}}
    world = driven(plan, estimate=lambda call: {"usd": 0.4})
    assert world.status == "succeeded"
    assert (
        driven({**plan, "steps": [tool("a"), tool("b")]}, estimate=lambda call: {"usd": 0.4}).failure.kind == "budget"
    )


def test_a_judge_is_no_step_and_an_agent_that_judges_is_a_call_whatever_it_reports():
    plan = {"steps": [tool("a", accept=[{"tool": "x.one"}, {"agent": "critic"}])], "budget": {"steps": 1, "calls": 5}}
    world = driven(plan, {"a~": [True, took(value=True, tokens=7, calls=0)]})
    assert (world.status, world.state.books.ledgers[""].spent["calls"]) == ("succeeded", 1)


def test_r10_a_try_that_was_lost_is_paid_and_paid_again():
    plan = {"steps": [model("a", estimate={"tokens": 40})], "budget": {"tokens": 100}}
    world = driven(plan, {"a": [LOST, LOST, took(tokens=1)]})
    assert (world.failure.kind, len(world.made)) == ("budget", 2)


def test_who_was_lost_pays_for_no_more_time_than_it_had_whoever_else_had_more():
    steps = [{"id": "all", "parallel": [tool("long", timeout="1h"), tool("short", timeout=10)]}]
    world = World({"steps": steps, "budget": {"seconds": 7200}}, {"short": HANGS}, repeat="safe").start()
    world.step()  # the longer one is over at once
    world.now += 1_800_000  # and the process died; it is found much later
    world.send(e.AttemptLost(step="short"))
    assert world.state.books.ledgers[""].spent["seconds"] == 10_000


def test_taking_back_is_never_refused_but_counted():
    undo = {"undo": {"model": "weak", "prompt": "take it back"}}
    steps = [{"id": "k", "checkpoint": True}, model("a", **undo), {"id": "r", "rollback": "k"}]
    world = driven(
        {"steps": steps, "budget": {"calls": 1, "tokens": 10}}, {"a": took(tokens=10), "a!": took(tokens=7, calls=1)}
    )
    assert (world.status, world.state.books.ledgers[""].spent) == ("succeeded", {"calls": 2, "tokens": 17})


def test_to_look_whether_it_was_done_is_never_refused_but_counted():
    plan = {"steps": [tool("a")], "budget": {"tokens": 10}}
    world = driven(plan, {"a": LOST, "a?": took({"happened": True}, tokens=17)}, repeat="never", probes={"x.y"})
    assert (world.status, world.state.books.ledgers[""].spent) == ("succeeded", {"tokens": 17})


def test_all_that_was_reported_is_added_up_also_without_a_budget():
    world = driven([model("a"), model("b")], {"a": took(tokens=5, usd=0.25), "b": took(tokens=6, calls=2, seconds=1.5)})
    assert world.state.books.used == {"tokens": 11, "usd": 250_000_000, "calls": 2, "seconds": 1500}
    assert b"reserved" not in b"".join(body for _, body, _ in world.facts)


def test_a_lock_is_not_held_for_somebody_who_waits_for_money():
    steps = [
        model("a", estimate={"tokens": 60}),
        model("b", estimate={"tokens": 60}, locks=["door"]),
        tool("c", locks=["door"]),
    ]
    world = driven(
        {"mode": "graph", "budget": {"tokens": 100}, "steps": steps},
        {"a": Takes(9, took(tokens=1)), "b": took(tokens=1)},
    )
    assert world.done() == ["c", "a", "b"]


# ------------------------------------------------------------------------------- time


def test_an_attempt_is_cut_to_the_time_that_is_left():
    world = World({"steps": [tool("a"), tool("b")], "budget": {"seconds": 10}}, {"a": Takes(4), "b": HANGS}).run()
    assert [each.due - world.find(e.AttemptStarted)[0].due for each in world.find(e.AttemptStarted)] == [0, 0]
    assert (world.status, world.failure.kind) == ("failed", "budget")
    assert world.state.books.ledgers[""].spent["seconds"] == 10_000


def test_what_waits_for_more_time_waits_for_no_clock():
    world = driven({"steps": [tool("a")], "budget": {"seconds": 2, "then": "ask"}}, {"a": Takes(5, 1)})
    assert (world.status, world.state.wake_at) == ("waiting", None)
    assert (world.fold().wake_at, world.status) == (None, "waiting"), "also for those who only read the facts"


def test_a_shorter_timeout_stays():
    world = driven({"steps": [tool("a", timeout="2s")], "budget": {"seconds": 10}}, {"a": HANGS})
    assert (world.failure.kind, world.state.books.ledgers[""].spent["seconds"]) == ("timeout", 2000)


def test_time_is_that_of_the_run_however_many_are_at_work():
    steps = [tool(each) for each in ("a", "b", "c")]
    plan = {"mode": "graph", "budget": {"seconds": 10}, "steps": steps}
    world = driven(plan, {"a": Takes(6), "b": Takes(8), "c": Takes(9)})
    assert (world.status, world.state.books.ledgers[""].spent["seconds"]) == ("succeeded", 9000)


def test_waiting_for_people_and_pauses_are_free():
    plan = {
        "steps": [tool("a"), {"id": "q", "ask": "?"}, {"id": "w", "wait": "1h"}, tool("b")],
        "budget": {"seconds": 10},
    }
    world = World(plan, {"a": Takes(4), "b": Takes(5)}).run()
    world.now += 86_400_000
    world.answer(True)
    assert world.run().status == "succeeded"
    world = World({"steps": [tool("a"), tool("b")], "budget": {"seconds": 10}}, {"a": Takes(4)}).start()
    world.pause()
    world.pass_time(1000)
    world.crash()
    world.resume()
    assert world.state.books.ledgers[""].spent.get("seconds", 0) == 0


def test_who_was_cut_off_is_tried_again_with_more_time():
    world = driven({"steps": [tool("a")], "budget": {"seconds": 10, "then": "ask"}}, {"a": Takes(15, 3)})
    assert list(world.state.questions) == ["q_run_1_seconds"]
    world.answer(20)
    assert (world.run().status, world.output) == ("succeeded", 3)


def test_who_was_cut_off_and_may_not_be_repeated_is_asked_about():
    world = driven({"steps": [tool("a")], "budget": {"seconds": 10}}, {"a": HANGS}, repeat="never")
    assert [each.about for each in world.state.questions.values()] == ["doubt"]


def test_an_estimate_of_time_has_to_fit():
    plan = {"steps": [tool("a"), tool("b", estimate={"seconds": 7})], "budget": {"seconds": 10}}
    world = driven(plan, {"a": Takes(4)})
    assert (world.done(), world.failure.kind) == (["a"], "budget")


def test_time_goes_on_while_nobody_is_there_but_only_until_it_is_too_late():
    plan = {"mode": "graph", "steps": [tool("a", timeout="3s"), tool("b", timeout="2s")], "budget": {"seconds": 10}}
    world = World(plan, {"a": HANGS, "b": HANGS}).start()
    world.now += 86_400_000
    world.crash()
    assert world.state.books.ledgers[""].used("seconds", world.state.clock(world.now)) == 3000


def test_so_it_does_while_a_judge_is_at_work():
    plan = {"steps": [tool("a", accept=[{"tool": "x.one"}])], "budget": {"seconds": 100_000}}
    world = World(plan, {"a~": HANGS}).start()
    world.step()
    world.now += 86_400_000
    world.crash()
    assert world.state.books.ledgers[""].spent["seconds"] == LOOK_SECONDS * 1000


# ------------------------------------------------------------------------------- depth and agents


def nest(deep):
    def strategy(view):
        if view.first:
            inner = {"agent": "nest", "task": "in"} if view.born + len(view.task) < deep * 10 else {"tool": "x.y"}
            return Move(add=[{**inner, "task": view.task + "0123456789"} if "agent" in inner else inner])
        child = view.fresh[0]
        return (
            Finish("failure", failure=child.failure) if child.exit != "success" else Finish(output="${steps.s1.output}")
        )

    return {"agent:nest": strategy}


def test_e17_agents_within_agents_are_bounded():
    steps = [{"id": "ag", "agent": "nest", "task": ""}]
    assert driven({"steps": steps, "budget": {"depth": 3}}, strategies=nest(2)).status == "succeeded"
    world = driven({"steps": steps, "budget": {"depth": 3}}, strategies=nest(4))
    assert (world.failure.kind, world.made) == ("budget", [])
    assert "3 deep" in world.failure.message
    assert driven([{**steps[0], "budget": {"depth": 0}}]).failure.kind == "budget"
    assert driven([{**steps[0], "budget": {"depth": 1}}], {"ag": 1}).state.books.ledgers["ag"].spent["depth"] == 1


def test_an_agent_that_finishes_gives_what_it_came_to():
    def ever(view):
        return Move(add=[{"tool": "x.y", "with": {"value": view.born}}])

    agent = {"id": "ag", "agent": "x", "task": "go", "budget": {"steps": 3, "then": "finish"}}
    assert driven([agent], strategies={"agent:x": ever}).output == 2
    nothing = {**agent, "budget": {"steps": 0, "then": "finish"}}
    assert driven([nothing], strategies={"agent:x": ever}).output is None


def test_e21_a_strategy_sees_what_is_left():
    seen = []

    def looking(view):
        seen.append(dict(view.left))
        return Move(add=[{"model": "weak", "prompt": "p"}]) if view.first else Finish()

    agent = {"id": "ag", "agent": "x", "task": "go", "budget": {"tokens": 50}}
    plan = {"steps": [agent], "budget": {"tokens": 60, "usd": 2.0, "calls": 4}}
    driven(plan, {"ag/1.1": took(tokens=70, usd=0.5)}, strategies={"agent:x": looking})
    assert seen[:2] == [{"tokens": 50, "usd": 2.0, "calls": 4}, {"tokens": 0, "usd": 1.5, "calls": 3}]


def test_a_failure_that_a_performer_calls_budget_is_just_that():
    assert (
        driven([tool("a")], {"a": Failure("budget", "the account is empty")}).failure.message == "the account is empty"
    )
