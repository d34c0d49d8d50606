"""T5 T6 T7 E3: which child comes next, and when a group is over."""

import pytest
from driven import NO, driven, tool

from perdure.core import events as e
from perdure.core.calls import Failure, Outcome
from perdure.testing.worlds import HANGS, Takes, World

# ------------------------------------------------------------------------------- rule 2 and 3: exits and targets

ODD = Outcome(1, "odd")


@pytest.mark.parametrize(
    ("on", "gives", "then", "status"),
    [
        ({}, 1, ["b", "c"], "succeeded"),
        ({}, NO, [], "failed"),
        ({}, ODD, [], "failed"),
        ({"odd": "next"}, ODD, ["b", "c"], "succeeded"),
        ({"odd": "done"}, ODD, [], "succeeded"),
        ({"odd": "fail"}, ODD, [], "failed"),
        ({"odd": "c"}, ODD, ["c"], "succeeded"),
        ({"odd": "recover"}, ODD, [], "failed"),
        ({"success": "c"}, 1, ["c"], "succeeded"),
        ({"success": "fail"}, 1, [], "failed"),
        ({"failure": "c"}, NO, ["c"], "succeeded"),
        ({"failure": "next"}, NO, ["b", "c"], "succeeded"),
        ({"failure": "done"}, NO, [], "succeeded"),
    ],
)
def test_rule_3_where_an_exit_leads(on, gives, then, status):
    world = driven([tool("a", on=on, verdicts=["odd"]), tool("b"), tool("c")], {"a": gives})
    assert world.done() == ["a", *then]
    assert world.status == status


def test_a_group_that_a_word_of_its_own_leads_out_of_fails_by_whoever_said_it():
    world = driven([{"id": "g", "steps": [tool("a", on={"odd": "fail"}, verdicts=["odd"])]}], {"a": ODD})
    assert world.failure == Failure("logic", "a ended with odd")
    assert [(each.step, each.cause) for each in world.find(e.StepEnded)] == [("g", "a")]


def test_who_says_a_word_that_was_not_declared_is_told_which_ones_are():
    world = driven([tool("a", verdicts=["odd", "even"])], {"a": Outcome(1, "neither")})
    told = "'neither' was not declared; it may end with: success, odd, even, failure"
    assert world.failure == Failure("invalid", told)


def test_rule_2_a_word_that_was_not_declared_is_invalid():
    world = driven([tool("a"), tool("b")], {"a": ODD})
    assert (world.status, world.failure.kind, world.state.ended.cause) == ("failed", "invalid", "a")


def test_done_and_fail_end_the_group_around_the_step_alone():
    inner = {"id": "g", "steps": [tool("a", on={"success": "done"}), tool("never")]}
    assert driven([inner, tool("b")]).done() == ["a", "b"]
    failing = {"id": "g", "steps": [tool("a", on={"success": "fail"}), tool("never")], "on": {"failure": "b"}}
    world = driven([failing, tool("skipped"), tool("b")])
    assert world.done() == ["a", "b"]
    assert world.exit_of("g") == "failure"


def test_done_and_fail_as_steps():
    done = driven(
        [tool("a"), {"id": "d", "done": {"got": "${steps.a.output}"}, "when": "true"}, tool("never")], {"a": 7}
    )
    assert (done.output, done.done()) == ({"got": 7}, ["a"])
    failed = driven([tool("a"), {"id": "f", "fail": "because of ${steps.a.output}"}], {"a": 7})
    assert (failed.status, failed.failure) == ("failed", Failure("logic", "because of 7"))
    assert driven([{"id": "f", "fail": True}]).failure.message == "the plan says so"


def test_done_true_hands_on_what_came_before():
    assert driven([tool("a"), {"id": "d", "done": True}], {"a": 7}).output == 7
    assert driven([{"id": "d", "done": True}]).output is None
    assert driven([{"id": "g", "parallel": [tool("a"), {"id": "d", "done": True}]}]).output["d"] is None


def test_rule_10_outputs_of_groups():
    serial = {"id": "s", "steps": [tool("a"), tool("b"), tool("c", when="false")]}
    graph = {"id": "g", "parallel": [tool("d"), tool("f", on={"failure": "next"}), tool("h", when="false")]}
    world = driven(
        {"steps": [serial, graph], "output": {"s": "${steps.s.output}", "g": "${steps.g.output}"}},
        {"b": 2, "d": 4, "f": NO},
    )
    assert world.output == {"s": 2, "g": {"d": 4, "f": None, "h": None}}


# ------------------------------------------------------------------------------- rule 3: jumps

LOOP = [
    tool("prepare", max_visits=2),
    {
        "id": "build",
        "steps": [
            tool("compile", max_visits=2),
            tool("link", on={"failure": "prepare"}),
            tool("smoke", on={"failure": "compile"}),
        ],
    },
    tool("ship"),
]


def test_jumps_go_sideways_and_outward():
    world = driven(LOOP, {"link": [NO, 1], "smoke": [NO, 1]})
    assert world.done() == [
        "prepare",
        "compile",
        "link",
        "prepare",
        "compile",
        "link",
        "smoke",
        "compile",
        "link",
        "smoke",
        "ship",
    ]
    assert [exit_ for step, exit_ in world.exits() if step == "build"] == ["left", "success"]


def test_a_group_that_is_left_is_not_asked_where_to_go():
    group = {"id": "g", "steps": [tool("a", on={"failure": "z"})], "on": {"failure": "never", "success": "never"}}
    world = driven([group, tool("never", when="false", on={"skipped": "fail"}), tool("z")], {"a": NO})
    assert world.done() == ["a", "z"]


def test_whoever_leaves_a_graph_stops_the_others():
    group = {"id": "g", "parallel": [tool("a", on={"failure": "z"}), tool("b"), {"id": "s", "steps": [tool("c")]}]}
    world = driven([group, tool("never", when="false"), tool("z")], {"a": Takes(1, NO), "b": HANGS, "c": HANGS})
    assert world.exits() == [
        ("a", "failure"), ("b", "cancelled"), ("c", "cancelled"), ("s", "cancelled"), ("g", "left"), ("z", "success"),
    ]  # fmt: skip
    assert world.status == "succeeded"


def test_a_jump_that_leads_nowhere_is_invalid_and_crosses_no_scope():
    inner = {"steps": [tool("a", on={"failure": "z"})]}
    for group in (
        {"id": "g", "plan": inner},
        {"id": "g", "map": [1], **inner},
        {"id": "g", "plan": {"steps": [{"id": "p", "parallel": inner["steps"]}]}},
    ):
        world = driven([group, tool("z")], {"a": NO})
        assert (world.status, world.failure.kind) == ("failed", "invalid")
        assert "'z'" in world.failure.message
    assert driven([tool("a", on={"failure": "nowhere"})], {"a": NO}).failure.kind == "invalid"


def test_a_self_loop_ends_when_it_is_exhausted():
    world = driven([tool("a", max_visits=3, on={"failure": "a", "exhausted": "b"}), tool("b")], {"a": NO})
    assert world.done() == ["a", "a", "a", "b"]
    assert world.exits()[-2:] == [("a", "exhausted"), ("b", "success")]


def test_jumping_keeps_results_and_entering_forgets():
    plan = [
        tool("a", max_visits=2, **{"with": {"value": "${steps.?b.output}"}}),
        {"id": "g", "max_visits": 2, "steps": [tool("c", **{"with": {"value": "${steps.?d.output}"}}), tool("d")]},
        tool("b", on={"failure": "next"}),
        {
            "id": "again",
            "decide": "steps.a.visits < 2 ? 'more' : 'enough'",
            "choices": ["more", "enough"],
            "on": {"more": "a", "enough": "done"},
        },
    ]
    world = driven(plan, {"b": [5, 6], "d": 9})
    assert [made.call.arguments["value"] for made in world.made if made.step == "a"] == [None, 5]
    assert [made.call.arguments["value"] for made in world.made if made.step == "c"] == [None, None]


# ------------------------------------------------------------------------------- rule 6: graphs


def graph(*steps, **more):
    return {"mode": "graph", "steps": list(steps), **more}


@pytest.mark.parametrize(
    ("a", "b", "entered"),
    [
        ({}, {}, True),
        ({"when": "false"}, {}, True),
        ({"when": "false"}, {"when": "false"}, False),
        ({"on": {"failure": "next"}}, {}, True),
    ],
)
def test_rule_6_dead_paths(a, b, entered):
    script = {"a": NO} if "on" in a else {}
    world = driven(graph(tool("a", **a), tool("b", **b), tool("c", needs=["a", "b"]), tool("d", needs=["c"])), script)
    assert (world.exit_of("c"), world.exit_of("d")) == (("success",) * 2 if entered else ("skipped",) * 2)


def test_rule_6_what_needs_a_failed_step_is_skipped():
    plan = graph(tool("a"), tool("b", needs=["a"]), tool("c", needs=["b"]), tool("d"), join="settled")
    world = driven(plan, {"a": NO})
    assert dict(world.exits()) == {"a": "failure", "b": "skipped", "c": "skipped", "d": "success"}


def test_rule_6_what_needs_a_cancelled_step_is_skipped():
    world = World(
        graph(tool("a", on={"cancelled": "next"}), tool("b", needs=["a"]), join="settled"), {"a": HANGS}, forgetful=True
    ).run()
    world.cancel("a")
    world.run()
    assert dict(world.exits()) == {"a": "cancelled", "b": "skipped"}


def test_a_graph_is_told_to_end_by_a_step():
    world = driven(
        graph(tool("a", on={"success": "done"}), tool("b"), tool("c", needs=["a"])), {"a": Takes(1), "b": HANGS}
    )
    assert (world.status, world.exits()) == ("succeeded", [("a", "success"), ("b", "cancelled")])
    world = driven(graph(tool("a", on={"success": "fail"}), tool("b"), join="settled"), {"a": Takes(1), "b": HANGS})
    assert (world.status, world.state.ended.cause) == ("failed", "a")


# ------------------------------------------------------------------------------- rule 7: joins

S, F, K = 1, NO, None  # succeeds, fails, is skipped


@pytest.mark.parametrize("as_map", [False, True])
@pytest.mark.parametrize(
    ("join", "children", "good"),
    [
        ("all", [S, S, S], True), ("all", [S, F, S], False), ("all", [S, K], True), ("all", [K, K], True), ("all", [], True),
        ("any", [F, S, F], True), ("any", [F, F], False), ("any", [K, F], False), ("any", [K, K], False), ("any", [], False),
        ("settled", [F, F], True), ("settled", [], True), ("settled", [S, K, F], True),
        ({"quorum": 2}, [S, F, S], True), ({"quorum": 2}, [S, F, F], False), ({"quorum": 2}, [S, S, F], True), ({"quorum": 2}, [S, K, K], False),
        ({"tolerate": 1}, [S, F, S], True), ({"tolerate": 1}, [F, F, S], False), ({"tolerate": 0}, [S, S], True), ({"tolerate": 1}, [], True),
        ({"quorum": 1}, [], False),
    ],
)  # fmt: skip
def test_rule_7_joins(as_map, join, children, good):
    as_map = as_map and K not in children  # items are not skipped
    outcomes = {f"c{n}": each for n, each in enumerate(children)} | {
        f"g/1[{n}].c": each for n, each in enumerate(children)
    }
    steps = [tool(f"c{n}", **({"when": "false"} if each is K else {})) for n, each in enumerate(children)]
    shape = {"map": list(range(len(children))), "steps": [tool("c")]} if as_map else {"mode": "graph", "steps": steps}
    world = driven([{"id": "g", "join": join, **shape}], outcomes)
    assert world.exit_of("g") == ("success" if good else "failure")


@pytest.mark.parametrize(
    ("join", "script", "stopped"),
    [
        ("all", {"a": Takes(1, NO), "b": HANGS, "c": HANGS}, ["b", "c"]),
        ("any", {"a": Takes(1), "b": HANGS, "c": HANGS}, ["b", "c"]),
        ({"quorum": 2}, {"a": Takes(1), "b": Takes(2), "c": HANGS}, ["c"]),
        ({"quorum": 2}, {"a": Takes(1, NO), "b": Takes(2, NO), "c": HANGS}, ["c"]),
        ({"tolerate": 0}, {"a": Takes(1, NO), "b": Takes(2), "c": Takes(3)}, []),
        ("settled", {"a": Takes(1, NO), "b": Takes(2), "c": Takes(3)}, []),
    ],
)
def test_rule_7_who_is_stopped(join, script, stopped):
    world = driven([{"id": "g", "parallel": [tool("a"), tool("b"), tool("c")], "join": join}], script)
    assert [step for step, exit_ in world.exits() if exit_ == "cancelled"] == stopped


def test_the_failure_of_a_group_is_that_of_the_innermost_step():
    world = driven([{"id": "g", "steps": [{"id": "h", "parallel": [tool("a")]}]}], {"a": NO})
    assert (world.failure, world.state.ended.cause) == (NO, "a")
    none = driven([{"id": "g", "parallel": [tool("a", when="false")], "join": "any"}])
    assert (none.failure.kind, none.failure.message) == ("unmet", "too few steps succeeded")


def test_joins_and_limits_of_plans():
    inner = {"mode": "graph", "join": "any", "limit": 1, "steps": [tool("a"), tool("b"), tool("c")]}
    for plan in (inner, [{"id": "p", "plan": inner}], [{"id": "p", "plan": "named"}]):
        world = driven(plan, {"a": NO}, plans={"named": inner})
        assert (world.status, len(world.done())) == ("succeeded", 2)


# ------------------------------------------------------------------------------- limit and priority


def test_t7_no_more_than_the_limit_are_live_and_the_important_come_first():
    plan = [{"id": "g", "limit": 2, "parallel": [tool("a"), tool("b"), tool("c", priority=5), tool("d", priority=-1)]}]
    world = World(plan := {"steps": plan}, {"a": HANGS, "b": HANGS, "c": HANGS, "d": HANGS}, forgetful=True).run()
    assert list(world.state.flying) == ["c", "a"]
    assert driven(plan).done() == ["c", "a", "b", "d"]


# ------------------------------------------------------------------------------- maps


def test_a_map_gives_a_list_in_the_order_of_its_items():
    plan = {
        "steps": [
            {"id": "m", "map": "${inputs.items}", "steps": [tool("t", **{"with": {"value": "${item}-${index}"}})]}
        ],
        "inputs": {"items": {}},
    }
    for order in range(5):
        assert driven(plan, inputs={"items": ["a", "b", "c"]}, order=order).output == ["a-0", "b-1", "c-2"]
    assert driven(plan, inputs={"items": []}).output == []


def test_a_map_in_a_map():
    inner = {"id": "n", "map": "${item}", "steps": [tool("t", **{"with": {"value": "${item}"}})]}
    world = driven([{"id": "m", "map": [[1, 2], [], [3]], "steps": [inner]}])
    assert world.output == [[1, 2], [], [3]]
    assert world.done() == ["m/1[0].n/1[0].t", "m/1[0].n/1[1].t", "m/1[2].n/1[0].t"]


def test_items_that_fail_are_null():
    world = driven(
        [
            {
                "id": "m",
                "map": [1, 2, 3],
                "steps": [tool("t", **{"with": {"value": "${item}"}})],
                "join": {"tolerate": 1},
            }
        ],
        {"m/1[1].t": NO},
    )
    assert world.output == [1, None, 3]


def test_a_map_with_inputs_of_its_own():
    body = [tool("t", **{"with": {"value": "${inputs.x}"}})]
    plan = {
        "inputs": {"x": {"default": 1}},
        "steps": [tool("a"), {"id": "m", "map": [1], "steps": body, "with": {"x": "${steps.a.output}"}}],
    }
    assert driven(plan, {"a": 9}).output == [9]
    assert driven({"inputs": {"x": {"default": 1}}, "steps": [{"id": "m", "map": [1], "steps": body}]}).output == [1]


@pytest.mark.parametrize("items", ["${inputs.n}", "${steps.?a.output.b.c}"])
def test_a_map_over_something_else_is_invalid(items):
    world = driven(
        {
            "inputs": {"n": {"default": 3}},
            "steps": [tool("a", when="false"), {"id": "m", "map": items, "steps": [tool("t")]}],
        }
    )
    assert (world.failure.kind, world.state.ended.cause) == ("invalid", "m")


def test_a_map_over_what_cannot_be_computed_is_invalid():
    world = driven(
        {"inputs": {"n": {"default": 3}}, "steps": [{"id": "m", "map": "${inputs.n / 0}", "steps": [tool("t")]}]}
    )
    assert world.failure.kind == "invalid"


def test_the_body_of_a_map_may_be_a_graph():
    body = {"mode": "graph", "steps": [tool("a"), tool("b", needs=["a"], **{"with": {"value": "${steps.a.output}"}})]}
    assert driven([{"id": "m", "map": [1, 2], **body}], {"a": 3}).output == [{"a": 3, "b": 3}] * 2


def test_rule_1_the_items_are_one_small_fact():
    world = driven([{"id": "m", "map": list(range(50)), "steps": [{"id": "k", "checkpoint": True}]}])
    [grown] = world.find(e.StepsGrown)
    assert grown.items == 50
    assert len(e.encode(grown)) < 120
    assert world.find(e.StepEntered)[1].step == "m/1[0]"


# ------------------------------------------------------------------------------- races, and who is gone on without

GOES_ON = {"recovery": {"logic": ["continue"]}}


@pytest.mark.parametrize("join", ["any", {"quorum": 1}])
@pytest.mark.parametrize(("other", "partial"), [(2, False), (NO, True)])
def test_nobody_wins_a_race_by_failing_while_another_one_runs(join, other, partial):
    race = {"id": "race", "join": join, "parallel": [tool("a", **GOES_ON), tool("b", **GOES_ON)]}
    world = driven([race], {"a": NO, "b": Takes(5, other)})
    assert (world.status, world.done()) == ("succeeded", ["a", "b"])
    assert [each.exit for each in world.find(e.StepEnded) if each.step == "race"] == ["success"]
    assert world.output["b"] == (None if partial else 2)
