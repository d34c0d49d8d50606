"""T4: what earlier runs have learned is looked up first, and planning sees it; a memory that fails stops nobody."""

import asyncio
import json

import pytest
from memory_scene import GOAL, LESSON, RIGHT, SCRIPT
from ways import Workshop, plan_of, told_in

from perdure import Plan
from perdure.core.calls import Failure
from perdure.kits.coding.report import markdown
from perdure.testing.models import calls

STEPS = ("shape_recall", "shape_plan", "shape_edits", "shape_prove", "shape_remember")


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
    assert "Multiply two numbers: all 3 tests pass" in told
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
