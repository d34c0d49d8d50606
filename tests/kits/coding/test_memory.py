"""T4: what earlier runs have learned is looked up first, and planning sees it; a memory that fails stops nobody."""

import asyncio
import json

import pytest
from repositories.project import FILES
from ways import Workshop, plan_of, told_in

from perdure import Plan
from perdure.core.calls import Failure
from perdure.kits.coding.report import markdown
from perdure.testing.models import calls, news_in

LESSON = "A product of numbers is not their sum: test it with numbers of which that shows."
GOAL = {"goal": "Multiply numbers in the calculator"}
CASE = (
    "import unittest\n\nfrom calc import multiply\n\n\nclass Product(unittest.TestCase):\n"
    "    def test_product(self):\n        self.assertEqual(multiply(2, 3), 6)\n"
)
RIGHT = f"{FILES['calc.py']}\n\ndef multiply(a, b):\n    return a * b\n"
WRONG = RIGHT.replace("a * b", "a + b")
CHANGES = [
    {"title": "Multiply", "why": "Somebody asks for it.", "task": "Add multiply to calc.py", "files": ["calc.py"]},
    {"title": "Test products", "why": "It is new.", "task": "Test multiply", "files": ["test_product.py"]},
]
PLANNED = {"summary": "Multiply two numbers", "changes": CHANGES}
STEPS = ("shape_recall", "shape_plan", "shape_edits", "shape_prove", "shape_remember")


def remembered(request):
    """Somebody who passes on what was found, and nothing else."""
    found = json.loads(news_in(request.remarks))["found"]
    return f"Earlier runs say: {' '.join(each['text'] for each in found) or 'nothing'}"


SCRIPT = {
    "Tests fail after a change": {"cause": "it adds", "mend": "multiply instead", "lesson": LESSON},
    "Mend what the tests have found": [calls("files.write", path="calc.py", text=RIGHT), "It multiplies now."],
    "What have earlier runs learned": [calls("memory.search", query="multiply numbers calculator"), remembered],
    "Divide this goal": PLANNED,
    "Add multiply to calc.py": [calls("files.write", path="calc.py", text=WRONG), "It is there."],
    "Test multiply": [calls("files.write", path="test_product.py", text=CASE), "It is tested."],
}


def test_t4_what_the_first_run_has_learned_is_told_to_who_plans_the_second(tmp_path):
    shop = Workshop(tmp_path, SCRIPT)
    first = shop.carry("memory", inputs=GOAL)
    first.assert_kept()
    assert told_in(first.asked[0]).startswith("What have earlier runs learned")
    assert "Earlier runs say: nothing" in first.told("Divide this goal")[0]
    assert [each.lesson for each in first.report.rounds] == ["", LESSON, "", ""]
    assert first.path(*STEPS) == [(step, "success") for step in STEPS]

    second = shop.carry("memory", inputs={**GOAL, "branch": "perdure/second"})
    second.assert_kept()
    (told,) = second.told("Divide this goal")
    assert LESSON in told
    assert "Multiply two numbers: all tests pass" in told
    assert second.log() == first.log() == ["Multiply\n\nSomebody asks for it.", "Test products\n\nIt is new."]
    assert second.changed() == {"calc.py", "test_product.py"}


def broken(engine):
    engine.journal._store._db.execute("DROP TABLE memories")


def test_t4_a_memory_that_is_broken_stops_nobody(tmp_path):
    done = Workshop(tmp_path, SCRIPT).carry("memory", inputs=GOAL, first=broken)
    done.assert_kept()
    assert done.path("shape_recall", "shape_remember") == [("shape_recall", "success"), ("shape_remember", "success")]
    assert done.steps["shape_remember"].output["noted"] is False
    assert "PRD2205" in done.steps["shape_recall/1.2"].output["trouble"]
    assert done.files()["calc.py"] == RIGHT


@pytest.mark.parametrize(
    "failing",
    [
        Failure("invalid", "nobody remembers"),
        [calls("memory.search", query="")],
        [calls("memory.search", query=f"{n}") for n in range(9)],
    ],
    ids=["a model that fails", "a search that is none", "a search without end"],
)
def test_t4_who_cannot_remember_stops_nobody(tmp_path, failing):
    done = Workshop(tmp_path, {**SCRIPT, "What have earlier runs learned": failing}).carry("memory", inputs=GOAL)
    done.assert_kept()
    assert done.path(*STEPS)[0] == ("shape_recall", "failure")
    assert "memories: null" in done.told("Divide this goal")[0]


def test_t4_a_memory_that_never_answers_is_not_waited_for(tmp_path):
    async def never(*_):
        await asyncio.sleep(3600)

    def hang(engine):
        engine.journal.search = never

    quick = Plan.model_validate(json.loads(json.dumps(plan_of("memory").canonical()).replace("120", "1")))
    done = Workshop(tmp_path, SCRIPT).carry(quick, inputs=GOAL, first=hang)
    done.assert_kept()
    assert done.path(*STEPS)[0] == ("shape_recall", "failure")


def test_e22_what_cannot_be_mended_leaves_nothing_but_a_lesson(tmp_path):
    script = {**SCRIPT, "Mend what the tests have found": "I see nothing wrong."}
    done = Workshop(tmp_path, script).carry("memory", inputs=GOAL)
    done.assert_nothing_kept("after 5 rounds", "test_product")
    assert f"learned: {LESSON}" in markdown(done.report)
