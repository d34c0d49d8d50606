"""T8: what an expression sees: the values it names, found where it stands."""

import pytest
from driven import NO, driven, tool

from perdure.core.calls import Outcome
from perdure.core.seeing import call_of
from perdure.testing.worlds import HANGS, World


def value(text):
    return {"with": {"value": text}}


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("${steps.a.output}", {"x": [1, 2]}), ("${steps.a.output.x[1]}", 2), ("${steps.a.exit}", "success"), ("${steps.a.visits}", 1),
        ("${steps.a.failure}", None), ("${steps.f.failure.kind}", "logic"), ("${steps.f.failure.message}", "no"), ("${steps.f.exit}", "failure"),
        ("${steps.?later.output}", None), ("${inputs.n}", 5), ("${inputs.n + 1}", 6), ("n is ${inputs.n}", "n is 5"), ("${run.id}", "r_1"),
        ("${run.goal}", "Try ${inputs.n}"), ("$${inputs.n}", "${inputs.n}"), ("${steps.a}", {"exit": "success", "visits": 1, "failure": None, "output": {"x": [1, 2]}}),
        ("${size(steps)}", 2), ("${steps.inner.output}", 7), ("${steps.g.output}", 7),
    ],
)  # fmt: skip
def test_what_is_named_is_seen(text, seen):
    plan = {
        "goal": "Try ${inputs.n}",
        "inputs": {"n": {}},
        "steps": [
            tool("a"),
            tool("f", on={"failure": "next"}),
            {"id": "g", "steps": [tool("inner")], "when": "inputs.n == 5"},
            tool("z", **value(text)),
            tool("later"),
        ],
    }
    if text == "${size(steps)}":
        plan["steps"].pop(2)
    assert driven(plan, {"a": {"x": [1, 2]}, "f": NO, "inner": 7}, {"n": 5}).made[-2].call.arguments["value"] == seen


def test_what_a_failure_tells_besides_is_seen_where_there_is_something():
    told = Outcome.failed("unmet", "they differ", detail={"conflicts": ["a.py"]})
    plan = [tool("f", on={"failure": "next"}), tool("z", **value("${steps.f.failure.detail.conflicts}"))]
    assert driven(plan, {"f": told}).made[-1].call.arguments["value"] == ["a.py"]
    plan = [tool("f", on={"failure": "next"}), tool("z", **value("${steps.f.failure}"))]
    assert driven(plan, {"f": NO}).made[-1].call.arguments["value"] == {"kind": "logic", "message": "no"}


@pytest.mark.parametrize(
    "text",
    ["${steps.later.output}", "${steps.in_map.output}", "${steps.in_plan.output}", "${item}", "${steps.a.output.nope}"],
)
def test_rule_9_what_is_not_there_is_invalid(text):
    plan = [
        tool("a"),
        {"id": "m", "map": [1], "steps": [tool("in_map")]},
        {"id": "p", "plan": {"steps": [tool("in_plan")]}},
        tool("z", **value(text)),
        tool("later"),
    ]
    world = driven(plan, {"a": {}})
    assert (world.failure.kind, world.state.ended.cause) == ("invalid", "z")


def test_rule_9_scopes_see_themselves_alone():
    inner = {"inputs": {"n": {}}, "steps": [tool("b", **value("${inputs.n}")), tool("c", **value("${steps.b.output}"))]}
    assert driven([tool("a"), {"id": "p", "plan": inner, "with": {"n": "${steps.a.output}"}}], {"a": 4}).output == 4
    leaking = {"steps": [tool("b", **value("${steps.a.output}"))]}
    for step in ({"id": "p", "plan": leaking}, {"id": "m", "map": [1], **leaking}):
        assert driven([tool("a"), step], {"a": 4}).failure.kind == "invalid"


def test_a_step_may_look_at_its_own_last_visit():
    plan = [tool("a", max_visits=3, on={"success": "a", "exhausted": "done"}, **value("${steps.?a.output}"))]
    world = driven(plan, {"a": [1, 2, 3]})
    assert [made.call.arguments["value"] for made in world.made] == [None, 1, 2]


def test_large_values_are_kept_apart_and_found_again():
    large = {"text": "x" * 9000}
    world = driven([tool("a"), {"id": "g", "steps": [tool("b", **value("${steps.a.output.text}"))]}], {"a": large})
    assert world.output == large["text"]
    assert max(len(body) for _, body, _ in world.facts) < 1200


def test_secrets_are_only_named():
    world = World(
        {"steps": [tool("a", **{"with": {"key": "${secrets.KEY}", "text": "Bearer ${secrets.KEY}", "n": 1}})]},
        {"a": HANGS},
    ).run()
    cell = world.state.cells["a"]
    assert call_of(world.state, cell).arguments["key"] == {"secret": "KEY"}
    assert call_of(world.state, cell, {"KEY": "s3cret"}).arguments == {"key": "s3cret", "text": "Bearer s3cret", "n": 1}
    assert not any(b"s3cret" in body for _, body, _ in world.facts)


@pytest.mark.parametrize(
    ("step", "wants"),
    [
        (tool("a", **{"with": {"key": "Bearer ${secrets.KEY}"}}), True),
        (tool("a", **{"with": {"key": "${run.id}"}}), False),
        ({"id": "a", "agent": "clerk", "with": {"key": "${secrets.KEY}"}}, True),
        ({"id": "a", "model": "weak", "prompt": "Hello"}, False),
    ],
)
def test_who_wants_a_secret_is_known(step, wants):
    assert World({"steps": [step]}, {"a": HANGS}).run().state.cells["a"].traits.wants_secrets is wants


def test_only_calls_are_called():
    world = World({"steps": [{"id": "q", "ask": "Well?"}]}).run()
    with pytest.raises(TypeError):
        call_of(world.state, world.state.cells["q"])
