"""A3 X2: a step whose result lists `next_steps` adds them to the plan, if the plan lets it, and as it lets it."""

import pytest

from perdure.core import events as e
from perdure.core.calls import Failure, Outcome
from perdure.core.growth import Finish, Move
from perdure.core.origins import origins, told
from perdure.testing.worlds import HANGS, World

MORE = {"id": "more", "parallel": []}
LAST = {"id": "last", "tool": "x.y", "with": {"of": "${steps.more.output}"}}


def first(**fields):
    grows = {"into": "more", **fields.pop("grows", {})}
    return {"id": "first", "tool": "x.y", "grows": grows, "retry": {"attempts": 2, "wait": 0}, **fields}


def called(tool="x.y", **fields):
    return {"tool": tool, **fields}


def world(*wanted, script=None, step=None, planning=True, **more):
    """A run whose first step asks for others, folded anew before every message."""
    raw = {"steps": [step or first(), MORE, LAST], **more}
    answers = {"first": [*(Outcome({"next_steps": each}) for each in wanted)], **(script or {})}
    made = World(raw, answers, planning=planning, forgetful=True).start()
    made.run()
    return made


def revisions(made):
    return [(each.by, each.after, each.why) for each in made.find(e.RunRevised)]


def failure(made):
    """Why the first step failed."""
    return next(each.failure for each in made.find(e.StepEnded) if each.step == "first")


def test_what_a_result_asks_for_is_done_and_its_results_are_seen():
    wanted = [called(), {"id": "b", **called(), "needs": ["c"]}, {"id": "c", **called()}]
    made = world(wanted, script={"first_1": 1, "b": 2, "c": 3})
    assert made.status == "succeeded"
    assert made.done() == ["first", "c", "first_1", "b", "last"]
    assert made.made[-1].call.arguments == {"of": {"first_1": 1, "b": 2, "c": 3}}
    assert revisions(made) == [("next_steps", "first", "first asks for 3 more")]


def test_parallelism_is_widened_where_needs_allow():
    made = World({"steps": [first(), MORE, LAST]}, planning=True)
    made.script = {"first": Outcome({"next_steps": [called(), called()]}), "first_1": HANGS, "first_2": HANGS}
    made.start()
    made.step()
    assert {each.step for each in made.commands()} == {"first_1", "first_2"}


@pytest.mark.parametrize("output", [None, 7, "next_steps", {}, {"next_steps": []}, {"next_steps": None}, [1]])
def test_a_result_that_asks_for_nothing_adds_nothing(output):
    made = world(script={"first": Outcome(output)})
    assert (made.status, revisions(made)) == ("succeeded", [])


def test_without_the_plans_leave_a_result_is_only_a_result():
    step = {"id": "first", "tool": "x.y"}
    made = world([called()], step=step)
    assert (made.status, revisions(made), made.done()) == ("succeeded", [], ["first", "last"])


def test_e19_with_the_gate_closed_a_result_is_only_a_result():
    made = world([called()], planning=False)
    assert (made.status, revisions(made), made.done()) == ("succeeded", [], ["first", "last"])


@pytest.mark.parametrize(
    ("wanted", "kind", "told"),
    [
        ("all of them", "unmet", "no list of steps"),
        ([7], "unmet", "'7' is no step"),
        ([{"what": "x"}], "unmet", "PRD1104"),
        ([{"id": "last", **called()}], "unmet", 'the id "last" is taken'),
        ([called()] * 11, "unmet", "they are 11, and 10 may still be added"),
        ([called("y.z")], "unmet", "first_1 calls the tool 'y.z'; it may call: x.y"),
        ([called(undo={"tool": "y.z"})], "unmet", "calls the tool 'y.z'"),
        ([called(accept=[{"tool": "y.z"}])], "unmet", "calls the tool 'y.z'"),
        ([{"agent": "helper"}], "unmet", "calls the agent 'helper'"),
        ([{"model": "strong", "prompt": "?"}], "unmet", "calls the model 'strong'"),
        ([{"plan": "other"}], "unmet", "calls the plan 'other'"),
        ([{"steps": [{"id": "deep", **called("y.z")}]}], "unmet", "deep calls the tool 'y.z'"),
        ([called(grows={"into": "more"})], "unmet", "first_1 would add steps itself"),
        ([called(**{"with": {"key": "${secrets.KEY}"}})], "denied", "the secret KEY"),
        ([called(**{"with": {"of": "${steps.nobody.output}"}})], "unmet", "PRD1202"),
        ([called(needs=["nobody"])], "unmet", "PRD1305"),
        ([{"steps": [{"id": f"deep{n}", **called()} for n in range(10)]}], "unmet", "they are 11, and 10 may still"),
        ([{"map": [1, 2], "steps": [{"id": "deep", **called()}]}], "unmet", "first_1 is a map"),
        ([called(skills=["anything"])], "unmet", "first_1 names skills"),
        ([called(budget={"usd": -1})], "unmet", "PRD1"),
    ],
)
def test_what_cannot_be_taken_fails_the_step_with_what_to_repair(wanted, kind, told):
    made = world(wanted, wanted)
    assert (made.status, revisions(made)) == ("failed", [])
    assert failure(made).kind == kind
    assert told in failure(made).message
    assert "first_1" not in made.done()


def test_a_step_that_is_told_what_is_wrong_may_repair_it():
    made = world("rubbish", [called()])
    assert (made.status, made.done()) == ("succeeded", ["first", "first", "first_1", "last"])


def test_the_plan_says_what_new_steps_may_call():
    made = world([called("web.get"), called("web.put")], step=first(grows={"tools": ["web.*"]}))
    assert made.status == "succeeded"
    made = world([called("mail.send")], [called("mail.send")], step=first(grows={"tools": ["web.*"]}))
    assert "it may call: web.*, x.y" in failure(made).message


def test_names_are_free_ones_and_limits_hold_for_all_visits():
    again = {"id": "back", "decide": "steps.first.visits < 3 ? 'more' : 'enough'", "choices": ["more", "enough"]}
    steps = [
        {**first(grows={"most": 2, "into": "late"}), "max_visits": 4, "on": {"failure": "next"}},
        {**again, "on": {"more": "first", "enough": "next"}},
        {"id": "first_1", "tool": "x.y"},
        {"id": "late", "parallel": []},
    ]
    script = {"first": Outcome({"next_steps": [called()]})}
    made = World({"steps": steps}, script, planning=True, forgetful=True).start()
    made.run()
    assert made.status == "succeeded"
    assert made.done()[-3:] == ["first_1", "first_2", "first_3"]
    assert len(revisions(made)) == 2, "the third one is over the limit"
    failed = next(each.failure for each in made.find(e.StepEnded) if each.step == "first" and each.failure)
    assert "0 may still be added" in failed.message


def test_each_step_has_a_limit_of_its_own():
    script = {each: Outcome({"next_steps": [called()]}) for each in ("first", "second")}
    steps = [first(grows={"most": 1}), {**first(grows={"most": 1}), "id": "second"}, MORE]
    made = World({"steps": steps}, script, planning=True, forgetful=True).start().run()
    assert (made.status, made.done()) == ("succeeded", ["first", "second", "first_1", "second_1"])


def test_a_group_that_is_over_takes_no_more():
    steps = [MORE, {**first(), "id": "first"}, {"id": "z", "tool": "x.y"}]
    script = {"first": Outcome({"next_steps": [called()]})}
    made = World({"steps": steps}, script, planning=True, forgetful=True).start()
    made.run()
    assert "PRD1509" in failure(made).message


def test_criteria_are_looked_at_before_anything_is_added():
    made = world([called()], [called()], step=first(accept=[{"expr": "size(output.next_steps) > 1"}]))
    assert (made.status, revisions(made)) == ("failed", [])


def test_inside_a_plan_that_is_called_by_name_a_result_is_only_a_result():
    inner = {"steps": [first(), MORE]}
    script = {"p/1.first": Outcome({"next_steps": [called()]})}
    made = World({"steps": [{"id": "p", "plan": "inner"}]}, script, plans={"inner": inner}, planning=True).start()
    made.run()
    assert (made.status, revisions(made)) == ("succeeded", [])


@pytest.mark.parametrize(("wanted", "status"), [([called()], "succeeded"), ("rubbish", "failed")])
def test_an_agent_that_grew_may_add_to_the_plan_too(wanted, status):
    def strategy(view):
        return Move(add=[called()]) if view.first else Finish(output={"next_steps": wanted})

    agent = {"id": "first", "agent": "a", "grows": {"into": "more"}}
    made = World(
        {"steps": [agent, MORE, LAST]}, planning=True, strategies={"agent:a": strategy}, forgetful=True
    ).start()
    made.run()
    assert made.status == status
    assert len(revisions(made)) == (status == "succeeded")
    failing = World(
        {"steps": [agent, MORE]}, planning=True, strategies={"agent:a": lambda _: Finish("failure")}
    ).start()
    failing.run()
    assert (failing.status, revisions(failing)) == ("failed", [])


@pytest.mark.parametrize("around", [lambda step: {"steps": [step]}, lambda step: {"plan": {"steps": [step]}}])
def test_what_a_result_has_added_comes_from_where_the_result_does(around):
    """S: who approves a call sees that its arguments were chosen by what was read outside."""
    inner = {"id": "g", **around({"id": "deep", **called("x.y", **{"with": {"to": "anybody"}})})}
    script = {"first": Outcome({"next_steps": [inner]}), "deep": HANGS}
    made = World({"steps": [first(tool="web.get"), MORE, {"id": "z", "tool": "x.y"}]}, script, planning=True).start()
    made.step()
    [command] = made.commands()
    outside = {"web.get": "a page"}.get
    found = origins(made.state.cells[command.step], lambda tool: outside(tool, ""))
    assert told(found) == ["chosen by an agent that saw first (web.get read a page)"]
    assert origins(made.state.cells["first"], lambda tool: outside(tool, "")) == []


def test_a_crash_between_what_is_asked_for_and_its_end_changes_nothing():
    """Every turn of the run is lost once: the same plan comes out, and nothing is added twice."""
    whole = world([called(), called()])
    for turns in range(1, 6):
        made = World({"steps": [first(), MORE, LAST]}, planning=True).start()
        made.script = {"first": Outcome({"next_steps": [called(), called()]})}
        for _ in range(turns):
            made.step()
        made.fold()
        made.run()
        assert made.done() == whole.done()
        assert len(revisions(made)) == 1


def test_a_strategy_that_the_plan_does_not_name_is_not_had():
    agent = {"id": "first", "agent": "a", "strategy": "nice", "grows": {"into": "more"}}
    wanted = [{"agent": "a", "strategy": "evil"}]
    strategies = {"nice": lambda _: Finish(output={"next_steps": wanted}), "evil": lambda _: Finish()}
    made = World({"steps": [agent, MORE]}, planning=True, strategies=strategies).start()
    made.run()
    assert "calls the strategy 'evil'" in failure(made).message


def test_what_a_tool_gave_stays_as_it_gave_it():
    wanted = [called(budget={"usd": -1})]
    made = world(wanted, wanted)
    assert [each.output.data for each in made.find(e.AttemptEnded) if each.step == "first"] == [
        {"next_steps": [called(budget={"usd": -1})]}
    ] * 2


def test_looser_criteria_help_against_stricter_ones_and_not_against_what_cannot_be_added():
    step = first(accept=["size(output.next_steps) > 5"], relaxed=["true"])
    made = world([called()], [called()], step=step)
    assert (made.status, len(revisions(made))) == ("succeeded", 1), "what will do after all is also added"
    made = world("rubbish", "rubbish", step=first(accept=["true"], relaxed=["true"]))
    assert (made.status, failure(made).kind) == ("failed", "unmet")


def test_what_a_person_did_may_ask_for_more_too():
    step = first(recovery={"logic": ["ask"]})
    made = world(step=step, script={"first": Failure("logic", "no")})
    made.answer({"choice": "done", "output": {"next_steps": [called()]}})
    made.run()
    assert (made.status, len(revisions(made))) == ("succeeded", 1)


def test_a_failed_step_adds_nothing():
    made = world(script={"first": Failure("logic", "no")})
    assert (made.status, revisions(made)) == ("failed", [])
