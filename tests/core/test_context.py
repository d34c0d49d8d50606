"""T8: a step sees the results of earlier ones, newest first, fitted to a limit by a rule, and the same at every replay."""

import json

import pytest
from driven import NO, driven, tool
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.core import events as e
from perdure.core.calls import Failure, Outcome
from perdure.core.growth import Finish, Move
from perdure.core.seeing import call_of
from perdure.core.values import digest_of
from perdure.plan.tokens import PIECES, size_of
from perdure.testing.worlds import LOST, Takes, World

TELL = {"id": "tell", "model": "weak", "prompt": "Tell"}


def tell(context="all", **more):
    return {**TELL, "context": context, **more}


def shown(world, step="tell"):
    """What a step was shown at its last attempt, by step."""
    return {each["step"]: each for each in contexts(world, step)[-1]}


def contexts(world, step="tell"):
    """What a step was shown, one attempt after the other."""
    return [made.call.arguments["context"] for made in world.made if made.step == step]


def outputs(world, step="tell"):
    return {id_: each.get("output") for id_, each in shown(world, step).items()}


# ------------------------------------------------------------------------------- which results


def test_t8_all_earlier_results_are_shown_the_newest_first():
    world = driven([tool("a", title="First"), tool("b"), tell(), tool("c")], {"a": {"n": 1}, "b": "two", "c": 3})
    assert contexts(world) == [
        [
            {"step": "b", "exit": "success", "output": "two"},
            {"step": "a", "title": "First", "exit": "success", "output": {"n": 1}},
        ]
    ]


def test_t8_without_it_nothing_is_shown_and_a_tool_is_shown_nothing_at_all():
    world = driven([tool("a"), TELL, tool("b", context="all")], {"a": 1})
    assert all("context" not in made.call.arguments for made in world.made)


def test_t5_a_step_that_is_gone_back_to_sees_what_failed_and_what_it_gave_before():
    plan = [tell(max_visits=3), tool("test", on={"failure": "tell"})]
    world = driven(plan, {"tell": ["one", "two"], "test": [Failure("logic", "2 of 3 failed"), "ok"]})
    assert contexts(world) == [
        [],
        [
            {"step": "test", "exit": "failure", "failure": {"kind": "logic", "message": "2 of 3 failed"}},
            {"step": "tell", "exit": "success", "output": "one"},
        ],
    ]


def test_t9_a_step_that_leads_to_itself_sees_its_own_visit_before():
    step = tell("needs", max_visits=3, verdicts=["more"], on={"more": "tell"})
    world = driven([tool("a"), step], {"a": 0, "tell": [Outcome(1, "more"), Outcome(2, "more"), 3]})
    assert [[each["output"] for each in one] for one in contexts(world)] == [[0], [1], [2]]


def test_t8_skipped_steps_have_nothing_to_show_but_those_that_could_not_begin_have():
    plan = [tool("a", when="false"), tool("b", requires=["1 > 2"], on={"failure": "next"}), tell()]
    assert list(shown(driven(plan))) == ["b"]


def test_t8_what_was_undone_is_told_without_its_output():
    plan = [{"id": "save", "checkpoint": True}, tool("a", undo={"tool": "un.do"}), {"id": "back", "rollback": "save"}]
    assert shown(driven([*plan, tell()], {"a": "gone"}))["a"] == {"step": "a", "exit": "success", "undone": True}


def test_t8_a_group_is_seen_as_its_steps():
    group = {"id": "g", "steps": [tool("a"), {"id": "h", "parallel": [tool("b"), tool("c")]}]}
    world = driven([group, tell()], {"a": 1, "b": 2, "c": 3})
    assert outputs(world) == {"c": 3, "b": 2, "a": 1}
    for context in (["g"], ["g", "b"], "needs"):
        assert outputs(driven([group, tell(context)], {"a": 1, "b": 2, "c": 3})) == {"c": 3, "b": 2, "a": 1}


def test_t8_a_group_that_failed_by_itself_says_so():
    group = {"id": "g", "steps": [tool("a")], "accept": ["output > 1"], "on": {"failure": "next"}}
    found = shown(driven([group, tell()], {"a": 1}))
    assert found["g"]["failure"]["kind"] == "unmet"
    assert "output" not in found["g"]
    assert found["a"]["output"] == 1


def test_t8_a_group_that_failed_because_of_a_step_leaves_it_to_that_step():
    group = {"id": "g", "steps": [tool("a")], "on": {"failure": "next"}}
    assert list(shown(driven([group, tell()], {"a": NO}))) == ["a"]


def test_t8_in_a_graph_all_are_those_it_needs_and_all_that_they_need():
    plan = [tool("a"), tool("b", needs=["a"]), tool("c", needs=[]), tell(needs=["b"])]
    world = driven(plan, {"a": Takes(1, 1), "b": Takes(1, 2), "c": 3})
    assert outputs(world) == {"b": 2, "a": 1}


def test_t8_in_a_graph_only_its_own_needs_if_it_says_so():
    plan = [tool("a"), tool("b", needs=["a"]), tell("needs", needs=["b"])]
    assert outputs(driven(plan, {"a": 1, "b": 2})) == {"b": 2}


def test_t8_the_first_step_of_a_group_waits_for_what_the_group_waits_for():
    inner = {"id": "g", "parallel": [{"id": "h", "steps": [tell("needs")]}, tool("c")]}
    assert outputs(driven([tool("a"), tool("b"), inner], {"a": 1, "b": 2})) == {"b": 2}
    assert contexts(driven([tell("needs")])) == [[]]


def test_t8_steps_in_the_groups_around_it_are_seen_too():
    inner = {"id": "g", "parallel": [{"id": "h", "steps": [tool("b"), tell()]}, tool("c")]}
    world = driven([tool("a"), inner], {"a": 1, "b": Takes(1, 2), "c": 3})
    assert outputs(world) == {"b": 2, "a": 1}


def test_t8_entering_a_group_anew_forgets_what_its_steps_gave():
    group = {"id": "g", "steps": [tell(), tool("a")], "max_visits": 2, "verdicts": ["again"], "exit": "steps.a.output"}
    world = driven([{**group, "on": {"again": "g"}}], {"a": ["again", "success"]})
    assert contexts(world) == [[], []]


def test_t8_named_steps_are_shown_the_newest_first_and_only_if_they_are_over():
    plan = [tool("a"), tool("b"), tool("c", when="false"), tell(["a", "b", "c"])]
    assert outputs(driven(plan, {"a": 1, "b": 2})) == {"b": 2, "a": 1}
    plan = [tell(["late"], max_visits=2), tool("late", on={"failure": "tell"})]
    assert [len(each) for each in contexts(driven(plan, {"late": [NO, 1]}))] == [0, 1]


def test_t8_an_item_and_an_inner_plan_see_their_own_steps_and_are_one_result_outside():
    each = {"id": "all", "map": [7], "steps": [tool("b"), {**tell(), "id": "in_item"}]}
    inner = {"id": "sub", "plan": {"steps": [tool("c"), {**tell(), "id": "in_plan"}]}}
    world = driven([tool("a"), each, inner, tell()], {"a": 1, "b": 2, "in_item": "i", "c": 3, "in_plan": "p"})
    assert outputs(world, "all/1[0].in_item") == {"b": 2}
    assert outputs(world, "in_plan") == {"c": 3}
    assert outputs(world) == {"sub": "p", "all": ["i"], "a": 1}


def test_t8_a_model_that_decides_and_one_that_stands_in_are_shown_it():
    plan = [tool("a"), {"id": "pick", "decide": TELL_CALL, "choices": ["left"], "context": "all", "on": GO_ON}]
    assert outputs(driven(plan, {"a": 1, "pick": "left"}), "pick") == {"a": 1}
    step = tool("b", context="all", alternates=[TELL_CALL], recovery={"logic": ["alternate"]})
    world = driven([tool("a"), step], {"a": 1, "b": [NO, "done"]})
    assert [made.call.arguments.get("context") for made in world.made if made.step == "b"] == [
        None,
        [{"step": "a", "exit": "success", "output": 1}],
    ]


TELL_CALL = {"model": "weak", "prompt": "Which?"}
GO_ON = {"left": "next"}

# ------------------------------------------------------------------------------- the same every time


def digests(world, step="tell"):
    return [each.call for each in world.find(e.AttemptStarted) if each.step == step]


def test_t8_a_try_that_is_made_again_is_shown_the_same_whatever_ended_meanwhile():
    plan = {
        "mode": "graph",
        "steps": [tool("a"), tell(needs=["a"], retry={"attempts": 3, "wait": "5s"}), tool("b"), tool("c", needs=["a"])],
    }
    later = Failure("transient", "later")
    world = driven(plan, {"a": 1, "tell": [later, LOST, "told"], "b": Takes(2, 2), "c": Takes(7, 3)})
    assert len(digests(world)) == 3
    assert len(set(digests(world))) == 1


@pytest.mark.parametrize("when", range(4))
def test_t8_a_crash_changes_nothing_in_what_is_shown(when):
    plan = {"steps": [tool("a"), tool("b"), tell()]}
    world = World(plan, {"a": 1, "b": "x" * 9_000}).start()
    for _ in range(when):
        world.step()
    world.crash()
    world.run()
    assert {len(made.call.arguments["context"]) for made in world.made if made.step == "tell"} == {2}
    assert {digest_of(made.call.data) for made in world.made if made.step == "tell"} == set(digests(world))


def test_t8_a_conversation_that_goes_on_tells_again_what_was_shown_in_it():
    plan = [tool("a"), tell(max_visits=2), tool("b"), tool("c", on={"failure": "tell"})]
    world = driven(plan, {"a": 1, "tell": "told", "b": 2, "c": 3})
    assert digest_of(call_of(world.state, world.state.cells["tell"]).data) == digests(world)[-1]


def test_t8_what_looks_like_an_expression_stays_what_it_is():
    plan = [tool("a"), {"id": "tell", "agent": "x", "with": {"key": "${secrets.KEY}"}, "context": "all"}]
    world = driven(plan, {"a": "${secrets.KEY} ${steps.a}"})
    assert outputs(world) == {"a": "${secrets.KEY} ${steps.a}"}
    assert world.made[-1].call.arguments["with"] == {"key": {"secret": "KEY"}}


def test_t8_what_was_shown_is_not_held_when_a_step_is_over():
    world = driven([tool("a"), tell(), {**AGENT, "agent": "y"}], {"a": 1}, strategies={"agent:y": reading})
    assert world.state.cells["tell"].work.call is None
    assert world.state.cells["ag"].within.cached == {}


def reading(view):
    return Move(add=[tell_call("all")]) if view.first else Finish(output=view.context)


# ------------------------------------------------------------------------------- agents that grow

AGENT = {"id": "ag", "agent": "coder", "task": "Fix", "context": "all"}


def grown(strategy, script=None, plan=(), **step):
    return driven(
        [tool("a"), *plan, {**AGENT, **step}], {"a": 1, **(script or {})}, strategies={"agent:coder": strategy}
    )


def test_t8_a_strategy_sees_its_context_and_its_calls_name_it():
    seen = []

    def strategy(view):
        seen.append((view.context, view.facts))
        if view.first:
            return Move(add=[{"tool": "x.y", "with": {"value": "${inputs.context[0].output}"}}])
        return Finish(output="${steps.s1.output}")

    world = grown(strategy, {"ag/1.1": lambda call: call.arguments["value"]}, **{"with": {"hint": 2}})
    assert world.output == 1
    assert all(each == ([{"step": "a", "exit": "success", "output": 1}], {"hint": 2}) for each in seen)


def test_t8_an_agent_without_context_is_shown_nothing_and_may_be_given_a_value_of_that_name():
    seen = []

    def strategy(view):
        seen.append((view.context, view.facts))
        return Finish()

    grown(strategy, context=None, **{"with": {"context": "mine"}})
    assert seen[0] == ([], {"context": "mine"})


def test_t8_a_grown_step_sees_those_it_needs_and_those_that_were_over_when_it_was_added():
    def strategy(view):
        if view.first:
            return Move(add=[tool_call(), tool_call(), {**tool_call(), "needs": ["s2"]}])
        if view.born == 3:
            return Move(
                add=[tell_call("all", ["s3"]), tell_call("needs", ["s3"]), tell_call(["s1"]), tell_call("needs")]
            )
        return None if view.live else Finish()

    script = {"ag/1.1": 1, "ag/1.2": Takes(1, 2), "ag/1.3": Takes(1, 3)}
    world = grown(strategy, script)
    assert [list(outputs(world, f"ag/1.{n}")) for n in (4, 5, 6, 7)] == [["s3", "s2", "s1"], ["s3"], ["s1"], []]


def test_t8_a_grown_step_does_not_see_what_ended_after_it_was_added():
    def strategy(view):
        if view.first:
            return Move(add=[tool_call(), tell_call("all"), {"steps": [tool("in_first"), {**tell(), "id": "in_last"}]}])
        return None if view.live else Finish()

    world = grown(strategy, {"ag/1.2": [Failure("transient", "later"), "told"]})
    assert contexts(world, "ag/1.2") == [[], []]
    assert list(outputs(world, "ag/1.3.in_last")) == ["in_first"]


def tool_call():
    return {"tool": "x.y"}


def tell_call(context, needs=()):
    return {"model": "weak", "prompt": "Tell", "context": context, "needs": list(needs)}


# ------------------------------------------------------------------------------- how much of them

TEXTS = st.text(max_size=30) | st.text('ab\n"ü', min_size=50, max_size=3_000)
GIVEN = st.none() | st.integers() | TEXTS | st.lists(TEXTS, max_size=5) | st.dictionaries(st.text(max_size=9), TEXTS)
RESULTS = st.lists(GIVEN | TEXTS.map(lambda text: Failure("logic", text)), max_size=25)


def told(results, tokens):
    """What a step is shown of some results, the last of which is the newest."""
    steps = [tool(f"s{n}", on={"failure": "next"}) for n in range(len(results))]
    script = {
        f"s{n}": each if isinstance(each, (Failure, Outcome)) else Outcome(each) for n, each in enumerate(results)
    }
    return contexts(World({"steps": [*steps, tell({"tokens": tokens})]}, script).run())[-1]


@settings(max_examples=60)
@given(RESULTS, st.integers(20, 1_500))
def test_t8_it_never_takes_more_than_the_limit_and_leaves_nobody_out(results, tokens):
    context = told(results, tokens)
    assert size_of(context) <= tokens * PIECES
    *items, last = context or [{"more": 0}]
    named = [each["step"] for each in (items if "more" in last else context)]
    assert named == [f"s{n}" for n in reversed(range(len(results)))][: len(named)]
    assert len(named) + last.get("more", 0) == len(results)


@settings(max_examples=30)
@given(RESULTS, st.integers(20, 1_500))
def test_t8_newer_results_are_shown_in_more_detail_down_to_references(results, tokens):
    forms = [form(each) for each in told(results, tokens)]
    assert forms == sorted(forms, key=["whole", "reference", "more"].index)


def test_t8_where_nothing_more_fits_they_are_counted():
    assert told(["a" * 50] * 9, 20) == [{"more": 9}]


def form(each):
    return next((name for name in ("reference", "more") if name in each), "whole")


@settings(max_examples=20)
@given(RESULTS, st.integers(20, 1_500))
def test_t8_the_same_results_are_shown_in_the_same_way(results, tokens):
    assert digest_of(told(results, tokens)) == digest_of(told(results, tokens))


def test_t8_what_does_not_fit_is_shortened_then_referred_to_then_counted():
    results = [Failure("logic", "x" * 50), *["o" * 900] * 60, {"log": "l" * 5_000, "code": 1}, "newest" * 10]
    context = told(results, 1_334)
    assert context[0]["output"] == "newest" * 10
    assert context[1]["summary"]["code"] == 1
    assert "characters left out" in context[1]["summary"]["log"]
    assert 1_200 < size_of(context[1]) < 2_000
    assert "reference" not in context[2]
    left = context[-1]["more"]
    assert context[-2] == {"step": f"s{left}", "exit": "success", "reference": f"steps.s{left}"}
    assert 20 < left < 50


def test_t8_the_oldest_result_takes_all_the_room_there_is():
    [only] = told(["x" * 50_000], 1_000)
    assert 2_800 < size_of(only) <= 3_000


def test_t8_a_long_complaint_is_shortened_and_leaves_room_for_what_there_is_besides():
    output = Outcome("o" * 9_000, "failure", Failure("logic", "m" * 9_000))
    both, alone = told([output], 667)[0], told([output.failure], 667)[0]
    assert both["failure"]["kind"] == "logic"
    assert 700 < both["failure"]["message"].count("m") < 1_000
    assert 700 < both["summary"].count("o") < 1_200
    assert 1_650 < alone["failure"]["message"].count("m") < 2_000
    assert "summary" not in alone


def test_t8_a_reference_names_the_kind_of_failure():
    assert told([Failure("logic", "x" * 500), "y" * 150], 110)[1] == {
        "step": "s0", "exit": "failure", "failure": "logic", "reference": "steps.s0",
    }  # fmt: skip


def test_t8_a_long_title_is_cut_and_says_so():
    world = driven([tool("a", title="t" * 500), tell()])
    title = shown(world)["a"]["title"]
    assert 60 < title.count("t") < 90
    assert "characters left out" in title


def test_t8_what_is_nested_deep_is_shown_in_part():
    deep = 0.5
    for _ in range(400):
        deep = [deep]
    [only] = told([deep], 4_000)
    assert "left out" in json.dumps(only["summary"])


def test_t8_no_more_is_read_than_is_shown():
    """1,000 results of 20 kB, each kept apart: a few of them are loaded, and the others are told by name."""
    steps = [tool(f"s{n}") for n in range(1_000)]
    world = World({"steps": [*steps, tell()]}, dict.fromkeys((f"s{n}" for n in range(1_000)), "x" * 20_000)).start()
    while world.state.steps_over < 999:
        world.step()
    reads, read = [], world.rules.read
    world.rules.read = lambda digest: reads.append(digest) or read(digest)
    world.step()
    [context] = [world.state.cells["tell"].work.call.arguments["context"]]
    assert len(reads) <= 8
    assert context[-1] == {"more": 1_001 - len(context)}
    assert sum("reference" in each for each in context) > 25
