"""E22: a refactoring of many files: planned, edited, tested, mended, reviewed; or given up with nothing changed."""

import pytest
from team import carry_out, change, edits, plan_of, repository, shaped, times, writing

from perdure.kits.coding.report import markdown

START = {
    "README.md": "# ledger\n\n`Entry(amount)` is an entry.\n",
    "ledger/__init__.py": "",
    "ledger/entry.py": "class Entry:\n    def __init__(self, amount):\n        self.amount = amount\n",
    "ledger/book.py": (
        "from ledger.entry import Entry\n\n\nclass Book:\n    def __init__(self):\n        self.entries = []\n\n"
        "    def add(self, amount):\n        self.entries.append(Entry(amount))\n"
    ),
    "ledger/total.py": "def total(book):\n    return sum(each.amount for each in book.entries)\n",
    "test_ledger.py": (
        "import unittest\n\nfrom ledger.book import Book\nfrom ledger.total import total\n\n\n"
        "class Ledger(unittest.TestCase):\n    def test_total(self):\n        book = Book()\n        book.add(2)\n"
        "        book.add(3)\n        self.assertEqual(total(book), 5)\n"
    ),
}
CHANGES = (
    change("Call the amount cents", "ledger/entry.py", why="An amount says nothing of its unit."),
    change("Add cents to the book", "ledger/book.py", "docs/book.md"),  # which is not there, and nobody writes it
)
ENTRY = START["ledger/entry.py"].replace("amount", "cents")
BOOK = START["ledger/book.py"].replace("amount", "cents")
TOTAL = START["ledger/total.py"].replace("amount", "cents")
CAUSE = {
    "cause": "total.py still asks for the amount.",
    "mend": "Ask for cents.",
    "lesson": "Look for whoever reads it.",
}
FAILING = "test_ledger.Ledger.test_total"


def script(**more):
    """The plan forgets who reads the amounts; the tests do not."""
    return {
        "Divide this goal into changes": plan_of(*CHANGES, summary="Amounts are cents"),
        "Do this: Call the amount cents": writing({"ledger/entry.py": ENTRY}),
        "Do this: Add cents to the book": writing({"ledger/book.py": BOOK}),
        "Tests fail after a change": CAUSE,
        "Mend what the tests have found": writing({"ledger/total.py": TOTAL}),
        "Review the change": {"verdict": "success", "answer": "It is whole."},
        **more,
    }


@pytest.fixture
def root(tmp_path):
    return repository(tmp_path / "ledger", START)


def test_e22_it_is_planned_edited_tested_mended_and_reviewed(root):
    work = carry_out(root, shaped("refactor"), script())
    assert work.result.ok, work.result.failure
    assert work.commits == ["Call the amount cents", "Add cents to the book", "Carry the change through"]
    assert [each.files for each in work.report.commits] == [
        ("ledger/entry.py",), ("ledger/book.py",), ("ledger/total.py",),
    ]  # fmt: skip
    assert [each.failing for each in work.report.rounds] == [(), (FAILING,), (), ()]
    assert work.report.rounds[1].lesson == CAUSE["lesson"]
    assert "Ran 1 test" in work.tested()
    assert work.touched == {}


def test_e22_what_the_review_wants_is_done_and_tested_again(root):
    review = times(
        {"verdict": "needs_work", "answer": "The README still speaks of the amount."},
        {"verdict": "success", "answer": "Now it is whole."},
    )
    polish = edits("README.md", "Entry(amount)", "Entry(cents)")
    work = carry_out(
        root, shaped("refactor"), script(**{"Review the change": review, "Mend what the review has found": polish})
    )
    assert work.result.ok, work.result.failure
    assert "Entry(cents)" in work.text("README.md")
    assert [each.failing for each in work.report.rounds] == [(), (FAILING,), (), (), ()]
    assert "The README still speaks" in next(each for each in work.team.tasks if "Mend what the review" in each)
    assert work.report.commits[-1].files == ("README.md", "ledger/total.py")
    assert work.report.wanted == ()


def test_e22_a_polish_that_breaks_something_is_mended_like_any_change(root):
    review = times({"verdict": "needs_work", "answer": "Say `sum_of`."}, {"verdict": "success", "answer": "Yes."})
    broken = writing({"ledger/total.py": TOTAL.replace("def total", "def sum_of")})
    more = {"Review the change": review, "Mend what the review has found": broken}
    work = carry_out(root, shaped("refactor"), script(**more))
    assert work.result.ok, work.result.failure
    assert [bool(each.failing) for each in work.report.rounds] == [False, True, False, True, False, False]
    assert work.text("ledger/total.py") == TOTAL


def test_e22_what_a_review_still_wants_when_its_rounds_are_over_is_told(root):
    more = {
        "Review the change": {"verdict": "needs_work", "answer": "It could be shorter."},
        "Mend what the review has found": times(*(writing({"README.md": f"# {n}\n"}) for n in range(9))),
    }
    work = carry_out(root, shaped("refactor"), script(**more))
    assert work.result.ok, work.result.failure
    assert (work.team.asked["Review the change"], work.report.wanted) == (3, ("It could be shorter.",))
    assert "- the last review still wanted: It could be shorter." in markdown(work.report)


def test_e22_what_does_not_converge_is_given_up_and_the_repository_is_as_it_was(root):
    guesses = times(*(writing({"ledger/total.py": TOTAL.replace("cents", f"cents_{n}")}) for n in range(9)))
    work = carry_out(root, shaped("refactor"), script(**{"Mend what the tests have found": guesses}))
    assert (work.result.status, work.state) == ("failed", {})
    assert "still worse than before, after 5 rounds" in work.report.failure
    assert [bool(each.failing) for each in work.report.rounds] == [False] + [True] * 5
    assert (work.report.branch, work.report.commits) == ("", ())
    assert work.report.base


def test_e22_without_calls_left_it_ends_by_its_budget(root):
    work = carry_out(root, shaped("refactor", budget={"calls": 7}), script())
    assert (work.result.status, work.result.failure.kind, work.state) == ("failed", "budget", {})
    assert len(work.report.rounds) == 2


def test_e22_tests_that_cannot_be_run_end_it_before_anybody_is_asked(root):
    work = carry_out(root, shaped("refactor"), script(), test=["python3", "-m", "no_such_runner"])
    assert (work.result.status, work.state, work.team.tasks) == ("failed", {}, [])
    assert "the tests cannot be run, so nothing could be proven" in work.report.failure
