"""E23: tests are generated first, and what they find is fixed; the tests stay as they were written."""

from itertools import pairwise

import pytest
from team import carry_out, edits, repository, shaped, times, writing

from perdure.testing.models import calls_all

CODE = (
    '"""Dates."""\n\n\ndef is_leap(year):\n    return year % 4 == 0\n\n\n'
    "def days(year):\n    return 366 if is_leap(year) else 365\n"
)
OLD = (
    "import unittest\n\nfrom dates import is_leap\n\n\nclass Leap(unittest.TestCase):\n"
    "    def test_every_fourth(self):\n        self.assertTrue(is_leap(2024))\n"
)
NEW = (
    "import unittest\n\nfrom dates import days, is_leap\n\n\nclass Centuries(unittest.TestCase):\n"
    "    def test_a_century_is_none(self):\n        self.assertFalse(is_leap(1900))\n\n"
    "    def test_every_fourth_century_is_one(self):\n        self.assertTrue(is_leap(2000))\n\n"
    "    def test_days(self):\n        self.assertEqual(days(1900), 365)\n"
)
RIGHT = "return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)"
HALF = "return year % 4 == 0 and year % 100 != 0"
FOUND = {
    "cause": "Centuries are taken for leap years.",
    "mend": "Look at 100 and 400.",
    "lesson": "Test the exceptions.",
}
WRITTEN = {"summary": "Test the centuries", "files": ["test_centuries.py", "test_nothing.py"]}
"""One more than was written."""


@pytest.fixture
def root(tmp_path):
    return repository(tmp_path / "dates", {"dates.py": CODE, "test_dates.py": OLD})


def script(*fixes, **more):
    return {
        "Write tests for this goal": [writing({"test_centuries.py": NEW}), WRITTEN],
        "have found something": FOUND,
        "Tests have found what is wrong": times(*fixes),
        **more,
    }


def test_e23_generated_tests_find_a_bug_and_the_code_is_fixed(root):
    work = carry_out(root, shaped("tests_first"), script(edits("dates.py", "return year % 4 == 0", RIGHT)))
    assert work.result.ok, work.result.failure
    assert work.commits == ["Test the centuries", "Mend what the tests have found"]
    assert work.text("test_centuries.py") == NEW
    assert work.text("dates.py") == CODE.replace("return year % 4 == 0", RIGHT)
    assert [each.files for each in work.report.commits] == [("test_centuries.py",), ("dates.py",)]
    before, found, mended, after = work.report.rounds
    assert found.failing == ("test_centuries.Centuries.test_a_century_is_none", "test_centuries.Centuries.test_days")
    assert found.cause == FOUND["cause"]
    assert [each.tests for each in (before, mended, after)] == ["the one test passes", *["all 4 tests pass"] * 2]
    assert work.touched == {}


def test_e23_a_fix_that_changes_the_tests_changes_nothing(root):
    cheat = edits("test_centuries.py", "assertFalse(is_leap(1900))", "assertTrue(is_leap(1900))")
    honest = edits("dates.py", "return year % 4 == 0", RIGHT)
    both = calls_all(edits("dates.py", "return year % 4 == 0", HALF), cheat)
    rest = edits("dates.py", HALF, RIGHT)
    for number, fixes in enumerate([(cheat, honest), (both, rest)]):
        place = root if not number else repository(root.with_name("again"), {"dates.py": CODE, "test_dates.py": OLD})
        work = carry_out(place, shaped("tests_first"), script(*fixes))
        assert work.result.ok, work.result.failure
        assert work.text("test_centuries.py") == NEW
        assert work.text("dates.py") == CODE.replace("return year % 4 == 0", RIGHT)
        assert len(work.report.rounds) == 5


def test_e23_tests_that_find_nothing_are_all_there_is(root):
    sound = OLD.replace("2024", "2000").replace("Leap", "Centuries")
    said = [writing({"test_centuries.py": sound}), WRITTEN]
    work = carry_out(root, shaped("tests_first"), script(**{"Write tests for this goal": said}))
    assert work.result.ok, work.result.failure
    assert work.commits == ["Test the centuries"]
    assert work.team.asked["Tests have found what is wrong"] == 0


def test_e23_what_is_not_mended_ends_the_run_and_the_repository_is_as_it_was(root):
    ways = [4, 2, 1, 4, 2, 1]
    guesses = [edits("dates.py", f"year % {old} == 0", f"year % {new} == 0") for old, new in pairwise(ways)]
    work = carry_out(root, shaped("tests_first"), script(*guesses))
    assert work.result.status == "failed"
    assert "still find something, after 5 rounds" in work.report.failure
    assert len(work.report.rounds) == 6
    assert (work.report.branch, work.state) == ("", {})


def test_e23_without_a_command_that_tests_it_nobody_is_asked(root):
    work = carry_out(root, shaped("tests_first"), script(), test=[])
    assert (work.result.status, work.team.tasks, work.state) == ("failed", [], {})
    assert "name one with --test" in work.report.failure


def test_e23_without_calls_left_it_ends_by_its_budget(root):
    work = carry_out(root, shaped("tests_first", budget={"calls": 3}), script(edits("dates.py", "4", "5")))
    assert (work.result.failure.kind, work.state) == ("budget", {})
    assert len(work.report.rounds) == 2
