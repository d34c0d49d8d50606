"""E1: JSON, strictly: nothing is lost, rounded or guessed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.plan.limits import Limits
from perdure.plan.reading.json_text import find_in_json, read_json
from perdure.plan.reading.source import Finder, Unreadable


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ('{"a": 1,\n "a": 2}', "PRD1006", (2, 2)),
        ('{"x": [{"b": 1, "b": 2}]}', "PRD1006", (1, 17)),
        ('{"a": NaN}', "PRD1008", (1, 7)),
        ('{"a": [1, -Infinity]}', "PRD1008", (1, 11)),
        ('{"a": 1e999}', "PRD1008", (1, 7)),
        ('{"a": 9007199254740992}', "PRD1008", (1, 7)),
        ('{"a": ' + "9" * 5000 + "}", "PRD1008", (1, 7)),
        ('{"a": "\\ud800"}', "PRD1008", (1, 7)),
        ('{"\\udfff": 1}', "PRD1008", (1, 2)),
    ],
)
def test_what_others_would_lose_is_refused(text, code, place):
    value, problems = read_json(text, Limits())
    assert isinstance(value, dict)
    assert [(problem.code, (problem.line, problem.column)) for problem in problems] == [(code, place)]
    assert problems[0].help


def test_whole_pairs_and_escapes_are_fine():
    text = '{"a": "\\ud83d\\ude00 \\u00e9 \\/", "b": 9007199254740991, "c": 1.5e3}'
    assert read_json(text, Limits()) == ({"a": "😀 é /", "b": 9007199254740991, "c": 1500.0}, [])


@pytest.mark.parametrize(
    ("text", "line", "column"), [("{", 1, 2), ('{"a": 1,}', 1, 8), ("[1,\n 2,, 3]", 2, 4), ("", 1, 1)]
)
def test_broken_syntax_has_a_place(text, line, column):
    with pytest.raises(Unreadable) as stop:
        read_json(text, Limits())
    assert stop.value.problem.code == "PRD1003"
    assert stop.value.problem.line == line
    assert abs(stop.value.problem.column - column) <= 1


@pytest.mark.parametrize("count", [500, 100_000])
def test_depth_is_refused_without_recursion(count):
    with pytest.raises(Unreadable) as stop:
        read_json("[" * count + "]" * count, Limits())
    assert stop.value.problem.code == "PRD1004"


def test_positions_are_found_for_the_paths_asked_for():
    text = '{\n  "steps": [\n    {"id": "a, b: {", "needs": ["p", "q\\"]"]},\n    {"id": "b"}\n  ]\n}'
    paths = [("steps", 0), ("steps", 0, "needs", 1), ("steps", 1, "id"), ("steps", 1, "zz")]
    finder = Finder(paths)
    find_in_json(text, finder, Limits())
    assert [finder.position(path) for path in paths] == [(3, 5), (3, 38), (4, 12), (4, 5)]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_what_python_writes_is_read_as_it_was(value):
    assert read_json(json.dumps(value), Limits()) == (value, [])


@given(JSON, st.integers(0, 200), st.sampled_from('{}[],:"\\ \n1ax'))
def test_no_damage_makes_it_stumble(value, place, letter):
    text = json.dumps(value)
    try:
        read_json(text[: place % (len(text) + 1)] + letter + text[place % (len(text) + 1) :], Limits())
    except Unreadable as stop:
        assert stop.problem.line >= 1
