"""X2 X8 E19: what a step at work wants the plan to become takes effect in the turn that hears of it, or not at all."""

import pytest

from perdure.core import events as e
from perdure.core.calls import Failure, Outcome
from perdure.core.growth import Finish, Move
from perdure.core.occasion import Adjustment
from perdure.core.origins import origins, told
from perdure.testing.worlds import World

AGENT = {"id": "go", "agent": "me", "task": "Go."}
NEXT = {"id": "next", "tool": "x.y", "with": {"of": "${steps.go.output}"}}
INSERT = {"insert": {"id": "new", "tool": "x.y"}, "after": "go"}


def wish(*edits, why="it is late", calls=("x.*",)):
    return Outcome({"replan": {"edits": list(edits), "why": why, "calls": calls}})


def as_it_says(occasion, wanted):
    """A reviser that takes a wish by its word."""
    return Adjustment(wanted["edits"], wanted["why"], wanted["calls"])


def asking(*tools):
    """An agent that calls these, one after another, and tells what came of the last."""

    def strategy(view):
        if view.live:
            return None
        if view.born < len(tools):
            return Move(add=[{"tool": tools[view.born]}])
        last = view.child(f"s{view.born}")
        return Finish(output=last.failure.message if last.failure else last.output)

    return strategy


def world(*answers, steps=(AGENT, NEXT), planning=True, reviser=as_it_says, tools=None, **more):
    """A run in which an agent wants another plan, folded anew before every message."""
    script = {f"go/1.{n}": each for n, each in enumerate(answers, 1)}
    strategies = {"agent:me": asking(*(tools or ["planning.replan"] * len(answers)))}
    made = World({"steps": list(steps), **more}, script, planning=planning, strategies=strategies, forgetful=True)
    made.rules.revisers = {"planning.replan": reviser}
    made.start()
    made.run()
    return made


def told_to(made):
    """What the agent heard last."""
    return next(each.output for each in made.find(e.StepEnded) if each.step == "go").load(made.read)


def revisions(made):
    return [(each.by, each.after, each.why) for each in made.find(e.RunRevised)]


def test_x2_the_plan_is_another_one_in_the_turn_that_hears_of_it():
    made = world(wish(INSERT))
    assert (made.status, made.done()) == ("succeeded", ["go/1.1", "new", "next"])
    assert revisions(made) == [("planning.replan", "go/1.1", "it is late")]
    types = [each for each, _, _ in made.facts]
    heard = types.index("attempt_ended")
    assert types[heard : heard + 3] == ["attempt_ended", "run_revised", "step_ended"]
    assert {made.facts[n][2] for n in (heard, heard + 1, heard + 2)} == {made.facts[heard][2]}


def test_x2_whoever_asked_is_told_the_plan_as_it_is():
    made = world(wish(INSERT))
    assert told_to(made) == {
        "revision": 1,
        "why": "it is late",
        "plan": ["go: me; at work", "new: x.y; to come", "next: x.y; to come"],
    }


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ([{"remove": "go"}], "PRD1507"),
        ([{"insert": {"id": "new", "tool": "x.y"}, "before": "go"}], "would never run"),
        ([{"insert": {"id": "next", "tool": "x.y"}, "after": "go"}], "is taken"),
        ([{"insert": {"id": "new", "tool": "x.y", "with": {"a": "${steps.nobody.output}"}}, "after": "go"}], "PRD1202"),
        ([{"what": 1}], "this is no edit"),
        (
            [{"insert": {"id": "new", "tool": "z.z"}, "after": "go"}],
            "calls the tool 'z.z'; whoever asks for it may call",
        ),
        ([{"insert": {"id": "new", "tool": "x.y", "undo": {"tool": "z.z"}}, "after": "go"}], "the tool 'z.z'"),
        ([{"insert": {"id": "new", "agent": "other", "task": "?"}, "after": "go"}], "the agent 'other'"),
        ([{"insert": {"id": "new", "plan": "other"}, "after": "go"}], "the plan 'other'"),
        ([{"insert": {"id": "new", "steps": [{"id": "in", "tool": "z.z"}]}, "after": "go"}], "in calls the tool 'z.z'"),
        ([{"insert": {"id": "new", "tool": "x.y", "skills": ["any"]}, "after": "go"}], "names skills"),
        ([{"insert": {"id": "new", "tool": "x.y", "with": {"a": "${secrets.KEY}"}}, "after": "go"}], "the secret KEY"),
        ([{"amend": "next", "fields": {"tool": "z.z"}}], "next calls the tool 'z.z'"),
        ([{"amend": "next", "fields": {"with": {"of": "${secrets.KEY}"}}}], "the secret KEY"),
        ([{"replace": "next", "step": {"id": "next", "tool": "z.z"}}], "next calls the tool 'z.z'"),
        ([{"amend": "", "fields": {"budget": {"usd": 1}}}], "nothing but `output`"),
        ([{"insert": {"id": f"n{n}", "tool": "x.y"}, "after": "go"} for n in range(51)], "51 steps, and at most 50"),
        ([INSERT, {"remove": "nobody"}], "PRD1502"),
    ],
)
def test_x2_what_cannot_be_taken_is_refused_whole_and_told(edits, why):
    made = world(wish(*edits))
    assert (made.status, made.done(), revisions(made)) == ("succeeded", ["go/1.1", "next"], [])
    assert why in told_to(made)
    [refused] = made.find(e.RevisionRefused)
    assert (refused.by, refused.after) == ("planning.replan", "go/1.1")
    assert why in refused.reason


def test_a_secret_is_not_given_to_whoever_an_amendment_calls_instead():
    step = {"id": "told", "tool": "x.y", "with": {"of": "${secrets.KEY}"}}
    kept = world(wish({"amend": "told", "fields": {"title": "Go on"}}), steps=(AGENT, step))
    assert len(revisions(kept)) == 1
    for fields in ({"tool": "x.z"}, {"alternates": [{"tool": "x.z", "with": {"of": "${secrets.KEY}"}}]}):
        [refused] = world(wish({"amend": "told", "fields": fields}), steps=(AGENT, step)).find(e.RevisionRefused)
        assert "the secret KEY" in refused.reason


def test_steps_that_it_may_not_call_it_may_still_leave_out():
    made = world(wish({"remove": "next"}), steps=(AGENT, {"id": "next", "tool": "z.z"}))
    assert (made.status, made.done()) == ("succeeded", ["go/1.1"])


def test_e19_with_the_gate_closed_it_fails_and_says_how_to_open_it():
    made = world(wish(INSERT), planning=False)
    assert (made.status, made.done(), revisions(made)) == ("succeeded", ["go/1.1", "next"], [])
    assert "agent_planning=True" in told_to(made)
    assert made.find(e.RevisionRefused) == []


def test_x2_it_is_bounded_whether_it_is_taken_or_refused():
    wishes = [wish({"insert": {"id": f"n{n}", "tool": "x.y"}, "into": ""}, why=f"{n}") for n in range(9)]
    made = world(*wishes[:2], wish({"what": 1}), *wishes[3:], adjust={"most": 4})
    assert [each[2] for each in revisions(made)] == ["0", "1", "3"]
    assert "as often by itself as it may" in told_to(made)
    assert len(made.find(e.RevisionRefused)) == 1


def test_a_result_that_wants_nothing_is_only_a_result():
    for output in (None, 7, {"replan": 7}, {"other": {}}):
        made = world(Outcome(output))
        assert (made.status, revisions(made), told_to(made)) == ("succeeded", [], output)


def test_only_the_tools_that_are_named_revise():
    made = world(wish(INSERT), tools=["x.other"])
    assert (revisions(made), made.done()) == ([], ["go/1.1", "next"])


def test_a_reviser_that_breaks_fails_the_step_and_not_the_run():
    def broken(occasion, wanted):
        raise ZeroDivisionError("oh")

    made = world(wish(INSERT), reviser=broken)
    assert made.status == "succeeded"
    assert "the wish could not be read: ZeroDivisionError: oh" in told_to(made)


def test_a_reviser_may_say_of_what_kind_it_is():
    made = world(wish(INSERT), reviser=lambda occasion, wanted: Failure("unavailable", "nobody knows a way"))
    assert told_to(made) == "nobody knows a way"


def test_a_step_of_the_plan_may_ask_for_it_as_well():
    step = {"id": "ask", "tool": "planning.replan"}
    made = World({"steps": [step, NEXT | {"with": {}}]}, {"ask": wish({**INSERT, "after": "ask"})}, planning=True)
    made.rules.revisers = {"planning.replan": as_it_says}
    made.start()
    made.run()
    assert (made.status, made.done()) == ("succeeded", ["ask", "new", "next"])


def test_an_agent_in_a_plan_that_was_called_cannot_change_the_plan_that_called_it():
    made = world(wish(INSERT), steps=({"id": "inner", "plan": {"steps": [AGENT]}}, NEXT | {"with": {}}))
    [failed] = [each for each in made.find(e.StepEnded) if each.failure]
    assert "the plan of the run itself" in failed.failure.message
    assert revisions(made) == []


def test_an_agent_in_a_map_may_change_what_comes_after():
    step = {"id": "each", "map": [1], "steps": [AGENT]}
    script = {"each/1[0].go/1.1": wish({**INSERT, "after": "each"})}
    made = World(
        {"steps": [step, NEXT | {"with": {}}]},
        script,
        planning=True,
        strategies={"agent:me": asking("planning.replan")},
    )
    made.rules.revisers = {"planning.replan": as_it_says}
    made.start()
    made.run()
    assert (made.status, made.done()[1:]) == ("succeeded", ["new", "next"])


def test_what_is_done_stays_done_and_is_not_done_again():
    first = {"id": "first", "tool": "x.y"}
    made = world(wish({"amend": "first", "fields": {"with": {"a": 1}}}), wish(INSERT), steps=(first, AGENT, NEXT))
    assert made.done() == ["first", "go/1.1", "go/1.2", "new", "next"]
    assert "is over, and nothing leads back to it" in made.find(e.RevisionRefused)[0].reason


def test_an_approval_says_that_an_agent_has_chosen_what_it_put_in():
    made = world(Outcome("page"), wish(INSERT), tools=["web.get", "planning.replan"])
    cell = made.state.cells["new"]
    assert told(origins(cell, lambda tool: "a page" if tool == "web.get" else "")) == [
        "chosen by an agent that saw go/1.1 (web.get read a page)"
    ]
