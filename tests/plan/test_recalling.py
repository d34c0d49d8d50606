"""A plan that is kept comes back as it was."""

import json
import random

import pytest
from random_plans import a_plan

from perdure.plan import Plan
from perdure.plan.model.recalling import recalled

EVERYTHING = {
    "name": "all",
    "goal": "${inputs.a}",
    "inputs": {"a": {"type": "string", "default": "x"}},
    "budget": {"seconds": "1m", "usd": 0.5, "then": "ask"},
    "policy": {"files": {"read": ["a/*"]}, "network": [], "commands": {"allow": [["ls", "*"]]}, "ask": ["writes"]},
    "recovery": {"transient": ["retry", "continue"], "other": ["fail"]},
    "timeout": "250ms",
    "mode": "graph",
    "join": {"quorum": 1},
    "limit": 2,
    "exit": "'x'",
    "checkpoints": ["c"],
    "meta": {"by": [1, {"x": None}]},
    "output": {"é": [1.5, "${inputs.a}"]},
    "steps": [
        {
            "id": "t",
            "tool": "a.b",
            "with": {"x": [1, 2.5, {"y": []}]},
            "on": {"failure": "done"},
            "retry": {"attempts": 2, "wait": "1s"},
            "accept": ["output.ok", {"schema": {"type": "object"}, "title": "t"}, {"tool": "j.k", "with": {"a": 1}}],
            "relaxed": [{"agent": "judge"}],
            "undo": {"tool": "a.c"},
            "simpler": {"model": "weak", "prompt": "p", "returns": {"type": "string"}},
            "alternates": [{"agent": "z", "task": "t", "strategy": "s"}, {"tool": "a.d", "with": {"b": 1}}],
            "context": {"from": ["c"], "tokens": 50},
            "estimate": {"seconds": 1.5},
            "skills": ["s"],
            "locks": ["l"],
            "verdicts": ["v"],
            "policy": {"files": {"write": []}},
            "budget": {"steps": 3},
            "seed": 7,
        },
        {"id": "m", "model": "strong", "prompt": "p", "context": "needs"},
        {"id": "g", "agent": "a", "losers": "keep"},
        {"id": "d1", "decide": "'x'", "choices": ["x", "y"]},
        {"id": "d2", "decide": {"tool": "a.b"}, "choices": ["x"], "needs": ["d1"]},
        {"id": "q", "ask": "?", "choices": ["a", "b"], "deadline": "1h", "default": "a", "to": ["me"]},
        {"id": "f", "ask": "?", "form": {"type": "object"}},
        {"id": "w1", "wait": "5s"},
        {"id": "w2", "wait": {"for": "${inputs.a}", "signal": "s"}},
        {"id": "c", "checkpoint": True},
        {"id": "r", "rollback": "c"},
        {"id": "s", "steps": [{"id": "s1", "parallel": []}], "join": {"tolerate": 1}, "mode": "graph"},
        {"id": "e", "map": [1, 2], "steps": [{"id": "e1", "done": 1}], "with": {"k": 1}},
        {"id": "p1", "plan": "named", "with": {"a": 1}},
        {"id": "p2", "plan": {"steps": [{"id": "i", "fail": "why"}], "join": "any", "mode": "graph"}},
        {"id": "x", "fail": True, "when": "true"},
        {"id": "y", "done": True},
    ],
}


def same(plan):
    found = recalled(plan.canonical_json())
    assert found == plan
    assert found.hash == plan.hash == found.model_copy().hash


def test_every_field_of_every_kind_comes_back():
    plan = Plan.model_validate(EVERYTHING)
    same(plan)
    written = plan.canonical_json()
    assert repr(recalled(written)) == repr(Plan.model_validate_json(written))  # whole numbers and tuples, too


@pytest.mark.parametrize("seed", range(200))
def test_any_plan_comes_back(seed):
    same(a_plan(random.Random(seed)))


def test_what_was_said_aloud_comes_back_too():
    step = {"id": "a", "ask": "?", "choices": ["a"], "answer": "approval", "needs": ["b"]}
    same(Plan.model_validate({"mode": "serial", "steps": [step]}))


STEP = {"id": "a", "kind": "tool", "tool": "x.y"}


@pytest.mark.parametrize(
    "written",
    [
        [],
        "text",
        {},
        {"steps": [STEP]},
        {"perdure": 2, "steps": [STEP]},
        {"perdure": 1},
        {"perdure": 1, "steps": 5},
        {"perdure": 1, "steps": [{"id": "a", "tool": "x.y"}]},
        {"perdure": 1, "steps": [{**STEP, "kind": "dance"}]},
        {"perdure": 1, "steps": [{**STEP, "new": 1}]},
        {"perdure": 1, "steps": [{"id": "a", "kind": "tool"}]},
        {"perdure": 1, "steps": [{**STEP, "retry": 5}]},
        {"perdure": 1, "steps": [{**STEP, "undo": {}}]},
    ],
)
def test_what_this_release_would_not_have_written_is_refused(written):
    with pytest.raises(ValueError, match=r"canonical form|format is|is missing"):
        recalled(json.dumps(written).encode())
