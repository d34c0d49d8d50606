"""X2: whatever an agent wants the plan to become, people are asked, and what steps may touch and spend stays."""

import pytest

from perdure.core import events as e
from perdure.core.calls import Outcome
from perdure.core.growth import Finish, Move
from perdure.core.occasion import Adjustment
from perdure.testing.worlds import World

GO = {"id": "go", "agent": "me", "task": "Go."}
NOTE = {"id": "note", "tool": "x.note"}
SURE = {"id": "sure", "ask": "Sure, ${steps.go.output}?"}
PAY = {"id": "pay", "tool": "bank.pay"}
NEW = {"id": "new", "tool": "x.y"}
OFF = {"when": "false"}


def changed(steps, *edits, follows=(), calls=("x.*",), plans=None, **more):
    """A run in which an agent, which may not pay, wants these edits."""

    def strategy(view):
        if not view.born:
            return Move(add=[{"tool": "planning.replan"}])
        return None if view.live else Finish(output="done")

    script = {"go/1.1": Outcome({"replan": {}})}
    made = World({"steps": list(steps), **more}, script, planning=True, plans=plans, strategies={"agent:me": strategy})
    made.rules.revisers = {"planning.replan": lambda *_: Adjustment(edits, "so", calls, follows)}
    made.start()
    made.run()
    return made


def told(made):
    """Why it was refused; empty: it was taken."""
    return "".join(each.reason for each in made.find(e.RevisionRefused))


# ------------------------------------------------------------------------------- questions

SERIAL = (GO, NOTE, SURE, PAY)
GROUP = (GO, {"id": "both", "steps": [NOTE, SURE]}, PAY)
JUMPING = (
    GO,
    {**NOTE, "on": {"success": "sure"}},
    PAY,
    {"id": "end", "done": True},
    {**SURE, "on": {"approved": "pay"}},
)
GRAPH = (GO, {**NOTE, "needs": ["go"]}, {**SURE, "needs": ["note"]}, {**PAY, "needs": ["go", "sure"]})
FIRST = (GO, {"id": "race", "join": "any", "parallel": [SURE]}, PAY)


@pytest.mark.parametrize("calls", [("x.*",), None])
@pytest.mark.parametrize(
    ("steps", "edit"),
    [
        (SERIAL, {"remove": "sure"}),
        (SERIAL, {"replace": "sure", "step": NEW}),
        (SERIAL, {"amend": "sure", "fields": OFF}),
        (SERIAL, {"amend": "sure", "fields": {"title": "Nothing much"}}),
        (SERIAL, {"amend": "sure", "fields": {"default": True, "deadline": 1}}),
        (GROUP, {"remove": "both"}),
        (GROUP, {"replace": "both", "step": NEW}),
        (GROUP, {"amend": "both", "fields": OFF}),
        (GROUP, {"amend": "both", "fields": {"timeout": 1, "on": {"failure": "next"}}}),
        (GROUP, {"insert": {"id": "new", "done": True, "when": "true"}, "after": "note"}),
        (GROUP, {"insert": {"id": "new", "fail": True, "when": "true"}, "after": "note"}),
        (SERIAL, {"amend": "note", "fields": {"on": {"success": "pay"}}}),
        (SERIAL, {"replace": "note", "step": {**NEW, "on": {"success": "pay"}}}),
        (SERIAL, {"insert": {**NEW, "on": {"success": "pay"}, "when": "true"}, "after": "note"}),
        (SERIAL, {"insert": {"id": "new", "decide": "'pay'", "choices": ["pay", "sure"]}, "after": "note"}),
        (
            SERIAL,
            {
                "insert": {"id": "new", "steps": [{"id": "in", "tool": "x.y", "on": {"success": "pay"}}]},
                "after": "note",
            },
        ),
        (JUMPING, {"remove": "note"}),
        (JUMPING, {"replace": "note", "step": {"id": "note", "tool": "x.note"}}),
        (JUMPING, {"amend": "note", "fields": OFF}),
        (JUMPING, {"amend": "note", "fields": {"on": {}}}),
        (GRAPH, {"amend": "note", "fields": OFF}),
        (GRAPH, {"replace": "note", "step": {**NOTE, "needs": ["go"], **OFF}}),
        (GRAPH, {"insert": {**NEW, "needs": ["go"], **OFF}, "into": ""}),
        (FIRST, {"insert": NEW, "into": "race"}),
    ],
)
def test_no_edit_takes_a_question_away_or_leads_past_it(steps, edit, calls):
    made = changed(steps, edit, calls=calls)
    assert "a person" in told(made)
    assert "pay" not in made.done()
    assert [each for each in made.state.questions if "sure" in str(each)]


def test_nor_does_one_edit_hide_where_another_one_comes():
    other = {"replace": "note", "step": {**NOTE, "id": "other", "needs": ["go"]}}
    made = changed(
        (*GRAPH[:2], {**SURE, "needs": ["go"]}, GRAPH[3]), other, {"insert": {**NEW, **OFF}, "after": "other"}
    )
    assert 'a person is asked in "the plan", which is a graph' in told(made)


@pytest.mark.parametrize(
    ("steps", "edit"),
    [
        (SERIAL, {"amend": "sure", "fields": OFF}),
        (GROUP, {"amend": "both", "fields": OFF}),
        (JUMPING, {"amend": "note", "fields": OFF}),
        (GRAPH, {"amend": "note", "fields": OFF}),
        (SERIAL, {"remove": "sure"}),
    ],
)
def test_nor_does_what_follows_from_a_wish(steps, edit):
    made = changed(steps, follows=[edit])
    assert "a person" in told(made)
    assert "pay" not in made.done()


@pytest.mark.parametrize(
    ("steps", "edit"),
    [
        (SERIAL, {"insert": NEW, "after": "note"}),
        (SERIAL, {"insert": {**NEW, "when": "false", "on": {"failure": "next"}}, "after": "note"}),
        (SERIAL, {"amend": "note", "fields": OFF}),
        (SERIAL, {"replace": "note", "step": NEW}),
        (GROUP, {"amend": "both", "fields": {"title": "Both"}}),
        (JUMPING, {"amend": "note", "fields": {"with": {"a": 1}}}),
        (JUMPING, {"replace": "note", "step": {"id": "note", "tool": "x.y", "on": {"success": "sure"}}}),
        (GRAPH, {"insert": {**NEW, "needs": ["go"]}, "into": ""}),
        (GRAPH, {"replace": "note", "step": {**NOTE, "tool": "x.y", "needs": ["go"]}}),
        (
            SERIAL,
            {
                "insert": {
                    "id": "new",
                    "steps": [{**NEW, "id": "a", "max_visits": 2, "on": {"failure": "a"}}, {"id": "b", "done": True}],
                },
                "after": "note",
            },
        ),
    ],
)
def test_all_else_may_change_and_the_question_is_asked(steps, edit):
    made = changed(steps, edit)
    assert told(made) == ""
    assert "pay" not in made.done()
    assert [each for each in made.state.questions if "sure" in str(each)]


def test_of_the_plan_itself_an_agent_says_anew_what_it_gives():
    made = changed(SERIAL, {"amend": "", "fields": {"output": "${steps.go.output}"}})
    assert told(made) == ""
    assert "can amend nothing but `output`" in told(changed(SERIAL, {"amend": "", "fields": {"limit": 1}}))


def test_where_nobody_is_asked_new_steps_may_lead_anywhere():
    made = changed((GO, NOTE, PAY), {"insert": {**NEW, "on": {"success": "pay"}, "when": "true"}, "after": "go"})
    assert (told(made), made.done()) == ("", ["go/1.1", "new", "pay"])


def test_a_question_takes_results_elsewhere_where_that_follows():
    text = {"amend": "sure", "fields": {"ask": "Sure, ${steps.new.output}?"}}
    made = changed(SERIAL, {"insert": NEW, "after": "go"}, follows=[text])
    assert (told(made), len(made.state.questions)) == ("", 1)


# ------------------------------------------------------------------------------- plans that are called by name

ASKS = {"steps": [{"id": "sure", "ask": "Sure?"}]}
PLANS = {"asks": ASKS, "calls": {"steps": [{"id": "inner", "plan": "asks"}]}, "quiet": {"steps": [NOTE]}}


def calling(name):
    """A plan of steps in which somebody is asked by another plan, before something is paid."""
    return GO, NOTE, {"id": "called", "plan": name}, PAY


@pytest.mark.parametrize("calls", [("x.*",), None])
@pytest.mark.parametrize("name", ["asks", "calls"])
@pytest.mark.parametrize(
    "edit",
    [
        {"remove": "called"},
        {"replace": "called", "step": NEW},
        {"amend": "called", "fields": OFF},
        {"amend": "called", "fields": {"plan": "quiet"}},
        {"amend": "called", "fields": {"on": {"failure": "next"}}},
        {"amend": "note", "fields": {"on": {"success": "pay"}}},
        {"insert": {**NEW, "on": {"success": "pay"}, "when": "true"}, "after": "note"},
    ],
)
def test_a_plan_that_is_called_by_name_asks_as_if_it_stood_there(edit, name, calls):
    made = changed(calling(name), edit, calls=calls, plans=PLANS)
    assert "a person" in told(made)
    assert "pay" not in made.done()
    assert [each for each in made.state.questions if "sure" in str(each)]


def test_a_plan_that_is_not_here_might_ask_and_one_that_calls_itself_is_looked_at_once():
    gone = changed(calling("gone"), {"amend": "called", "fields": OFF}, plans=PLANS)
    assert 'calls the plan "gone", which is not here, and that is not' in told(gone)
    again = {"again": {"steps": [{"id": "inner", "plan": "again", "when": "false"}]}}
    made = changed(calling("again"), {"amend": "called", "fields": OFF}, calls=None, plans=again)
    assert (told(made), made.done()[-1]) == ("", "pay")


def test_a_plan_that_asks_nobody_may_be_left_out():
    made = changed(calling("quiet"), {"amend": "called", "fields": OFF}, calls=None, plans=PLANS)
    assert (told(made), made.done()[-1]) == ("", "pay")


@pytest.mark.parametrize(
    ("plan", "whose"),
    [
        ({"steps": [NOTE], "budget": {"steps": 3}}, "the plan that it calls"),
        ({"steps": [{**NOTE, "policy": {"ask": ["irreversible"]}}]}, '"note"'),
    ],
)
@pytest.mark.parametrize("edit", [{"remove": "called"}, {"replace": "called", "step": NEW}])
def test_what_a_plan_that_is_called_by_name_may_touch_and_spend_is_not_lost(plan, whose, edit):
    made = changed(calling("held"), edit, plans={"held": plan})
    assert f"{whose} has a policy or a budget of its own" in told(made)
    assert not made.find(e.RunRevised)


# ------------------------------------------------------------------------------- policies and budgets

HELD = {"id": "held", "tool": "x.y", "policy": {"ask": ["irreversible"]}}
DEAR = {"id": "held", "tool": "x.y", "budget": {"steps": 3}}


@pytest.mark.parametrize("step", [HELD, DEAR])
@pytest.mark.parametrize(
    "edit",
    [
        {"amend": "held", "fields": {"policy": None}},
        {"amend": "held", "fields": {"budget": None}},
        {"amend": "held", "fields": {"budget": {"steps": 1000}}},
        {"replace": "held", "step": {"id": "held", "tool": "x.y"}},
        {"replace": "held", "step": {"id": "held", "tool": "x.y", "policy": {"ask": []}, "budget": {"steps": 1000}}},
        {"remove": "held"},
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_what_a_step_may_touch_and_spend_is_not_lifted(step, edit, inside):
    steps = (GO, {"id": "both", "steps": [NOTE, step]} if inside else step)
    if inside and "amend" not in edit:
        edit = {**edit, next(iter(edit)): "both"}
    for made in (changed(steps, edit), changed(steps, follows=[edit], calls=None)):
        assert "policy" in told(made) or "budget" in told(made)
        assert not made.find(e.RunRevised)


def test_what_stands_inside_a_group_or_a_plan_is_held_as_well():
    for inner in ({"steps": [NOTE], "policy": HELD["policy"]}, {"plan": {"steps": [NOTE], "budget": {"steps": 1}}}):
        made = changed((GO, {"id": "group", **inner}), {"remove": "group"})
        assert '"group" has a policy or a budget of its own' in told(made)


def test_another_step_with_the_same_policy_may_come_and_any_may_be_amended_otherwise():
    for edit in (
        {"replace": "held", "step": {**HELD, "id": "new"}},
        {"amend": "held", "fields": {"with": {"a": 1}}},
    ):
        assert told(changed((GO, HELD), edit)) == ""


def test_no_amendment_lifts_what_a_result_must_fulfil_but_another_step_says_it_for_itself():
    step = {**NOTE, "accept": [{"expr": "true"}], "ensures": ["true"]}
    for word in ("accept", "ensures"):
        assert f'{word} of "note" is not for' in told(changed((GO, step), {"amend": "note", "fields": {word: []}}))
    assert told(changed((GO, step), {"replace": "note", "step": NOTE})) == ""


# ------------------------------------------------------------------------------- one edit after another


@pytest.mark.parametrize(
    "edits",
    [
        [{"insert": NEW, "after": "go"}, {"amend": "new", "fields": {"tool": "bank.pay"}}],
        [{"insert": {"id": "g", "steps": [NEW]}, "after": "go"}, {"amend": "new", "fields": {"tool": "bank.pay"}}],
        [{"replace": "note", "step": NOTE}, {"amend": "note", "fields": {"title": "x"}}],
        [{"amend": "note", "fields": {"title": "x"}}, {"remove": "note"}],
    ],
)
def test_what_one_edit_has_made_is_not_changed_by_the_next(edits):
    """Each is looked at by itself, so together they must not come to what none of them may."""
    made = changed((GO, NOTE, PAY), *edits)
    assert "would be changed twice" in told(made)
    assert not made.find(e.RunRevised)
