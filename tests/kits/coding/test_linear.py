"""T2: analyze, implement, persist, complete."""

import pytest
from repositories.project import FILES
from ways import Workshop

from perdure.kits.coding.report import markdown
from perdure.ports import Returned
from perdure.testing.models import calls

MULTIPLY = f"{FILES['calc.py']}\n\ndef multiply(a, b):\n    return a * b\n"
WRONG = MULTIPLY.replace("a - b", "b - a")
ANALYSIS = {"summary": "Multiply two numbers", "files": ["calc.py", "docs/multiply.md"]}
FILES_OF_IT = [{"path": "calc.py", "text": MULTIPLY}, {"path": "docs/multiply.md", "text": "It multiplies.\n"}]
SCRIPT = {"Say what has to be done": ANALYSIS, "Give the whole text": {"files": FILES_OF_IT}}
STEPS = ("shape_analyze", "shape_implement", "shape_improve", "shape_persist", "shape_complete")


def test_t2_it_goes_straight_through_and_the_engine_itself_writes_the_files(tmp_path):
    done = Workshop(tmp_path, SCRIPT).carry("linear")
    done.assert_kept()
    assert done.path(*STEPS) == [(name, "success") for name in STEPS if name != "shape_improve"]
    writes = [f"shape_persist/1[{n}].shape_write" for n in range(2)]
    assert [each.step for each in done.visits if each.step.endswith("_write")] == writes
    assert (done.log(), done.changed()) == (["Multiply two numbers"], {"calc.py", "docs/multiply.md"})
    assert done.files()["calc.py"] == MULTIPLY


def test_t2_the_code_agent_is_given_the_analysis_and_the_report_tells_what_came_of_it(tmp_path):
    done = Workshop(tmp_path, SCRIPT).carry("linear")
    analyze, implement = done.asked
    assert "You divide a goal" in analyze.instructions
    assert "You change the code" in implement.instructions
    assert '"files":["calc.py","docs/multiply.md"]' in done.told("Give the whole text")[0]
    assert [each.tests for each in done.report.rounds] == ["all 2 tests pass"] * 2
    (commit,) = done.report.commits
    assert (commit.title, commit.files) == ("Multiply two numbers", ("calc.py", "docs/multiply.md"))
    told = markdown(done.report)
    assert "It is done." in told
    assert "git merge perdure/goal" in told
    assert "+def multiply(a, b):" in told


def test_t2_refinement_implements_it_where_that_is_enabled(tmp_path):
    done = Workshop(tmp_path, SCRIPT).carry("linear", inputs={"options": {"refine": True}})
    done.assert_kept()
    assert done.path(*STEPS) == [(name, "success") for name in STEPS if name != "shape_implement"]
    assert "You improve work that was found wanting" in done.asked[1].instructions
    assert done.files()["calc.py"] == MULTIPLY


def test_t2_who_implements_cannot_write_past_the_engine(tmp_path):
    past = [calls("files.write", path="past.txt", text="past"), {"files": FILES_OF_IT}]
    done = Workshop(tmp_path, {**SCRIPT, "Give the whole text": past}).carry("linear")
    done.assert_kept()
    assert "past.txt" not in done.files()
    assert [each.text.partition(":")[0] for each in done.asked[-1].remarks if isinstance(each, Returned)] == ["denied"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"files": [{"path": "calc.py", "text": WRONG}]}, ["worse than before", "test_subtract"]),
        ({"files": [{"path": "../calc.py", "text": MULTIPLY}]}, ["shape_write"]),
        ({"files": [{"path": ".git/hooks/pre-commit", "text": "#!/bin/sh\n"}]}, ["shape_write"]),
    ],
    ids=["worse", "outside", "in git's own place"],
)
def test_e22_what_cannot_be_kept_leaves_nothing(tmp_path, answer, words):
    done = Workshop(tmp_path, {**SCRIPT, "Give the whole text": answer}).carry("linear")
    done.assert_nothing_kept(*words)
    assert not (tmp_path / "calc.py").exists()
    told = markdown(done.report)
    assert "It could not be done" in told
    assert "the repository is as it was" in told
    if "worse" in words[0]:
        assert done.report.summary == "Multiply two numbers"
        assert [len(each.failing) for each in done.report.rounds] == [0, 1]
