"""How long steps are expected to take."""

import pytest

from perdure.core.outline import Outline
from perdure.plan import Plan


def step(id_, seconds=None, **more):
    return {"id": id_, "tool": "x.y", **({"estimate": {"seconds": seconds}} if seconds is not None else {}), **more}


def seconds(raw, *others):
    """What a step is expected to take that stands in a plan with others."""
    outline = Outline(Plan.model_validate({"steps": [raw, *others]}))
    return outline.durations.of(outline.index.root.children[0]) / 1_000_000


TWO, THREE, FIVE = step("two", 2), step("three", 3), step("five", 5)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (step("a", 7), 7),
        (step("a", 0), 0),
        ({"id": "a", "wait": "90s"}, 90),
        ({"id": "a", "done": True}, 0),
        ({"id": "a", "checkpoint": True}, 0),
        ({"id": "a", "decide": "'x'", "choices": ["x"], "on": {"x": "next"}}, 0),
        ({"id": "a", "steps": [TWO, THREE]}, 5),
        ({"id": "a", "steps": [TWO, THREE], "estimate": {"seconds": 1}}, 1),
        ({"id": "a", "steps": [TWO, {"id": "end", "done": True}, THREE]}, 2),
        ({"id": "a", "steps": [{**TWO, "on": {"success": "five"}}, THREE, FIVE]}, 7),
        ({"id": "a", "steps": [{**TWO, "on": {"success": "done"}}, THREE]}, 2),
        ({"id": "a", "steps": [TWO, {**THREE, "max_visits": 2, "on": {"success": "two"}}]}, 5),
        ({"id": "a", "parallel": [TWO, THREE, FIVE]}, 5),
        ({"id": "a", "parallel": [TWO, THREE, FIVE], "limit": 2}, 5),
        ({"id": "a", "parallel": [TWO, THREE, FIVE], "limit": 1}, 10),
        ({"id": "a", "mode": "graph", "steps": [TWO, {**THREE, "needs": ["two"]}, FIVE]}, 5),
        ({"id": "a", "map": [1, 2, 3], "steps": [TWO]}, 2),
        ({"id": "a", "map": [1, 2, 3], "steps": [TWO], "limit": 2}, 4),
        ({"id": "a", "map": [1, 2, 3], "mode": "graph", "steps": [TWO, THREE], "limit": 1}, 9),
        ({"id": "a", "map": [], "steps": [TWO]}, 0),
        ({"id": "a", "map": "${inputs.all}", "steps": [TWO], "limit": 2}, 2),
        ({"id": "a", "plan": {"steps": [TWO, THREE]}}, 5),
        ({"id": "a", "plan": {"mode": "graph", "limit": 1, "steps": [TWO, THREE]}}, 5),
    ],
)
def test_what_is_said_counts_and_else_what_is_inside(raw, expected):
    assert seconds(raw) == expected


def test_whoever_says_nothing_is_like_the_middle_of_those_who_do():
    assert seconds(step("a"), step("b", 1), step("c", 20), step("d", 9_000)) == 20
    assert seconds(step("a"), step("b", 1), step("c", 20)) == 1
    assert seconds({"id": "a", "plan": "other"}, step("b", 4)) == 4
    assert seconds(step("a"), step("b")) == 1


def test_groups_within_groups_are_asked_once():
    inside = step("deep", 3)
    for depth in range(30):
        inside = {"id": f"g{depth}", "parallel": [inside, step(f"s{depth}", 1)]}
    assert seconds(inside) == 3
