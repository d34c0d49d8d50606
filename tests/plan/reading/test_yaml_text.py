"""E1: YAML by the 1.2 core rules, strictly, with the place of everything that is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.plan.limits import Limits
from perdure.plan.reading.source import Finder, Unreadable
from perdure.plan.reading.yaml_text import find_in_yaml, read_yaml


def data(text):
    value, problems = read_yaml(text, Limits())
    assert problems == []
    return value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("y", "y"),
        ("1:30", "1:30"),
        ("012", 12),
        ("0o14", 12),
        ("0xC", 12),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("-1", -1),
        ("1_000", "1_000"),
        ("2026-11-15", "2026-11-15"),
        ("true", True),
        ("True", True),
        ("yes", "yes"),
        ("null", None),
        ("~", None),
        ("", None),
        ('"1"', "1"),
        ("'true'", "true"),
        ("=", "="),
        ("<<", "<<"),
    ],
)
def test_scalars_follow_the_core_rules(text, value):
    found = data(f"a: {text}")["a"]
    assert found == value
    assert type(found) is type(value)


def test_keys_are_texts():
    assert data("{1: a, true: b, null: c, on: d}") == {"1": "a", "true": "b", "null": "c", "on": "d"}


def test_the_empty_document_is_nothing():
    assert data("") is None
    assert data("# only a comment\n") is None


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("a: 1\nb: 2\na: 3\n", "PRD1006", (3, 1)),
        ("x: {a: 1, a: 2}\n", "PRD1006", (1, 11)),
        ("a: &anchor 1\n", "PRD1007", (1, 4)),
        ("a: &x 1\nb: *x\n", "PRD1007", (1, 4)),
        ("a: !!python/object:os.system {}\n", "PRD1007", (1, 4)),
        ("a: !!str 1\n", "PRD1007", (1, 4)),
        ("a: 1\n---\nb: 2\n", "PRD1007", (2, 1)),
        ("? [1, 2]\n: a\n", "PRD1007", (1, 3)),
    ],
)
def test_what_makes_a_reader_think_is_refused(text, code, place):
    _, problems = read_yaml(text, Limits())
    assert [(problems[0].code, (problems[0].line, problems[0].column))] == [(code, place)]
    assert problems[0].help


def test_several_refusals_come_at_once():
    _, problems = read_yaml("a: &x 1\na: !t 2\nb: *x\n", Limits())
    assert [problem.code for problem in problems] == ["PRD1007", "PRD1006", "PRD1007", "PRD1007"]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("a: [1\nb: 2\n", 2, 2), ("a:\n\t- b\n", 2, 1), ("a: 'x\n", 2, 1), ("a: b: c\n", 1, 5), ("a: \x00\n", 1, 4)],
)
def test_broken_syntax_has_a_place(text, line, column):
    with pytest.raises(Unreadable) as stop:
        read_yaml(text, Limits())
    assert stop.value.problem.code == "PRD1002"
    assert (stop.value.problem.line, stop.value.problem.column) == (line, column)


def test_depth_is_refused_without_recursion():
    with pytest.raises(Unreadable) as stop:
        read_yaml("[" * 900 + "]" * 900, Limits())
    assert stop.value.problem.code == "PRD1004"


def test_a_billion_laughs_is_not_even_one():
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join(f'*a{n - 1}' for _ in range(9))}]" for n in range(1, 10)]
    _, problems = read_yaml("\n".join(lines), Limits())
    assert {problem.code for problem in problems} == {"PRD1007"}


def test_positions_are_found_for_the_paths_asked_for():
    text = "goal: x\nsteps:\n  - {id: a, on: {failure: b}}\n  - id: b\n    needs: [p, q]\n"
    paths = [("steps", 0, "on", "failure"), ("steps", 1), ("steps", 1, "needs", 1), ("steps", 1, "tool"), ("zz",)]
    finder = Finder(paths)
    find_in_yaml(text, finder, Limits())
    assert [finder.position(path) for path in paths] == [(3, 27), (4, 5), (5, 16), (4, 5), (1, 1)]


@given(st.text())
def test_no_text_makes_it_stumble(text):
    try:
        read_yaml(text, Limits())
    except Unreadable as stop:
        assert stop.problem.line >= 1
        assert stop.problem.message
