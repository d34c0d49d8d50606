"""E12: the plan of a run is edited while it is carried out. The past is pinned, the present protected, the future free."""

import pytest

from perdure.core import events as e
from perdure.core.accepting import Look, Mended
from perdure.core.calls import Failure, Outcome, Usage
from perdure.core.growth import Finish, Move
from perdure.core.refitting import owned
from perdure.core.refusing import NotRevised, OtherRevision, Over, Refused
from perdure.core.seeing import output_of
from perdure.plan.toolbox import Toolbox
from perdure.testing.worlds import HANGS, World


def new(name="n", **fields):
    return {"id": name, "tool": "x.y", **fields}


def revise(world, *edits, base=-1, **said):
    return world.send(e.RunRevised(base=base, edits=edits, **said))


def refused(world, *edits, **said):
    """The problems of a refusal; the state is as it was."""
    before = [(node.path, node.step) for node in world.state.cells[""].scope.outline.index.nodes]
    with pytest.raises(NotRevised) as refusal:
        revise(world, *edits, **said)
    assert [(node.path, node.step) for node in world.state.cells[""].scope.outline.index.nodes] == before
    assert all(each.help for each in refusal.value.problems)
    assert refusal.value.problems[0].message in refusal.value.message
    return [each.code for each in refusal.value.problems]


def world(*steps, script=None, done=0, **plan):
    made = World({"steps": [*steps], **plan}, script or {}).start()
    for _ in range(done):
        made.step()
    return made


def rest(made):
    """Let it come to its end, folded anew before every message; what was done, in order."""
    made.forgetful = True
    made.run()
    return made.done()


# ------------------------------------------------------------------------------- the future is free


@pytest.mark.parametrize(
    ("edits", "done"),
    [
        ([{"insert": new(), "after": "b"}], "a b n c"),
        ([{"insert": new(), "before": "c"}], "a b n c"),
        ([{"insert": new(), "into": ""}], "a b c n"),
        ([{"insert": new(), "after": "a"}], "a n b c"),
        ([{"remove": "b"}], "a c"),
        ([{"replace": "b", "step": new("b2")}], "a b2 c"),
        ([{"replace": "b", "step": {"id": "g", "steps": [new("g1"), new("g2")]}}], "a g1 g2 c"),
        ([{"remove": "c"}, {"insert": new("c"), "before": "b"}], "a c b"),
        ([{"amend": "b", "fields": {"when": "1 == 2"}}], "a c"),
        ([{"insert": new(), "after": "b"}, {"remove": "n"}], "a b c"),
    ],
)
def test_what_was_not_reached_can_be_anything(edits, done):
    made = world(new("a"), new("b"), new("c"))
    revise(made, *edits, by="ann", why="because")
    assert rest(made) == done.split()
    assert made.status == "succeeded"
    [event] = made.find(e.RunRevised)
    assert (event.base, event.by, event.why, made.state.revision) == (0, "ann", "because", 1)


def test_a_new_step_in_a_graph_begins_as_soon_as_its_needs_are_over():
    made = world(new("a"), new("b", needs=["a"]), done=1, script={"b": HANGS}, mode="graph")
    revise(made, {"insert": new("n", needs=["a"]), "into": ""}, {"insert": new("m", needs=["b"]), "into": ""})
    assert {each.step for each in made.commands()} == {"b", "n"}, "what can run at once does"
    made.script = {}
    assert sorted(rest(made)) == ["a", "b", "m", "n"]


def test_a_need_that_failed_or_was_skipped_counts_for_new_steps():
    script = {"a": Failure("logic", "no"), "b": HANGS}
    made = world(new("a"), new("b"), new("s", when="1 == 2"), script=script, done=1, mode="graph", join="settled")
    revise(made, *({"insert": new(f"n_{need}", needs=[need]), "into": ""} for need in ("a", "s")))
    assert (made.exit_of("n_a"), made.exit_of("n_s")) == ("skipped", "skipped")


def test_a_group_whose_last_steps_are_taken_out_is_over():
    made = world({"id": "g", "parallel": [new("a"), new("b", needs=["a"])]}, new("c"))
    revise(made, {"remove": "b"})
    made.step()
    assert made.exit_of("g") == "success"
    assert rest(made) == ["a", "c"]
    late = world(new("a"), new("b", when="1 == 1", needs=["a"]), done=1, mode="graph", script={"b": HANGS})
    assert refused(late, {"remove": "b"}) == ["PRD1507"]


def test_what_only_waits_is_over_when_nothing_is_left():
    made = world(new("a"), new("b"), mode="graph", limit=1, script={"a": 1}, done=0)
    revise(made, {"remove": "b"})
    assert rest(made) == ["a"]


def test_parallelism_can_be_widened():
    made = world({"id": "g", "parallel": [new("a"), new("b"), new("c")], "limit": 1}, script={"a": HANGS})
    assert len(made.commands()) == 1
    revise(made, {"amend": "g", "fields": {"limit": 3}})
    assert len(made.commands()) == 3
    assert refused(made, {"amend": "g", "fields": {"join": "any"}}) == ["PRD1507"]


def test_the_limit_of_a_map_and_of_the_plan_can_be_widened():
    made = world({"id": "m", "map": [1, 2, 3], "limit": 1, "steps": [new("a")]}, mode="graph", limit=1)
    revise(made, {"amend": "m", "fields": {"limit": None}}, {"insert": new("n"), "into": ""})
    assert len(made.commands()) == 3
    revise(made, {"amend": "", "fields": {"limit": 2}})
    assert len(made.commands()) == 4


def test_edits_inside_each_item_of_a_map():
    body = {"id": "m", "map": [1, 2, 3], "limit": 1, "steps": [new("a"), new("b"), new("c")]}
    made = world(body, done=1)
    revise(made, {"remove": "c"}, {"insert": new("n", **{"with": {"value": "${item}"}}), "after": "b"})
    assert [each.rpartition(".")[2] for each in rest(made)] == ["a", "b", "n"] * 3
    assert made.output == [1, 2, 3]


def test_a_step_that_some_items_have_passed_can_still_change_for_the_others():
    body = {"id": "m", "map": [1, 2], "limit": 1, "steps": [new("a"), new("b")]}
    made = world(body, done=1)
    revise(made, {"replace": "a", "step": {"id": "a", "tool": "x.z"}})
    rest(made)
    assert [each.call.name for each in made.made if each.step.endswith("a")] == ["x.y", "x.z"]
    parallel = world({**body, "limit": 2}, done=1)
    assert refused(parallel, {"remove": "a"}) == ["PRD1507"], "it is at work for the second item"


def test_edits_inside_a_sub_plan_and_of_its_fields():
    made = world({"id": "p", "plan": {"steps": [new("a"), new("b")]}}, new("z"), done=1)
    revise(made, {"insert": new("n"), "after": "b"}, {"amend": "z", "fields": {"title": "last"}})
    assert rest(made) == ["a", "b", "n", "z"]


def test_a_paused_run_and_one_that_waits_for_a_person():
    made = world({"id": "q", "ask": "May it?"}, new("b"))
    revise(made, {"insert": new("n"), "after": "q"})
    made.pause()
    revise(made, {"remove": "b"})
    made.resume()
    made.answer(True)
    assert rest(made) == ["n"]
    assert made.state.revision == 2


def test_every_run_has_its_own_plan():
    one = world(new("a"), new("b"))
    other = World(one.plan)
    other._outlines = one._outlines  # as in a host
    other.start()
    revise(one, {"remove": "b"})
    assert rest(other) == ["a", "b"]
    assert rest(one) == ["a"]


def test_new_ids_and_old_ones():
    made = world(new("a"), new("b"), new("c"))
    revise(made, {"remove": "b"})
    revise(made, {"insert": new("b", **{"with": {"value": 7}}), "after": "c"})
    assert rest(made) == ["a", "c", "b"]
    assert made.output == 7


# ------------------------------------------------------------------------------- the past is pinned


def test_what_is_over_stays():
    made = world(new("a"), new("b"), new("c"), done=1)
    assert refused(made, {"remove": "a"}) == ["PRD1508"]
    assert refused(made, {"replace": "a", "step": new("x")}) == ["PRD1508"]
    assert refused(made, {"replace": "a", "step": new("a", title="t")}) == ["PRD1508"], "nothing leads back to it"
    assert refused(made, {"amend": "a", "fields": {"title": "t"}}) == ["PRD1508"]
    assert refused(made, {"replace": "a", "step": new("a")}, {"remove": "a"}) == ["PRD1508"]
    assert refused(made, {"insert": new(), "before": "a"}) == ["PRD1509"]
    assert rest(made) == ["a", "b", "c"]


LOOP = (
    {"id": "again", "decide": "steps.a.visits < 3 ? 'a' : 'done'", "choices": ["a", "done"], "on": {"done": "done"}},
)


def test_in_a_loop_a_step_that_is_over_can_change_for_its_next_visit():
    made = world(new("a", max_visits=9, **{"with": {"value": 1}}), new("b"), *LOOP, done=1)
    revise(made, {"replace": "a", "step": {"id": "a", "tool": "x.z", "max_visits": 9, "with": {"value": 2}}})
    assert made.state.cells["a"].result.output.data == 1, "what it has given stays"
    assert refused(made, {"insert": new("n"), "before": "a"}) == ["PRD1509"], "the loop leads to a, and not before it"
    revise(made, {"insert": new("n"), "after": "a"}, {"amend": "a", "fields": {"title": "again"}})
    assert rest(made) == ["a", "b", "a", "n", "b", "a", "n", "b"]
    assert [each.call.name for each in made.made if each.step == "a"] == ["x.y", "x.z", "x.z"]


def test_a_step_in_a_loop_may_become_a_group_and_its_visits_go_on():
    made = world(new("a", max_visits=9), new("b"), *LOOP, done=1)
    revise(made, {"replace": "a", "step": {"id": "a", "max_visits": 9, "steps": [new("a1")]}})
    assert rest(made) == ["a", "b", "a1", "b", "a1", "b"]
    assert made.state.visits["a"] == 3


def test_a_group_that_was_done_keeps_its_steps():
    group = {"id": "g", "steps": [new("a")], "max_visits": 5}
    again = {
        "id": "again",
        "decide": "steps.g.visits < 2 ? 'g' : 'done'",
        "choices": ["g", "done"],
        "on": {"done": "done"},
    }
    made = world(group, new("b"), again, done=1)
    assert refused(made, {"replace": "g", "step": new("g", max_visits=5)}) == ["PRD1508"]
    assert refused(made, {"amend": "g", "fields": {"mode": "graph"}}) == ["PRD1508"]
    revise(made, {"insert": new("n"), "into": "g"}, {"amend": "g", "fields": {"title": "both"}})
    assert made.state.cells["g"].result.exit == "success"
    assert rest(made) == ["a", "b", "a", "n", "b"]


def test_e12_what_a_group_has_given_stays_whatever_is_put_into_it_later():
    group = {"id": "g", "parallel": [new("a"), new("b")], "max_visits": 5}
    again = {
        "id": "again",
        "decide": "steps.g.visits < 2 ? 'g' : 'done'",
        "choices": ["g", "done"],
        "on": {"done": "done"},
    }
    made = world(group, new("c"), again, script={"a": 1, "b": 2}, done=2)
    revise(made, {"insert": new("n"), "into": "g"})
    for _ in range(2):
        assert output_of(made.state, made.state.cells["g"]) == {"a": 1, "b": 2}
        made.fold()
    assert rest(made) == ["a", "b", "c", "a", "b", "n", "c"]


def test_a_group_that_is_done_anew_gives_all_that_is_in_it_now():
    again = {
        "id": "again",
        "decide": "steps.g.visits < 2 ? 'g' : 'done'",
        "choices": ["g", "done"],
        "on": {"done": "done"},
    }
    made = world({"id": "g", "parallel": [new("a")], "max_visits": 5}, new("b"), again, script={"a": 1, "n": 3}, done=1)
    revise(made, {"insert": new("n"), "into": "g"})
    assert rest(made) == ["a", "b", "a", "n", "b"]
    assert output_of(made.state, made.state.cells["g"]) == {"a": 1, "n": 3}


def test_e12_a_group_that_failed_and_goes_on_gives_all_that_is_in_it_then():
    made = world(
        {"id": "g", "parallel": [new("a"), new("b")]}, script={"a": 1, "b": [Failure("logic", "no"), 2], "n": 3}
    )
    made.run()
    made.send(Mended(e.RunReopened(step="b"), e.RunRevised(edits=({"insert": new("n"), "into": "g"},))))
    assert rest(made)[-2:] == ["b", "n"]
    assert (made.status, made.output) == ("succeeded", {"a": 1, "b": 2, "n": 3})


def test_what_was_done_in_an_earlier_visit_of_a_group_can_still_be_read():
    group = {"id": "g", "parallel": [new("a", **{"with": {"value": 1}}), new("c", needs=["a"])], "max_visits": 5}
    look = new("look", **{"with": {"value": "${steps.?g.output.?c}"}})
    again = {
        "id": "again",
        "decide": "steps.g.visits < 2 ? 'g' : 'done'",
        "choices": ["g", "done"],
        "on": {"done": "done"},
    }
    made = world(group, look, again, done=3)
    assert made.state.visits["g"] == 2
    revise(made, {"replace": "c", "step": {"id": "c", "steps": [new("c1"), new("c2")], "needs": ["a"]}})
    revise(made, {"insert": new("c3"), "into": "c"})
    assert rest(made)[-5:] == ["a", "c1", "c2", "c3", "look"]


def test_a_group_that_was_done_in_an_earlier_visit_may_be_another_one_in_this():
    inner = {"id": "c", "parallel": [new("c1", **{"with": {"value": 1}}), new("c2")], "needs": ["a"]}
    group = {"id": "g", "mode": "graph", "steps": [new("a"), inner, new("d", needs=["a"])], "max_visits": 5}
    again = {
        "id": "again",
        "decide": "steps.g.visits < 2 ? 'g' : 'done'",
        "choices": ["g", "done"],
        "on": {"done": "done"},
    }
    made = world(group, again, done=4)
    assert made.state.visits["g"] == 2
    revise(made, {"replace": "c", "step": {**inner, "parallel": [new("c9")]}}, {"remove": "d"})
    revise(made, {"insert": new("c8"), "into": "c"}, {"amend": "c", "fields": {"title": "other"}})
    made.fold()
    past = made.state.cells["g"].result.body.children[1]
    assert output_of(made.state, past) == {"c1": 1, "c2": None}, "what was done before can still be read"
    assert rest(made)[-3:] == ["a", "c9", "c8"]


def test_a_new_group_can_be_edited_like_the_rest():
    made = world(new("a"))
    revise(made, {"insert": {"id": "h", "steps": [new("h1")]}, "after": "a"}, {"insert": new("h2"), "into": "h"})
    assert refused(made, {"insert": new("x"), "into": "nowhere"}) == ["PRD1502"]
    assert rest(made) == ["a", "h1", "h2"]


def test_a_run_that_is_over_or_stopping_is_not_revised():
    made = world(new("a"))
    made.cancel()
    with pytest.raises(Refused, match="stopping"):
        revise(made, {"insert": new(), "into": ""})
    made.run()
    with pytest.raises(Over):
        revise(made, {"insert": new(), "into": ""})


# ------------------------------------------------------------------------------- the present is protected


def test_what_is_at_work_is_not_touched():
    made = world({"id": "g", "steps": [new("a"), new("b")]}, new("c"))
    for edit in ({"remove": "a"}, {"replace": "a", "step": new("a")}, {"amend": "a", "fields": {"title": "t"}}):
        assert refused(made, edit) == ["PRD1507"]
    for edit in ({"remove": "g"}, {"replace": "g", "step": new("g")}):
        assert refused(made, edit) == ["PRD1507"]
    revise(made, {"insert": new("n"), "after": "a"})
    assert rest(made) == ["a", "n", "b", "c"]


def test_a_refusal_says_what_could_be_done_instead():
    made = world(new("a"), new("b"))
    with pytest.raises(NotRevised) as refusal:
        revise(made, {"remove": "a"}, {"insert": new(), "before": "a"})
    assert "PRD1507" in refusal.value.message
    assert "cancel it first" in refusal.value.message
    with pytest.raises(NotRevised, match='insert it after "a"'):
        revise(made, {"insert": new(), "before": "a"})


def test_a_step_is_not_put_where_it_would_never_run():
    made = world({"id": "g", "steps": [new("a")]}, {"id": "h", "parallel": [new("b")]}, new("c"), done=2)
    assert refused(made, {"insert": new(), "into": "g"}) == ["PRD1509"]
    assert refused(made, {"insert": new(), "into": "h"}) == ["PRD1509"]
    made = world({"id": "g", "steps": [new("a"), new("z")]}, script={"a": HANGS})
    made.cancel("g")
    assert refused(made, {"insert": new(), "into": "g"}) == ["PRD1509"]


# ------------------------------------------------------------------------------- the plan stays a plan


def test_the_new_plan_is_checked_where_it_changes():
    made = world(
        new("a"), new("b", needs=["a"]), new("c", needs=["b"], **{"with": {"v": "${steps.b.output}"}}), mode="graph"
    )
    assert refused(made, {"remove": "b"}) == ["PRD1305", "PRD1202"]
    assert refused(made, {"insert": new("n", needs=["zz"]), "into": ""}) == ["PRD1305"]
    assert refused(
        made, {"insert": new("n", needs=["m"]), "into": ""}, {"insert": new("m", needs=["n"]), "into": ""}
    ) == ["PRD1306"]
    assert refused(made, {"amend": "b", "fields": {"needs": ["c"]}})[0] == "PRD1306"
    assert refused(made, {"replace": "b", "step": new("b2")}) == ["PRD1305", "PRD1202"]
    assert refused(made, {"insert": new("b"), "into": ""}) == ["PRD1107"]
    assert refused(made, {"insert": new(**{"with": {"v": "${steps.zz.output}"}}), "into": ""}) == ["PRD1202"]
    assert refused(made, {"what": 1}) == ["PRD1505"]
    assert refused(made, {"remove": "zz"}) == ["PRD1502"]
    assert refused(made, {"amend": "zz", "fields": {"title": "t"}}) == ["PRD1502"]
    assert refused(made, {"amend": "b", "fields": {"id": "x"}}) == ["PRD1506"]
    assert refused(made, {"amend": "b", "fields": {"when": 3}}) == ["PRD1506"]


def test_jumps_of_the_new_plan_are_checked():
    made = world(new("a"), new("b", on={"failure": "c"}), new("c"))
    assert refused(made, {"remove": "c"}) == ["PRD1301"]
    assert refused(made, {"insert": new(on={"success": "a"}), "after": "b"}) == ["PRD1309"]
    assert refused(made, {"insert": new(needs=["a"]), "after": "b"}) == ["PRD1304"]
    ending = world(new("a"), {"id": "stop", "done": True})
    assert refused(ending, {"insert": new(), "after": "stop"}) == ["PRD1308"]


def test_tools_of_new_steps_must_be_known():
    made = world(new("a"), new("b"))
    made.rules.toolbox = lambda: Toolbox.model_validate({"tools": {"x.y": {}}})
    assert refused(made, {"insert": {"id": "n", "tool": "x.zz"}, "into": ""}) == ["PRD1401"]
    revise(made, {"insert": new(), "into": ""})


def test_a_revision_is_made_for_a_revision():
    made = world(new("a"), new("b"))
    revise(made, {"insert": new(), "into": ""}, base=0, by="ann", why="more")
    with pytest.raises(OtherRevision, match=r"at revision 1.*made for 0.*ann: more"):
        revise(made, {"remove": "b"}, base=0)
    with pytest.raises(OtherRevision, match="made for 7"):
        revise(made, {"remove": "b"}, base=7)
    revise(made, {"remove": "b"}, base=1)
    assert made.state.revision == 2


# ------------------------------------------------------------------------------- budgets and policies

BUDGET = {"steps": 3, "then": "ask"}


def test_a_budget_can_be_lowered_and_what_is_spent_stays_spent():
    made = world(new("a"), new("b"), new("c"), budget=BUDGET, done=1)
    revise(made, {"amend": "", "fields": {"budget": {"steps": 1, "then": "fail"}}})
    rest(made)
    assert (made.status, made.failure.kind) == ("failed", "budget")


def test_a_budget_or_policy_becomes_wider_only_if_a_person_says_so():
    made = world(new("a"), new("b"), budget=BUDGET, policy={"network": ["a.example:443"], "files": {"deny": ["x"]}})
    wider = {"amend": "", "fields": {"budget": {"steps": 30}}}
    assert refused(made, wider) == ["PRD1510"]
    assert refused(made, {"amend": "", "fields": {"budget": None}}) == ["PRD1510"]
    assert refused(made, {"amend": "", "fields": {"budget": {"steps": 3, "usd": 1}}}) == ["PRD1510"]
    for policy in (None, {"network": ["*"], "files": {"deny": ["x"]}}, {"network": []}, {"files": {"deny": ["x"]}}):
        assert refused(made, {"amend": "", "fields": {"policy": policy}}) == ["PRD1510"] * (2 if policy is None else 1)
    revise(
        made,
        {
            "amend": "",
            "fields": {"policy": {"network": [], "files": {"deny": ["x", "y"], "read": ["z"]}, "ask": ["writes"]}},
        },
    )
    revise(made, wider, widen=True, by="ann")
    assert made.state.cells[""].ledger.limits == {"steps": 30}
    assert made.state.cells[""].scope.outline.layer is not None
    assert made.find(e.RunRevised)[-1].widen
    assert refused(made, {"amend": "", "fields": {"budget": {"steps": 3, "usd": 1}}}, widen=True) == ["PRD1510"]


def test_what_is_kept_on_copies_is_let_out_only_if_a_person_says_so():
    made = world(new("a"), new("b"), policy={"contained": True})
    assert refused(made, {"amend": "", "fields": {"policy": {"contained": False}}}) == ["PRD1510"]
    assert refused(made, {"amend": "", "fields": {"policy": None}}) == ["PRD1510"]
    revise(made, {"amend": "", "fields": {"policy": {"contained": True, "deny": ["network"]}}})


def test_a_budget_that_was_asked_about_and_then_widened_lets_the_run_go_on():
    made = world(new("a"), new("b"), budget={"steps": 1, "then": "ask"})
    made.run()
    assert made.status == "waiting"
    revise(made, {"amend": "", "fields": {"budget": {"steps": 5}}}, widen=True)
    assert rest(made) == ["a", "b"]


def test_a_lower_budget_must_fit_those_inside():
    made = world(new("a"), new("b", budget={"steps": 3}), budget={"steps": 5})
    assert refused(made, {"amend": "", "fields": {"budget": {"steps": 2}}}) == ["PRD1405"]
    assert refused(made, {"amend": "", "fields": {"timeout": 3}}) == ["PRD1507"]
    assert refused(made, {"insert": new(budget={"steps": 9}), "into": ""}) == ["PRD1405"]


def test_a_step_in_a_loop_that_loses_its_budget_spends_that_of_the_run():
    made = world(new("a", max_visits=9, budget={"steps": 1}), new("b"), *LOOP, done=1)
    revise(made, {"amend": "a", "fields": {"budget": None}})
    assert rest(made) == ["a", "b", "a", "b", "a", "b"]


# ------------------------------------------------------------------------------- the same, folded anew


def test_a_run_of_many_parts_is_adopted_whole():
    parts = [
        {"id": "p", "plan": "common"},
        {"id": "g", "agent": "grower", "task": "go"},
        {"id": "m", "map": [1, 2], "steps": [new("i"), new("j")]},
    ]

    def grow(view):
        return Move(add=[{"tool": "x.y"}]) if view.first else Finish()

    common = {"steps": [new("c")]}
    made = World({"mode": "graph", "steps": parts}, plans={"common": common}, strategies={"agent:grower": grow}).start()
    revise(made, {"insert": new("n", needs=["p", "m"]), "into": ""}, {"amend": "j", "fields": {"title": "t"}})
    outline = made.state.cells[""].scope.outline
    assert outline.is_own
    assert owned(made.state) is outline
    assert sorted(rest(made)) == sorted(["p/1.c", "g/1.1", "m/1[0].i", "m/1[0].j", "m/1[1].i", "m/1[1].j", "n"])
    assert made.status == "succeeded"


def test_usage_is_not_forgotten():
    made = world(new("a"), new("b"), script={"a": Outcome(1, usage=Usage(None, 5))}, budget={"tokens": 10}, done=1)
    revise(made, {"insert": new(), "into": ""})
    made.fold()
    assert made.state.cells[""].ledger.spent["tokens"] == 5


def test_a_step_that_needs_nobody_any_more_begins_at_once():
    """Its group has the same steps as before; only who waits for whom is other."""
    steps = [{"id": "a", "tool": "x.y"}, {"id": "b", "tool": "x.y"}, {"id": "c", "tool": "x.y", "needs": ["a", "b"]}]
    world = World({"mode": "graph", "steps": steps}).start()
    assert [each.step for each in world.commands()] == ["a", "b"]
    world.send(e.RunRevised(base=0, edits=({"amend": "c", "fields": {"needs": []}},)))
    assert [each.step for each in world.commands()] == ["a", "b", "c"]
    assert world.run().status == "succeeded"


def test_a_step_that_needs_another_now_waits_for_it():
    steps = [{"id": "a", "tool": "x.y"}, {"id": "b", "tool": "x.y"}, {"id": "c", "tool": "x.y", "needs": ["a"]}]
    world = World({"mode": "graph", "steps": steps}, order=1).start()
    world.send(e.RunRevised(base=0, edits=({"amend": "c", "fields": {"needs": ["a", "b"]}},)))
    assert world.run().status == "succeeded"
    assert world.done()[-1] == "c"


def test_a_step_that_became_more_important_goes_first():
    steps = [{"id": name, "tool": "x.y"} for name in ("a", "b", "c")]
    world = World({"mode": "graph", "steps": steps, "limit": 1}).start()
    world.send(e.RunRevised(base=0, edits=({"amend": "c", "fields": {"priority": 5}},)))
    assert world.run().done() == ["a", "c", "b"]


def test_a_step_that_only_a_jump_leads_to_can_be_amended_and_replaced():
    steps = new("a", max_visits=2, on={"exhausted": "c"}), new("b", on={"success": "a"}), new("c")
    made = world(*steps)
    revise(made, {"amend": "c", "fields": {"title": "the end"}})
    revise(made, {"replace": "c", "step": new("c", title="another end")})
    assert refused(made, {"insert": new("n"), "after": "b"}, {"remove": "c"}) == ["PRD1301", "PRD1308"]
    assert rest(made) == ["a", "b", "a", "b", "c"]


# ------------------------------------------------------------------------------- a run that is over


NO = Failure("logic", "no")


def over(*steps, script, **plan):
    made = World({"steps": [*steps], **plan}, script, forgetful=True).run()
    assert made.state.ended is not None
    return made


def mended(made, *edits, step="", **script):
    """Go on with other steps; folded anew before every message."""
    made.script = {**made.script, **script}
    made.retry(step, *edits)
    made.run()
    return " ".join(made.done())


def not_mended(made, *edits, step=""):
    """The problems of a refusal; the run is over as it was."""
    before = len(made.facts)
    with pytest.raises(NotRevised) as refusal:
        made.retry(step, *edits)
    assert len(made.facts) == before
    assert made.state.ended is not None
    return [(each.code, each.help) for each in refusal.value.problems]


@pytest.mark.parametrize(
    ("edits", "done"),
    [
        ([{"replace": "b", "step": new("b", **{"with": {"value": 2}})}], "a b b c"),
        ([{"amend": "b", "fields": {"when": "false"}}], "a b c"),
        ([{"insert": new(), "before": "b"}], "a b n b c"),
        ([{"insert": new("m"), "before": "b"}, {"insert": new(), "before": "b"}], "a b m n b c"),
        ([{"insert": new(), "after": "a"}], "a b n b c"),
        ([{"insert": new(), "after": "b"}], "a b b n c"),
        ([{"replace": "b", "step": {"id": "b", "steps": [new("b1"), new("b2")]}}], "a b b1 b2 c"),
        ([{"remove": "c"}], "a b b"),
    ],
)
def test_a_run_that_failed_goes_on_with_another_plan(edits, done):
    made = over(new("a"), new("b"), new("c"), script={"b": NO})
    assert mended(made, *edits, b=1) == done
    assert made.status == "succeeded"
    words = [
        each.type
        for each in made.events[-len(made.events) :]
        if each.type in ("run_ended", "run_reopened", "run_revised")
    ]
    assert words == ["run_ended", "run_reopened", "run_revised", "run_ended"]
    [opened] = made.find(e.RunReopened)
    assert (opened.step, opened.revised) == ("b", True)


def test_what_worked_is_pinned_where_the_retry_does_not_lead():
    made = over(new("a"), new("b"), new("c"), script={"b": NO})
    assert not_mended(made, {"replace": "a", "step": new("a")})[0][0] == "PRD1508"
    assert not_mended(made, {"insert": new(), "before": "a"}) == [("PRD1509", 'insert it after "b"')]
    assert not_mended(made, {"remove": "b"}) == [("PRD1508", 'give it `when: "false"` to pass it by')]
    assert (
        mended(made, {"replace": "a", "step": new("a")}, {"insert": new(), "before": "a"}, step="a", b=1)
        == "a b n a b c"
    )


def test_a_step_that_was_replaced_and_led_back_to_is_not_taken_for_a_new_one():
    loop = [new("a"), new("b", on={"failure": "a"}, max_visits=2), new("c")]
    made = over(*loop, script={"b": NO})
    assert made.done() == ["a", "b", "a", "b", "a"]
    assert mended(made, {"amend": "a", "fields": {"title": "other"}}, b=1).endswith(" b c")


def test_in_a_graph_new_steps_begin_beside_what_comes_again():
    made = over(new("a"), new("b"), new("z", needs=["a", "b"]), script={"b": NO}, mode="graph")
    edits = [{"insert": new(needs=["a"]), "into": ""}, {"insert": new("m", needs=["b"]), "into": ""}]
    assert sorted(mended(made, *edits, {"replace": "b", "step": new("b")}, b=1).split()) == sorted(
        "a b b n m z".split()
    )
    assert made.status == "succeeded"


def test_in_a_map_what_comes_again_can_be_another_step():
    body = {"steps": [new("x"), new("y")]}
    made = over({"id": "m", "map": [1, 2], **body, "limit": 1}, script={"m/1[0].y": NO})
    assert mended(made, {"insert": new(), "before": "y"}, **{"m/1[0].y": 1}) == (
        "m/1[0].x m/1[0].y m/1[0].n m/1[0].y m/1[1].x m/1[1].n m/1[1].y"
    )


def test_a_doubt_is_settled_before_its_step_can_change():
    made = World({"steps": [new("a"), new("b")]}, {"a": HANGS}, repeat=lambda _: "never").run()
    made.crash()
    made.run()
    made.cancel()
    made.run()
    assert made.status == "cancelled"
    assert not_mended(made, {"replace": "a", "step": new("a")})[0][0] == "PRD1507"
    made.retry("", {"insert": new(), "after": "a"})
    made.run()
    assert [each.about for each in made.state.questions.values()] == ["doubt"]


def test_the_output_of_a_run_that_failed_for_it_can_be_mended():
    made = over(new("a"), script={"a": 1}, output="${steps.a.output.x}")
    assert made.failure.kind == "invalid"
    assert mended(made, {"amend": "", "fields": {"output": "${steps.a.output}"}}) == "a"
    assert (made.status, made.output) == ("succeeded", 1)


def test_edits_for_another_revision_and_runs_that_went_well_are_refused():
    made = over(new("a"), script={"a": NO})
    edits = ({"insert": new(), "after": "a"},)
    with pytest.raises(OtherRevision):
        made.send(Mended(e.RunReopened(step=""), e.RunRevised(base=1, edits=edits)))
    with pytest.raises(Over) as refusal:
        revise(made, *edits)
    assert "perdure retry RUN --edit" in refusal.value.help
    good = over(new("a"), script={})
    for message in (Mended(e.RunReopened(step=""), e.RunRevised(edits=edits)), e.RunRevised(edits=edits)):
        with pytest.raises(Refused) as refusal:
            good.send(message)
        assert "perdure fork RUN --from STEP --plan FILE" in refusal.value.help
    with pytest.raises(Over) as refusal:
        good.pause()
    assert refusal.value.help == ""


def test_nothing_is_decided_between_the_two_facts():
    """Where a group waits for its locks, or time has passed, the old plan must not be carried on by a step."""
    group = {"id": "g", "locks": ["door"], "timeout": 5, "steps": [new("a"), {"id": "w", "wait": "2s"}, new("b")]}
    made = over(group, script={"b": NO})
    made.now += 60_000
    events = made.retry("", {"insert": new(), "before": "b"})
    assert [each.type for each in events[:2]] == ["run_reopened", "run_revised"]
    made.script = {"b": 1}
    made.run()
    assert made.done() == ["a", "b", "n", "b"]


def test_a_new_step_waits_for_the_locks_of_a_group_that_goes_on():
    inner = {"id": "h", "mode": "graph", "steps": [new("a"), new("b")]}
    made = over({"id": "g", "locks": ["door"], "steps": [inner]}, script={"b": NO})
    made.locked, made.script = frozenset({"door"}), {}
    made.retry()
    revise(made, {"insert": new(), "into": "h"})
    assert made.run().done() == ["a", "b"]
    made.locked = frozenset()
    made.send(Look())
    assert (made.run().status, sorted(made.done()[2:])) == ("succeeded", ["b", "n"])
