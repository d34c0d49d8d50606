"""T5: generate, apply, test, check; and again with what failed, until it passes."""

import pytest
from loop_scene import FIRST, SCRIPT, SECOND, furnished, patch
from repositories.project import commit
from ways import Workshop

from perdure.core.calls import Failure
from perdure.kits.coding.report import markdown

AGAIN = patch("@@ def multiply(a, b):", "+    # it should be right now", "     return a + b")
STEPS = ("shape_generate", "shape_apply", "shape_test", "shape_check")


@pytest.fixture
def shop(tmp_path):
    furnished(tmp_path / "project")
    return lambda script: Workshop(tmp_path, script)


def test_t5_failing_tests_are_a_result_and_the_next_patch_is_made_with_what_failed(shop):
    done = shop(SCRIPT).carry("loop")
    done.assert_kept()
    round_ = ["shape_generate", "shape_apply", "shape_test", "shape_check"]
    assert [step for step, _ in done.path(*STEPS)] == [*round_, *round_]
    assert [exit_ for step, exit_ in done.path("shape_check")] == ["generate", "complete"]
    assert {exit_ for step, exit_ in done.path("shape_test")} == {"success"}
    first, second = done.told("Give one patch")
    assert "cannot import name 'multiply'" in first
    assert "AssertionError: 5 != 6" in second
    assert "test_multiply" in second
    assert done.files()["calc.py"].endswith("def multiply(a, b):\n    return a * b\n")
    assert (done.log(), done.changed()) == (["Multiply, and do not add"], {"calc.py"})


def test_t5_the_report_tells_each_round(shop):
    done = shop(SCRIPT).carry("loop")
    before, first, second, after = done.report.rounds
    assert len(before.failing) == len(first.failing) == 1
    assert not second.failing
    assert not after.failing
    assert "fixed: test_calc.Calc.test_multiply" in second.tests
    assert "It is done" in markdown(done.report)


@pytest.mark.parametrize(
    ("script", "broken", "words"),
    [
        ({"": Failure("invalid", "the model is gone")}, "shape_generate", ["the model is gone"]),
        ({"": "no patch at all"}, "shape_generate", []),
        ({"": {"summary": "Multiply", "patch": SECOND}}, "shape_apply", ["calc.py"]),
        ({"": {"summary": "Multiply", "patch": "what is this"}}, "shape_apply", []),
    ],
    ids=["a model that fails", "an answer that is none", "a patch that does not apply", "a patch that is none"],
)
def test_t5_a_step_that_breaks_ends_the_run(shop, script, broken, words):
    done = shop(script).carry("loop")
    done.assert_nothing_kept(*words)
    assert [each for each in done.path(*STEPS) if each[1] != "success"] == [(broken, "failure")]
    assert [step for step, _ in done.path(*STEPS)][-1] == broken
    assert len(done.report.rounds) == 1
    assert "It could not be done" in markdown(done.report)


def test_t5_a_test_that_cannot_be_run_any_more_ends_the_run(shop):
    """The command ran before; the patch takes away what it needs."""
    gone = "*** Begin Patch\n*** Delete File: check.sh\n*** End Patch\n"
    work = shop({"": {"summary": "Tidy up", "patch": gone}})
    commit(work.repo, "Check", {"check.sh": "#!/bin/sh\nexec python3 -m unittest\n"})
    (work.repo / "check.sh").chmod(0o755)
    commit(work.repo, "Let it be run")
    done = work.carry("loop", inputs={"test": ["./check.sh"]})
    done.assert_nothing_kept("cannot be run any more", "check.sh")
    assert done.path(*STEPS, "shape_broken")[-2:] == [("shape_check", "broken"), ("shape_broken", "failure")]


def test_t5_a_command_that_cannot_run_at_all_ends_it_before_anything_is_asked(shop):
    done = shop(SCRIPT).carry("loop", inputs={"test": ["no-such-program"]})
    done.assert_nothing_kept("no-such-program")
    assert done.asked == []


def test_t5_without_tests_nobody_could_tell_when_to_end(shop):
    done = shop(SCRIPT).carry("loop", inputs={"test": []})
    done.assert_nothing_kept("--test")
    assert done.asked == []


def test_e22_what_never_passes_ends_after_six_patches_and_leaves_nothing(shop):
    done = shop({"AssertionError": {"summary": "Try", "patch": AGAIN}, "": {"summary": "Try", "patch": FIRST}}).carry(
        "loop"
    )
    done.assert_nothing_kept("after 6 patches", "test_multiply")
    assert done.path("shape_apply", "shape_unfinished") == [("shape_apply", "success")] * 6 + [
        ("shape_unfinished", "failure")
    ]
    assert len(done.report.rounds) == 7
