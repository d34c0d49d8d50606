"""E22: whoever mends is told which tests a change has broken, and nobody gets by with fewer tests."""

import json

import pytest
from team import carry_out, change, plan_of, repository, shaped, writing

from perdure.kits.coding.results import Ran, report_of

LESSON = {"cause": "The price is wrong.", "mend": "Make it 1.", "lesson": "Look before you leap."}
OLD = "\n".join(f"    def test_old_{n:02}(self): self.fail('old')" for n in range(60))
TEST = f"import unittest\nimport shop\nclass Shop(unittest.TestCase):\n{{}}    def test_price(self): self.assertEqual(shop.PRICE, 1)\n{OLD}\n"
TITLE = "Raise the price"


@pytest.fixture
def root(tmp_path):
    return repository(tmp_path / "shop", {"shop.py": "PRICE = 1\n", "test_shop.py": TEST.format("")})


def script(made, mended):
    return {
        "in the order": plan_of(change(TITLE), summary="A price"),
        f"Do this: {TITLE}\n": writing(made),
        "Tests fail after": LESSON,
        "Mend what the tests have found": writing(mended),
    }


def shown(work, words):
    """What stands below a task, for whoever is given it first."""
    return next(each for each in work.team.tasks if words in each)


def test_e22_who_mends_sees_first_what_was_broken_now_and_all_that_failed_before(root):
    work = carry_out(root, shaped("serial"), script({"shop.py": "PRICE = 2\n"}, {"shop.py": "PRICE = 1\n\n"}))
    assert work.result.ok, work.result.failure
    for words in ("Tests fail after", "Mend what the tests have found"):
        task = shown(work, words)
        assert '"broken_now": ["test_shop.Shop.test_price"]' in task.replace('":["', '": ["'), task[:3000]
        assert task.index("2 != 1") < task.index("AssertionError: old")
        assert "test_shop.Shop.test_old_59" in task


@pytest.mark.parametrize("line", ["    def test_", "    @unittest.skip('')\n    def test_"])
def test_e22_a_test_that_is_taken_away_is_not_mended(root, line):
    """Deleted with its name, or skipped: what was wrong would still be there."""
    less = TEST.format("").replace("    def test_price", f"{line}price" if "skip" in line else "    def price")
    work = carry_out(root, shaped("serial"), script({"shop.py": "PRICE = 2\n"}, {"test_shop.py": less}))
    assert (work.result.status, work.state) == ("failed", {})
    assert "still worse than before" in work.report.failure
    assert "1 fewer than before are run" in work.report.rounds[-1].tests


def test_of_many_failures_those_that_are_new_are_told_in_full():
    def said(*tests):
        lines = ["== short test summary info ==", *(f"FAILED a.py::{each} - no" for each in tests)]
        return Ran(code=1, stdout="\n".join([*lines, f"{len(tests)} failed in 1.0s"]))

    old = [f"t{n}" for n in range(70)]
    before = report_of(said(*old, "wavers"), said(*old)).model_copy(update={"flaky": ["a.py::wavers"]})
    after = report_of(said(*old, "wavers", "y", "z"), before=before)
    assert [each.test for each in after.failures][:3] == ["a.py::y", "a.py::z", "a.py::t0"]
    assert (len(after.failures), after.more, after.also[-1]) == (50, 23, "a.py::wavers")
    assert json.loads(after.model_dump_json())["failed"] == 73
