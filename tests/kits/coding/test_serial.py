"""T6: a dozen components, one after the other, each on top of those before."""

import pytest
from team import calling, carry_out, change, live_at_once, plan_of, repository, shaped, times, writing

UNITS = ("metre", "foot", "inch", "yard", "mile", "fathom", "furlong", "chain", "rod", "league", "cable", "ell")
LENGTHS = (1.0, 0.3048, 0.0254, 0.9144, 1609.344, 1.8288, 201.168, 20.1168, 5.0292, 4828.032, 185.2, 1.143)
TEST = (
    "import unittest\n\nimport units\n\n\nclass Units(unittest.TestCase):\n"
    "    def test_all_that_are_named_are_there(self):\n"
    "        for name in units.NAMES:\n            self.assertGreater(units.length(name), 0)\n"
)
START = {
    "README.md": "# units\n",
    "units/__init__.py": (
        "from importlib import import_module\n\nNAMES = []\n\n\n"
        "def length(name):\n    return import_module(f'units.{name}').METRES\n"
    ),
    "test_units.py": TEST,
}


def title(unit):
    return f"Add the {unit}"


def component(unit, metres):
    """Each goes on with the line that the one before has left, so the order cannot be another."""
    before = UNITS[: UNITS.index(unit)]
    old, new = (f"NAMES = {[*names]!r}".replace("'", '"') for names in (before, (*before, unit)))
    edit = {"path": "units/__init__.py", "old": old, "new": new}
    return [calling("files.edit", edits=[edit]), writing({f"units/{unit}.py": f"METRES = {metres}\n"})]


def script(**more):
    changes = [change(title(unit), f"units/{unit}.py") for unit in UNITS]
    made = {f"Do this: {title(unit)}\n": component(unit, metres) for unit, metres in zip(UNITS, LENGTHS, strict=True)}
    return {"in the order": plan_of(*changes, summary="A dozen units"), **made, **more}


@pytest.fixture
def root(tmp_path):
    return repository(tmp_path / "units", START)


def test_t6_a_dozen_components_are_written_one_after_the_other(root):
    work = carry_out(root, shaped("serial"), script())
    assert work.result.ok, work.result.failure
    assert live_at_once(work.facts, "shape_generate/1[") == 1
    assert [each.partition("\n")[0] for each in work.team.tasks[1:]] == [f"Do this: {title(unit)}" for unit in UNITS]
    assert {f"units/{unit}.py" for unit in UNITS} <= set(work.files())
    assert f"NAMES = {[*UNITS]!r}".replace("'", '"') in work.text("units/__init__.py")
    assert work.commits == [*map(title, UNITS), "Carry the components through"]
    assert [each.title for each in work.report.commits] == work.commits
    assert [each.tests for each in work.report.rounds] == ["the one test passes"] * 3
    assert work.touched == {}


WRONG = {f"Do this: {title('ell')}\n": component("ell", "-1.143")}
DIAGNOSIS = {"cause": "The ell is negative.", "mend": "Make it 1.143.", "lesson": "A length is never negative."}


def test_t6_one_that_is_wrong_is_found_by_the_tests_and_mended(root):
    few = plan_of(*[change(title(unit)) for unit in UNITS], summary="A dozen units")
    mending = writing({"units/ell.py": "METRES = 1.143\n"})
    more = {"in the order": few, "Tests fail after": DIAGNOSIS, "Mend what the tests have found": mending}
    work = carry_out(root, shaped("serial"), script(**WRONG, **more))
    assert work.result.ok, work.result.failure
    before, found, mended, after = work.report.rounds
    assert (before.tests, mended.tests, after.tests) == ("the one test passes",) * 3
    assert (found.failing, found.lesson) == (
        ("test_units.Units.test_all_that_are_named_are_there",),
        DIAGNOSIS["lesson"],
    )
    assert work.text("units/ell.py") == "METRES = 1.143\n"
    assert work.commits == ["Carry the components through"]


def test_t6_one_that_is_not_mended_ends_the_run_and_the_repository_is_as_it_was(root):
    guesses = [writing({"units/ell.py": f"METRES = -{n}\n"}) for n in range(9)]
    more = {"Tests fail after": DIAGNOSIS, "Mend what the tests have found": times(*guesses)}
    work = carry_out(root, shaped("serial"), script(**WRONG, **more))
    assert work.result.status == "failed"
    assert "still worse than before, after 5 rounds" in work.report.failure
    assert [bool(each.failing) for each in work.report.rounds] == [False] + [True] * 5
    assert (work.report.branch, work.report.commits, work.state) == ("", (), {})


def test_t6_without_calls_left_it_ends_by_its_budget_and_says_how_far_it_came(root):
    work = carry_out(root, shaped("serial", budget={"calls": 8}), script())
    assert (work.result.status, work.result.failure.kind) == ("failed", "budget")
    assert "shape_generate" in work.report.failure
    assert (work.report.usage["calls"], work.state) == (8, {})
