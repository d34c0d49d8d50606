"""What is said of a run on code while it goes on."""

import pytest

from perdure.core.calls import Failure
from perdure.engine import Visit
from perdure.kits.coding.telling import is_named, told


def visit(output=None, step="shape_x", exit_="success", failure=None, **more):
    return Visit(step, 1, exit_, output, failure, 0, **more)


@pytest.mark.parametrize("step", ["open", "shape_edits_changes/1[0].shape_edits_edit", "a/1[0].b/2[3].c"])
def test_steps_of_the_plan_are_named(step):
    assert is_named(step)


@pytest.mark.parametrize("step", ["plan/1.1", "commits/1[0]", "changes/1[0].edit/1.2/1.3"])
def test_what_has_grown_is_not(step):
    assert not is_named(step)


COMMIT = {"commit": "0123456789abcdef", "tree": "…", "count": 1, "files": [{"path": "a.py"}]}


@pytest.mark.parametrize(
    ("tool", "output", "lines"),
    [
        (
            "branch.open",
            {"branch": "b", "files": 3, "bytes": 9, "commit": "0123456789abcdef"},
            ["copied 3 files of commit 0123456789"],
        ),
        ("branch.open", {"branch": "b", "files": 3, "bytes": 9}, []),
        (
            "tests.read",
            {"how": "exit_code", "failures": [{"detail": "a\nb\n\nc\nd\n"}]},
            [f"the tests said: {each}" for each in "bcd"],
        ),
        ("tests.read", {"how": "pytest", "failures": [{"detail": "a"}]}, []),
        ("tests.read", {"how": "exit_code", "failures": []}, []),
        ("tests.compare", {"broken_now": [], "summary": "all 5 tests pass"}, ["tests: all 5 tests pass"]),
        ("flow.echo", {"branch": "b", "title": "One", "said": "Done."}, ["changed, on a copy of its own: One"]),
        (
            "branch.place",
            {"set": "s", "changes": [{"path": "a"}], "merged": ["a"]},
            ["brought in: a; merged line by line: a"],
        ),
        ("git.commit", COMMIT, ["committed 0123456789: a.py"]),
        ("git.commit", {**COMMIT, "count": 0}, []),
        ("json.get", {"value": 1}, []),
        ("text.trim", "a text", []),
        ("", None, []),
    ],
)
def test_what_a_tool_gave_is_said_in_a_line(tool, output, lines):
    assert list(told(visit(output, tool=tool))) == lines


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        ({"cause": "A typo.", "mend": "…", "lesson": "Read twice."}, ["cause: A typo.", "learned: Read twice."]),
        ({"summary": "S", "changes": [{"title": "One"}]}, ["planned 1 change: S", "  1. One"]),
        ({"summary": "S", "changes": {"title": "One"}}, []),
        ({"summary": 1, "changes": ["One", None]}, []),
        ({"lesson": "alone"}, []),
        ({**COMMIT, "files": ["a.py"]}, []),
        ({"broken_now": [], "summary": "all 99 tests pass"}, []),
    ],
)
def test_what_an_agent_gave_is_a_models_word_of_any_form(output, lines):
    assert list(told(visit(output, agent="code"))) == lines


def test_agents_have_the_word_but_not_of_every_item():
    assert list(told(visit("It is\ngood.", agent="quality"))) == ["quality: It is good."]
    assert list(told(visit("No.", agent="quality", exit_="needs_work"))) == ["quality, needs_work: No."]
    assert list(told(visit("Done.", step="changes/1[0].edit", agent="code"))) == []


def test_failures_are_said_and_groups_say_nothing_again():
    failure = Failure("unmet", "two changes meet")
    assert list(told(visit(failure=failure, exit_="failure"))) == ["shape_x failed, unmet: two changes meet"]
    assert list(told(visit(COMMIT, is_group=True))) == []
