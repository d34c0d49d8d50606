"""Large plans are drawn, and never by recursion over steps. How long it takes is for `make bench` to tell."""

import random
import sys

import pytest

from perdure.plan.drawing.mermaid import mermaid
from perdure.plan.drawing.page import html
from perdure.plan.drawing.svg import svg
from perdure.plan.drawing.tree import plain_tree, tree
from perdure.plan.measures import measure
from perdure.plan.model.document import Plan

STEPS = 5000


def tool(name, **more):
    return {"id": name, "tool": "a.b", **more}


def chain():
    rng = random.Random(1)
    jumps = [{"failure": f"s{rng.randrange(STEPS)}"} if rng.random() < 0.3 else {} for _ in range(STEPS)]
    return {"steps": [tool(f"s{number}", on=on, max_visits=3) for number, on in enumerate(jumps)]}


def chain_of_needs():
    return {"steps": [tool("s0"), *(tool(f"s{number}", needs=[f"s{number - 1}"]) for number in range(1, STEPS))]}


def dag():
    rng = random.Random(2)
    needs = [
        sorted({rng.randrange(number) for _ in range(rng.randint(0, 3))}) if number else [] for number in range(STEPS)
    ]
    return {"steps": [tool(f"s{number}", needs=[f"s{each}" for each in before]) for number, before in enumerate(needs)]}


def long_lines():
    half = STEPS // 2
    before = [[number - 1] * (number > 0) + [number - half] * (number >= half) for number in range(STEPS)]
    return {"steps": [tool(f"s{number}", needs=[f"s{each}" for each in needs]) for number, needs in enumerate(before)]}


def fan():
    middle = [tool(f"s{number}", needs=["first"]) for number in range(STEPS)]
    return {"steps": [tool("first"), *middle, tool("last", needs=[step["id"] for step in middle])]}


def deep():
    steps = [tool("s")]
    for level in range(60):
        steps = [{"id": f"g{level}", "steps": steps}]
    return {"steps": steps}


@pytest.mark.parametrize("made", [chain, chain_of_needs, dag, long_lines, fan, deep])
def test_large_plans_are_drawn_without_recursion(made, monkeypatch):
    plan = Plan.model_validate({"goal": "large", **made()})
    monkeypatch.setattr(sys, "setrecursionlimit", lambda _: pytest.fail("nobody raises the limit"))
    for draw in (svg, html, mermaid, plain_tree):
        assert "s1" in draw(plan) or made is deep
    assert tree(plan).children
    assert measure(plan).steps >= STEPS or made is deep
