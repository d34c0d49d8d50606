"""E1: plans written for people are read back as they were."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.plan import Plan
from perdure.plan.limits import Limits
from perdure.plan.reading import read_text
from perdure.plan.reading.yaml_text import read_yaml
from perdure.plan.writing import to_yaml

ODD_TEXTS = [
    "no",
    "on",
    "1e3",
    "0o17",
    "0x1F",
    "1:30",
    "null",
    "~",
    "",
    " a ",
    "- a",
    "a: b",
    "#x",
    "é\n\tz",
    "true",
    ".5",
    "+1",
    "<<",
    "=",
    "'",
    '"',
    "${a}",
    "a,b",
    "[",
    "\x85",
    "\ufeff",
]


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_texts_stay_texts(text):
    plan = Plan.model_validate({"steps": [{"id": "a", "tool": "x.y", "with": {"v": text, f"k{text}": [text]}}]})
    raw, problems = read_yaml(to_yaml(plan), Limits())
    assert problems == []
    assert Plan.model_validate(raw) == plan


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e15, 1e15) | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8))  # fmt: skip
def test_any_value_survives(value):
    plan = Plan.model_validate({"steps": [{"id": "a", "tool": "x.y", "with": {"v": value}}]})
    raw, problems = read_yaml(to_yaml(plan), Limits())
    assert problems == []
    assert json.dumps(raw["steps"][0]["with"]) == json.dumps({"v": value})


def test_kinds_are_told_by_their_keys():
    plan = Plan.model_validate(
        {
            "goal": "Show",
            "steps": [
                {"id": "p", "parallel": [{"id": "a", "tool": "x.y"}, {"id": "b", "checkpoint": True}]},
                {
                    "id": "g",
                    "mode": "graph",
                    "steps": [{"id": "c", "tool": "x.y"}, {"id": "d", "tool": "x.y", "needs": ["c"]}],
                },
                {
                    "id": "h",
                    "mode": "graph",
                    "steps": [
                        {"id": "e", "tool": "x.y"},
                        {"id": "f", "tool": "x.y"},
                        {"id": "i", "tool": "x.y", "needs": ["e"]},
                    ],
                },
                {"id": "end", "done": True},
            ],
        }
    )
    text = to_yaml(plan)
    assert "kind" not in text
    assert read_text(text).usable() == plan
    assert text == (
        "perdure: 1\n"
        "goal: Show\n"
        "steps:\n"
        "  - id: p\n"
        "    parallel:\n"
        "      - {id: a, tool: x.y}\n"
        "      - {id: b, checkpoint: true}\n"
        "  - id: g\n"
        "    steps:\n"
        "      - {id: c, tool: x.y}\n"
        "      - id: d\n"
        "        tool: x.y\n"
        "        needs: [c]\n"
        "  - id: h\n"
        "    mode: graph\n"
        "    steps:\n"
        "      - {id: e, tool: x.y}\n"
        "      - {id: f, tool: x.y}\n"
        "      - id: i\n"
        "        tool: x.y\n"
        "        needs: [e]\n"
        "  - {id: end, done: true}\n"
    )
