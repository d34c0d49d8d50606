"""A3 X2 X8 E19: when a step is over, the rest of the plan changes by rule. Each change is a revision with a reason."""

import pytest

from perdure.core import events as e
from perdure.core.calls import Failure, Outcome
from perdure.core.occasion import Adjustment
from perdure.plan.toolbox import Toolbox
from perdure.testing.worlds import HANGS, World


def new(name="n", **fields):
    return {"id": name, "tool": "x.y", **fields}


def insert(name, after, **fields):
    return {"insert": new(name, **fields), "after": after}


def world(*steps, script=None, rules=(), adjuster=None, planning=True, most=20, **plan):
    """A run that is folded anew before every message, come to its end or to a question."""
    raw = {"steps": [*steps], **({"adjust": {"rules": [*rules], "most": most}} if rules or most != 20 else {}), **plan}
    made = World(raw, script or {}, planning=planning, adjust=adjuster, forgetful=True).start()
    made.run()
    return made


def done(made):
    """What was done, without the places of items."""
    return " ".join(name.rpartition(".")[2] for name in made.done())


def revisions(made):
    return [(each.by, each.after, each.why, each.kind) for each in made.find(e.RunRevised)]


def refusals(made):
    return [(each.by, each.after, each.reason) for each in made.find(e.RevisionRefused)]


# ------------------------------------------------------------------------------- rules of the plan

EXPAND = {
    "after": ["survey"],
    "when": "size(output) > 2",
    "why": "the topic has many sides",
    "edits": [
        {"insert": {"id": "sides", "map": "${steps.survey.output}", "steps": [new("side")]}, "after": "survey"},
        {"amend": "report", "fields": {"with": {"of": "${steps.sides.output}"}}},
    ],
}
GATHER = {
    "after": ["survey"],
    "when": "size(output) < 1",
    "why": "too little is known",
    "edits": [{"insert": new("gather"), "before": "report"}],
}
PRUNE = {"after": ["survey"], "when": "'dull' in output", "why": "nobody asks", "edits": [{"remove": "extra"}]}


@pytest.mark.parametrize(
    ("found", "expected", "why"),
    [
        ([1, 2, 3], "survey side side side extra report", ["the topic has many sides"]),
        ([], "survey extra gather report", ["too little is known"]),
        (["dull"], "survey report", ["nobody asks"]),
        ([1], "survey extra report", []),
    ],
)
def test_a3_a_result_expands_gathers_for_or_prunes_the_rest(found, expected, why):
    steps = new("survey"), new("extra"), new("report")
    made = world(*steps, script={"survey": Outcome(found)}, rules=[EXPAND, GATHER, PRUNE])
    assert (done(made), made.status) == (expected, "succeeded")
    assert [each[2] for each in revisions(made)] == why


def test_a3_steps_are_reordered_so_that_they_run_at_once():
    rule = {
        "after": ["plan"],
        "when": "output == 'independent'",
        "edits": [
            {"remove": "one"},
            {"remove": "two"},
            {"insert": {"id": "both", "parallel": [new("one"), new("two")]}, "after": "plan"},
        ],
    }
    made = World({"steps": [new("plan"), new("one"), new("two")], "adjust": {"rules": [rule]}}, planning=True)
    made.script = {"plan": "independent", "one": HANGS, "two": HANGS}
    made.start()
    made.step()
    assert {each.step for each in made.commands()} == {"one", "two"}


def test_the_first_rule_that_holds_is_taken_before_anybody_follows():
    rules = [
        {"when": "output == 2", "edits": [insert("no", "a")]},
        {"edits": [insert("first", "a")]},
        {"edits": [insert("second", "b")]},
    ]
    made = world(new("a"), new("b"), rules=rules)
    assert done(made) == "a first b second"
    assert revisions(made) == [("rule 2", "a", "", ""), ("rule 3", "first", "", "")]


def test_a_rule_is_about_the_steps_exits_and_kinds_it_names():
    rules = [
        {"after": ["b"], "on": ["failure"], "kinds": ["timeout"], "edits": [insert("late", "b")]},
        {"after": ["b"], "on": ["failure"], "kinds": ["logic"], "edits": [insert("wrong", "b")]},
        {"after": ["b"], "kinds": ["logic"], "edits": [insert("never", "b")]},
        {"after": ["a"], "on": ["failure"], "edits": [insert("nor", "a")]},
    ]
    script = {"b": Failure("logic", "no")}
    made = world(new("a"), new("b", on={"failure": "next"}), new("c"), script=script, rules=rules)
    assert done(made) == "a b wrong c"


LOOP = new("a", max_visits=5, on={"exhausted": "c"}), new("b", on={"success": "a"}), new("c")


def test_a_rule_holds_as_often_as_it_says_and_all_of_them_as_often_as_the_plan_says():
    again = {"after": ["a"], "times": 2, "edits": [{"amend": "b", "fields": {"title": "changed"}}]}
    made = world(*LOOP, rules=[again])
    assert refusals(made) == []
    assert revisions(made) == [("rule 1", "a", "", "")] * 2
    many = {"times": 100, "edits": [{"amend": "c", "fields": {"title": "changed"}}]}
    made = world(*LOOP, rules=[many], most=3)
    assert (len(revisions(made)), refusals(made)) == (3, [])


def test_groups_are_asked_about_too_but_nothing_inside_a_map_or_a_sub_plan():
    asked = []
    steps = [
        {"id": "g", "steps": [new("a")]},
        {"id": "m", "map": [1, 2], "steps": [new("b")]},
        {"id": "p", "plan": {"steps": [new("c")]}},
    ]
    made = World({"steps": steps}, planning=True, adjust=lambda occasion: asked.append(occasion.step)).start()
    made.run()
    assert asked == ["a", "g", "m", "p"]


def test_a_question_that_is_answered_is_an_occasion():
    rule = {"after": ["q"], "on": ["approved"], "edits": [insert("more", "q")]}
    made = world({"id": "q", "ask": "Sure?"}, new("a"), rules=[rule])
    made.answer("approved")
    made.run()
    assert done(made) == "more a"


# ------------------------------------------------------------------------------- an adjuster


def test_an_adjuster_sees_what_happened_and_says_what_changes():
    seen = {}

    def adjuster(occasion):
        if occasion.step != "b":
            return None
        seen.update(
            visit=occasion.visit, exit=occasion.exit, output=occasion.output, inputs=occasion.inputs,
            failure=occasion.failure, revision=occasion.revision, replans=occasion.replans,
            steps=[step.id for step in occasion.plan.steps],
            a=(occasion.result("a").exit, occasion.result("a").output, occasion.result("a").failure),
        )  # fmt: skip
        with pytest.raises(KeyError):
            occasion.result("c")
        with pytest.raises(KeyError):
            occasion.result("nobody")
        return Adjustment([insert("n", "b")], "so be it")

    made = world(new("a"), new("b"), new("c"), script={"a": 1, "b": 2}, adjuster=adjuster)
    assert done(made) == "a b n c"
    assert seen == {
        "visit": 1, "exit": "success", "output": 2, "inputs": {}, "failure": None, "revision": 0, "replans": False,
        "steps": ["a", "b", "c"], "a": ("success", 1, None),
    }  # fmt: skip
    assert revisions(made) == [("adjuster", "b", "so be it", "")]


def test_rules_of_the_plan_come_before_the_adjuster():
    rule = {"after": ["a"], "edits": [insert("ruled", "a")]}
    made = world(new("a"), rules=[rule], adjuster=lambda o: Adjustment([insert(f"{o.step}_n", o.step)]), most=2)
    assert revisions(made) == [("rule 1", "a", "", ""), ("adjuster", "ruled", "", "")]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Adjustment([{"remove": "a"}]), "PRD1508"),
        (Adjustment([{"remove": "nobody"}]), "PRD1502"),
        (Adjustment([{"what": 1}]), "PRD1505"),
        (Adjustment([{"amend": "", "fields": {"budget": {"usd": 100}}}]), "PRD1510"),
        ("what?", "it broke: AttributeError"),
        (Adjustment(7), "it broke: TypeError"),
    ],
)
def test_what_cannot_be_taken_is_told_and_the_plan_stays_as_it_was(said, reason):
    made = world(new("a"), new("b"), adjuster=lambda o: said if o.step == "a" else None, budget={"usd": 1})
    assert (done(made), made.status, revisions(made)) == ("a b", "succeeded", [])
    [(by, after, told)] = refusals(made)
    assert (by, after) == ("adjuster", "a")
    assert reason in told


def test_an_adjuster_that_breaks_does_not_end_the_run_and_is_not_asked_for_ever():
    def broken(occasion):
        raise RuntimeError("no idea")

    made = world(*(new(f"s{n}") for n in range(9)), adjuster=broken, most=3)
    assert made.status == "succeeded"
    assert [each[2] for each in refusals(made)] == ["it broke: RuntimeError: no idea"] * 3


def test_what_an_adjuster_does_to_what_it_sees_is_its_own_affair():
    def careless(occasion):
        if occasion.step == "a":
            occasion.output["x"].append(7)
            occasion.inputs["y"] = 7
            occasion.result("a").output.clear()

    steps = new("a"), new("b", **{"with": {"of": "${steps.a.output}", "y": "${inputs.y}"}})
    made = world(*steps, script={"a": Outcome({"x": [1]})}, adjuster=careless, inputs={"y": {"default": 1}})
    assert made.made[-1].call.arguments == {"of": {"x": [1]}, "y": 1}


def test_the_plan_of_the_run_is_not_the_one_that_an_adjuster_sees():
    shown, said = [], []

    def adjuster(occasion):
        shown.append(occasion.plan)
        said.append(occasion.plan.steps[0].id)
        occasion.plan.steps[-1].with_["value"] = {"n": 66}
        occasion.plan.inputs["more"] = {}
        if occasion.failure is not None:
            occasion.failure.detail["seen"] = occasion.result("a").failure.detail["seen"] = "by a stranger"
        return Adjustment([insert("n", "b")]) if occasion.step == "b" else None

    fails = Failure("logic", "no", detail={"seen": "by nobody"})
    steps = new("a", recovery={"logic": ["continue"]}), new("b"), new("c", **{"with": {"value": {"n": 7}}})
    plan = {"steps": [*steps], "inputs": {}}
    made = World(plan, {"a": fails}, planning=True, adjust=adjuster).start()
    made.run()
    assert [each.call.arguments for each in made.made if each.step == "c"] == [{"value": {"n": 7}}]
    assert all(b"stranger" not in body for _, body, _ in made.facts)
    (known,) = {id(made.outline(fact.plan)): made.outline(fact.plan) for fact in made.find(e.RunStarted)}.values()
    assert (known.plan.steps[-1].with_, known.plan.inputs) == ({"value": {"n": 7}}, {})
    assert said == ["a"] * len(said)
    assert len({*map(id, shown)}) == 2, "one copy for each revision"


def test_a_long_complaint_is_cut():
    def broken(occasion):
        raise RuntimeError("no " * 100_000)

    assert len(refusals(world(new("a"), adjuster=broken))[0][2]) < 3_000


def test_what_results_add_does_not_count_for_the_rules():
    steps = new("a", grows={"into": "g"}), {"id": "g", "parallel": []}, new("b")
    wanted = Outcome({"next_steps": [{"tool": "x.y"}]})
    rule = {"after": ["b"], "edits": [insert("n", "b")]}
    made = world(*steps, script={"a": wanted}, rules=[rule], most=1)
    assert [each[0] for each in revisions(made)] == ["next_steps", "rule 1"]


def test_a_condition_that_cannot_be_looked_at_is_told():
    rule = {"after": ["a"], "when": "output.size > 3", "edits": [insert("n", "a")]}
    other = {"after": ["a"], "edits": [insert("m", "a")]}
    made = world(new("a"), script={"a": "a text"}, rules=[rule, other])
    [(by, after, told)] = refusals(made)
    assert (by, after, made.status) == ("rule 1", "a", "succeeded")
    assert [each[0] for each in revisions(made)] == ["rule 2"], "the others are looked at all the same"
    assert "size" in told


def test_a_tool_that_nobody_knows_is_refused():
    made = World(
        {"steps": [new("a")], "adjust": {"rules": [{"edits": [insert("n", "a", tool="no.such")]}]}}, planning=True
    )
    made.rules.toolbox = lambda: Toolbox.model_validate({"tools": {"x.y": {}}})
    made.start()
    made.run()
    assert "PRD1401" in refusals(made)[0][2]


def test_what_ends_with_its_group_is_no_occasion():
    asked = []
    race = {"id": "race", "join": "any", "parallel": [new("a"), new("b")]}
    made = World({"steps": [race]}, {"b": HANGS}, planning=True, adjust=lambda o: asked.append(o.step)).start()
    made.run()
    assert asked == ["a", "race"], "what was stopped has nothing to say"


# ------------------------------------------------------------------------------- planning anew


FIND_B = {
    "after": ["a"],
    "on": ["replan"],
    "why": "A is gone",
    "edits": [insert("b", "a"), {"amend": "use", "fields": {"with": {"of": "${steps.b.output}"}}}],
}


@pytest.mark.parametrize("kind", ["unavailable", "timeout", "logic", "invalid", "denied", "unknown", "unmet"])
def test_x8_after_a_failure_another_way_is_found(kind):
    steps = new("a", retry={"attempts": 1}), new("use", **{"with": {"of": "${steps.a.output}"}})
    made = world(*steps, script={"a": Failure(kind, "no"), "b": 7}, rules=[FIND_B])
    assert (done(made), made.status) == ("a b use", "succeeded")
    assert revisions(made) == [("rule 1", "a", "A is gone", kind)]
    assert made.made[-1].call.arguments == {"of": 7}
    [ended] = [each for each in made.find(e.StepEnded) if each.step == "a"]
    assert (ended.exit, ended.failure.kind, ended.partial, ended.to) == ("failure", kind, True, "next")


def test_a_group_that_failed_is_planned_around():
    rule = {"after": ["g"], "on": ["replan"], "kinds": ["timeout"], "edits": [insert("b", "g")]}
    group = {"id": "g", "timeout": "5s", "parallel": [new("a")]}
    made = world(group, new("c"), script={"a": HANGS}, rules=[rule])
    assert (done(made), made.status) == ("b c", "succeeded")


def test_a_group_whose_step_had_all_there_is_is_not_asked_about_again():
    asked = []
    group = {"id": "g", "steps": [new("a")]}
    made = World({"steps": [group]}, {"a": Failure("logic", "no")}, planning=True).start()
    made.rules.adjust = lambda o: asked.append((o.step, o.replans, o.exit, o.output))
    made.run()
    assert ("a", True, "", None) in asked
    assert made.status == "failed"


def test_where_nothing_else_is_known_the_next_rung_is_taken():
    refused = {"after": ["a"], "on": ["replan"], "edits": [{"remove": "a"}]}
    made = world(new("a"), script={"a": Failure("logic", "no")}, rules=[refused], recovery={"logic": ["replan", "ask"]})
    assert len(made.state.questions) == 1
    assert refusals(made)[0][1] == "a"
    made = world(new("a"), script={"a": Failure("logic", "no")}, recovery={"logic": ["replan", "continue"]})
    assert (made.status, refusals(made)) == ("succeeded", [])


def test_no_retry_resets_how_often_a_plan_was_planned_anew():
    rule = {"after": ["a"], "on": ["replan"], "edits": [insert("b", "a")]}
    script = {"a": Failure("logic", "no"), "b": Failure("logic", "no")}
    made = world(new("a"), script=script, rules=[rule])
    assert made.status == "failed"
    made.retry()
    made.run()
    assert (made.status, len(revisions(made))) == ("failed", 1)


# ------------------------------------------------------------------------------- the gate


def test_e19_with_the_gate_closed_nothing_changes():
    rules = [{"edits": [insert("n", "a")]}, {"on": ["replan"], "edits": [insert("m", "b")]}]
    script = {"b": Failure("logic", "no")}
    made = world(new("a"), new("b"), script=script, rules=rules, planning=False)
    assert (done(made), made.status, revisions(made), refusals(made)) == ("a b", "failed", [], [])
    plain = world(new("a"), new("b"), script=script, planning=False)
    assert [each for each in made.facts if each[0] != "run_started"] == plain.facts[1:], "not one fact is another one"


def test_a_race_waits_for_what_comes_in_the_place_of_a_step_that_has_failed():
    rule = {"after": ["a"], "on": ["replan"], "edits": [{"insert": new("b"), "into": "race"}]}
    steps = [{"id": "race", "join": "any", "parallel": [{**new("a"), "recovery": {"logic": ["replan"]}}]}]
    made = world(*steps, script={"a": Failure("logic", "no"), "b": 7}, rules=[rule])
    assert (made.status, made.done()) == ("succeeded", ["a", "b"])


def test_a_planner_that_finds_no_other_way_is_told_with_the_failure():
    def planner(_):
        raise ValueError("no road leads there")

    plan = {"adjust": {"planner": "scout"}, "steps": [new("a")]}
    made = World(plan, {"a": Failure("logic", "no")}, planning=True, forgetful=True)
    made.rules.planner = planner
    made.start().run()
    told = "no; the planner scout was asked for another way: it broke: ValueError: no road leads there"
    assert (made.status, made.failure.message) == ("failed", told)
    assert [(by, after) for by, after, _ in refusals(made)] == [(e.PLANNER, "a")]
