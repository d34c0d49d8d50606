"""E1, E2: the models: frozen, strict, described, and one canonical form."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from perdure.plan import Plan
from perdure.plan.model import parts
from perdure.plan.model.meaning import meanings
from perdure.plan.model.steps import STEP_TYPES, ToolStep

ONE_OF_EACH = {
    "tool": {"tool": "http.get"},
    "model": {"model": "weak", "prompt": "Hi"},
    "agent": {"agent": "code"},
    "decide": {"decide": "'x'", "choices": ["x"]},
    "ask": {"ask": "Ready?"},
    "wait": {"wait": "10m"},
    "checkpoint": {"checkpoint": True},
    "rollback": {"rollback": "x"},
    "group": {"steps": [{"id": "inner", "tool": "a.b"}]},
    "map": {"map": [1], "steps": [{"id": "inner", "tool": "a.b"}]},
    "plan": {"plan": "other"},
    "done": {"done": True},
    "fail": {"fail": "No"},
}


def one(**fields):
    return Plan.model_validate({"steps": [{"id": "a", **fields}]}).steps[0]


@pytest.mark.parametrize("kind", STEP_TYPES)
def test_the_kind_is_told_by_the_key_and_written(kind):
    step = one(**ONE_OF_EACH[kind])
    assert step.kind == kind
    assert isinstance(step, STEP_TYPES[kind])
    written = Plan(steps=(step,)).canonical()["steps"][0]
    assert written["kind"] == kind
    assert one(**{"kind": kind, **ONE_OF_EACH[kind]}) == step


def models():
    found = [Plan, *STEP_TYPES.values()]
    return found + [
        each
        for each in vars(parts).values()
        if isinstance(each, type) and issubclass(each, BaseModel) and each is not BaseModel
    ]


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_every_field_is_described(model):
    assert [name for name in model.model_fields if not meanings(model).get(name)] == []
    assert model.model_config["frozen"]
    assert model.model_config["extra"] in ("forbid", None)


def test_models_are_frozen():
    step = one(tool="a.b")
    with pytest.raises(ValidationError):
        step.id = "b"


def test_the_hash_names_the_content():
    plan = Plan.model_validate(
        {"steps": [{"id": "a", "tool": "x.y", "timeout": "1m30s", "with": {"n": 1.0, "k": "é"}}]}
    )
    same = Plan.model_validate(
        {"steps": [{"with": {"k": "é", "n": 1}, "kind": "tool", "timeout": 90, "tool": "x.y", "id": "a"}]}
    )
    other = Plan.model_validate({"steps": [{"id": "a", "tool": "x.y", "timeout": 91, "with": {"n": 1, "k": "é"}}]})
    assert plan.hash == same.hash
    assert plan.hash != other.hash


def test_defaults_are_not_written_so_new_fields_change_no_hash():
    plan = Plan.model_validate({"steps": [{"id": "a", "tool": "x.y", "priority": 0, "on": {}}]})
    assert plan.canonical() == {"perdure": 1, "steps": [{"id": "a", "kind": "tool", "tool": "x.y"}]}


@pytest.mark.parametrize(
    ("given_", "seconds"),
    [
        ("500ms", 0.5),
        ("10s", 10),
        ("1.5s", 1.5),
        ("5m", 300),
        ("1h30m", 5400),
        ("2d", 172800),
        (7, 7),
        (0.25, 0.25),
        ("1d1h1m1s1ms", 90061.001),
    ],
)
def test_durations(given_, seconds):
    assert one(tool="a.b", timeout=given_).timeout == seconds


@pytest.mark.parametrize("wrong", ["", "10", "soon", "1s1m", "-1s", "1 s", -1, True, [], "1h "])
def test_wrong_durations(wrong):
    with pytest.raises(ValidationError):
        one(tool="a.b", timeout=wrong)


@pytest.mark.parametrize(
    "fields",
    [
        {"max_visits": "3"},
        {"max_visits": 3.0},
        {"max_visits": True},
        {"priority": "1"},
        {"needs": "b"},
        {"on": {"failure": 3}},
        {"title": 3},
    ],
)
def test_nothing_is_converted_silently(fields):
    with pytest.raises(ValidationError):
        one(tool="a.b", **fields)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**53, -(2**53), "\ud800", object(), {1: 2}, b"x", {"a": [set()]}]
)
def test_values_that_others_cannot_read_are_refused(value):
    with pytest.raises(ValidationError):
        one(tool="a.b", with_={"x": value})


def test_parallel_is_a_graph_and_needs_make_one():
    plan = Plan.model_validate(
        {
            "steps": [
                {"id": "p", "parallel": [{"id": "a", "tool": "x.y"}]},
                {"id": "s", "steps": [{"id": "b", "tool": "x.y"}]},
            ]
        }
    )
    assert [step.mode for step in plan.steps] == ["graph", "serial"]
    graph = Plan.model_validate({"steps": [{"id": "a", "tool": "x.y"}, {"id": "b", "tool": "x.y", "needs": ["a"]}]})
    assert graph.mode == "graph"


def test_short_forms():
    assert one(wait="10m").wait.for_ == 600
    assert one(wait={"for": "${inputs.x}", "signal": "go"}).wait.for_ == "${inputs.x}"
    assert one(tool="a.b", accept=["output.ok"]).accept[0].expr == "output.ok"
    assert one(agent="a", context="all").context.from_ == "all"
    assert one(agent="a", context=["x"]).context.from_ == ("x",)
    assert one(ask="?", choices=["a"]).answer == "choice"
    assert one(ask="?", form={"type": "object"}).answer == "form"
    assert one(ask="?").answer == "approval"


@pytest.mark.parametrize(
    "wrong",
    [
        {"wait": {}},
        {"wait": {"for": 1, "until": "2026-01-01T00:00:00Z"}},
        {"tool": "a.b", "accept": [{}]},
        {"tool": "a.b", "accept": [{"expr": "true", "schema": {}}]},
        {"tool": "a.b", "undo": {"tool": "a.c", "agent": "d"}},
        {"tool": "a.b", "undo": {}},
        {"tool": "noperiod"},
        {"agent": "a", "recovery": {"nope": ["retry"]}},
        {"agent": "a", "recovery": {"timeout": ["pray"]}},
        {"decide": "x", "choices": []},
    ],
)
def test_records_that_make_no_sense(wrong):
    with pytest.raises(ValidationError):
        one(**wrong)


def test_python_may_build_steps_directly():
    step = ToolStep(id="a", tool="http.get", with_={"url": "x"})
    assert Plan(steps=(step,)).canonical()["steps"][0]["with"] == {"url": "x"}


IDS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e15, 1e15) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
LEAVES = st.one_of(
    st.fixed_dictionaries(
        {"id": IDS, "tool": st.just("a.b")},
        optional={
            "with": st.dictionaries(st.text(max_size=4), VALUES, max_size=3),
            "timeout": st.integers(0, 9) | st.sampled_from(["5s", "1m", "250ms"]),
            "on": st.dictionaries(IDS, IDS, max_size=2),
            "max_visits": st.integers(1, 9),
            "needs": st.lists(IDS, max_size=2),
            "retry": st.fixed_dictionaries({}, optional={"attempts": st.integers(1, 5), "jitter": st.floats(0, 1)}),
            "priority": st.integers(-5, 5),
        },
    ),
    *(st.just({"id": kind, **ONE_OF_EACH[kind]}) for kind in ONE_OF_EACH),
)
STEPS = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda id_, key, steps: {"id": id_, key: steps},
        IDS,
        st.sampled_from(["steps", "parallel"]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=12,
)


@given(st.lists(STEPS, min_size=1, max_size=5))
def test_read_write_read_gives_an_equal_plan(steps):
    plan = Plan.model_validate({"steps": steps})
    again = Plan.model_validate(json.loads(plan.canonical_json()))
    assert again == plan
    assert again.hash == plan.hash
    assert again.canonical_json() == plan.canonical_json()
