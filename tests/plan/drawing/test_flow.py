import pytest

from perdure.plan.drawing.flow import Flow
from perdure.plan.model.document import Plan


def tool(name, **more):
    return {"id": name, "tool": "a.b", **more}


def edges(steps, **more):
    flow = Flow(Plan.model_validate({"steps": steps, **more}))
    return {
        (edge.sort, edge.source.id, edge.target.id if edge.target else edge.word, ", ".join(edge.exits))
        for edge in flow.edges
    }


@pytest.mark.parametrize(
    ("first", "found"),
    [
        (tool("a"), {("next", "a", "b", "success")}),
        (tool("a", on={"failure": "next"}), {("next", "a", "b", "success, failure")}),
        (tool("a", on={"success": "c"}), {("jump", "a", "c", "success")}),
        (
            tool("a", on={"success": "done", "failure": "fail"}),
            {("end", "a", "done", "success"), ("end", "a", "fail", "failure")},
        ),
        (tool("a", on={"success": "c"}, when="x"), {("jump", "a", "c", "success"), ("next", "a", "b", "skipped")}),
        (tool("a", on={"success": "recover"}), set()),
        (tool("a", on={"failure": "ghost"}), {("next", "a", "b", "success"), ("end", "a", "ghost", "failure")}),
        (tool("a", verdicts=["bad"]), {("next", "a", "b", "success")}),
        (tool("a", verdicts=["bad"], on={"bad": "c"}), {("next", "a", "b", "success"), ("jump", "a", "c", "bad")}),
        ({"id": "a", "done": True}, {("end", "a", "done", "")}),
        ({"id": "a", "fail": "why"}, {("end", "a", "fail", "")}),
        ({"id": "a", "done": True, "when": "x"}, {("end", "a", "done", ""), ("next", "a", "b", "skipped")}),
        ({"id": "a", "decide": "x", "choices": ["b", "c"]}, {("jump", "a", "b", "b"), ("jump", "a", "c", "c")}),
        ({"id": "a", "decide": "x", "choices": ["c", "other"]}, {("jump", "a", "c", "c"), ("next", "a", "b", "other")}),
        ({"id": "a", "decide": "x", "choices": ["c"], "on": {"c": "fail"}}, {("end", "a", "fail", "c")}),
        ({"id": "a", "ask": "?"}, {("next", "a", "b", "approved")}),
        ({"id": "a", "ask": "?", "on": {"approved": "c"}}, {("jump", "a", "c", "approved")}),
        ({"id": "a", "ask": "?", "choices": ["c", "no"]}, {("jump", "a", "c", "c"), ("next", "a", "b", "no")}),
        ({"id": "a", "ask": "?", "answer": "text"}, {("next", "a", "b", "success")}),
        ({"id": "a", "wait": "10m", "on": {"elapsed": "c"}}, {("jump", "a", "c", "elapsed")}),
        (
            {"id": "a", "wait": {"for": "10m", "signal": "go"}, "on": {"elapsed": "c"}},
            {("next", "a", "b", "success"), ("jump", "a", "c", "elapsed")},
        ),
        ({"id": "a", "checkpoint": True}, {("next", "a", "b", "success")}),
    ],
)
def test_exits_lead_where_the_rules_say(first, found):
    rest = {("next", "b", "c", "success")}
    assert edges([first, tool("b"), tool("c")]) == found | rest


def test_after_the_last_step_there_is_no_next():
    assert edges([tool("a")]) == set()


def test_a_graph_has_needs_and_no_next():
    steps = [tool("a"), tool("b", needs=["a"]), tool("c", needs=["a", "b", "a", "ghost", "c"])]
    assert edges(steps) == {("needs", "a", "b", ""), ("needs", "a", "c", ""), ("needs", "b", "c", "")}


def test_a_jump_goes_outward_to_the_nearest_serial_group_and_starts_at_the_child_that_is_left():
    inner = {"id": "group", "parallel": [tool("x", on={"failure": "fix", "cancelled": "y"}), tool("y")]}
    flow = Flow(Plan.model_validate({"steps": [inner, tool("fix")]}))
    jump = next(edge for edge in flow.edges if edge.sort == "jump")
    assert (jump.source.id, jump.leaves.id, jump.target.id, jump.words) == ("x", "group", "fix", "x: failure")
    assert [edge.word for edge in flow.edges if edge.sort == "end"] == ["y"]  # no jumps between the steps of a graph


def test_a_jump_does_not_leave_a_scope():
    body = {"id": "each", "map": [1, 2], "steps": [tool("x", on={"failure": "fix"})]}
    assert ("end", "x", "fix", "failure") in edges([body, tool("fix")])


def test_modes_kinds_and_badges():
    steps = [
        tool(
            "a",
            when="x > 1",
            retry={"attempts": 5},
            max_visits=6,
            undo={"tool": "a.c"},
            budget={"usd": 2, "tokens": 900},
        ),
        {"id": "p", "parallel": [tool("p1")], "join": {"quorum": 2}, "limit": 4},
        {"id": "g", "mode": "graph", "steps": [tool("g1"), tool("g2", needs=["g1"])], "join": "any"},
        {"id": "m", "map": "${inputs.files}", "steps": [tool("m1")]},
        {"id": "s", "plan": {"name": "inner", "steps": [tool("s1")]}},
        {"id": "n", "plan": "other"},
    ]
    shapes = {shape.id: shape for shape in Flow(Plan.model_validate({"steps": steps})).shapes}
    assert shapes["a"].badges == ("if x > 1", "≤ 6 visits", "retry 5", "undo", "≤ $2.00, 900 tokens")
    assert (shapes["p"].mode, shapes["p"].badges) == ("parallel", ("quorum 2", "4 at once"))
    assert (shapes["g"].mode, shapes["g"].badges) == ("graph", ("any",))
    assert (shapes["m"].mode, shapes["m"].label) == ("serial", "for each of ${inputs.files}")
    assert (shapes["s"].mode, shapes["s"].label) == ("serial", "plan inner")
    assert (shapes["n"].mode, shapes["n"].label) == (None, "plan other")


@pytest.mark.parametrize(
    ("step", "label"),
    [
        ({"tool": "http.get"}, "http.get"),
        ({"model": "strong", "prompt": "x"}, "model strong"),
        ({"agent": "code"}, "agent code"),
        ({"decide": {"agent": "router"}, "choices": ["x"]}, "decide by agent router"),
        ({"decide": "inputs.x", "choices": ["x"]}, "decide: inputs.x"),
        ({"ask": "Publish?"}, "ask: Publish?"),
        ({"wait": "1m30s"}, "wait 1m30s"),
        ({"wait": {"for": 0.25}}, "wait 250ms"),
        ({"wait": {"until": "2026-11-15T09:00:00Z"}}, "wait until 2026-11-15T09:00:00Z"),
        ({"wait": {"for": "2d", "signal": "go"}}, "wait 2d or for signal go"),
        ({"checkpoint": True}, "checkpoint"),
        ({"rollback": "save"}, "roll back to save"),
        ({"done": True}, "done"),
        ({"fail": "No luck"}, "fail: No luck"),
        ({"steps": []}, "serial"),
        ({"map": [1], "steps": [{"id": "x", "done": True}]}, "for each of 1 item"),
    ],
)
def test_labels(step, label):
    assert Flow(Plan.model_validate({"steps": [{"id": "a", **step}]})).shapes[0].label == label
