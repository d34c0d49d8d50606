"""T10: the large-project plan builds a real package of a dozen components, and all of its states are real."""

import pytest
from quantities import ASTRAY, COLDER, NAMES, TEST_WHOLE, WHOLE, component, files
from team import carry_out, live_at_once, plan_of, repository, shaped, times, writing

from perdure.core.calls import Failure

START = {"README.md": "# quantities\n"}
FEW = ("parse", "show")
SUMMARY = "Quantities, their units, and texts of them"


def said(verdict, answer):
    return {"verdict": verdict, "answer": answer}


def script(names, **more):
    """Everything goes well, but for what is said otherwise."""
    return {
        "Name the components": plan_of(*map(component, names), summary=SUMMARY),
        "Does this plan hold together": said("success", "It does."),
        **{f"Do this: Write {name}\n": writing(files(name)) for name in names},
        "The components were written apart": "They fit as they are.",
        "Do the components fit together": said("success", "They do."),
        "would a careful maintainer take it": said("success", "Yes."),
        **more,
    }


def small(**more):
    """Two components, committed as one."""
    few = plan_of(*[{**component(name), "files": []} for name in FEW], summary=SUMMARY)
    first = writing({**files(FEW[0]), "tests/__init__.py": "", "quantities/__init__.py": ""})
    return {**script(FEW, **{"Name the components": few, f"Do this: Write {FEW[0]}\n": first}), **more}


@pytest.fixture
def root(tmp_path):
    return repository(tmp_path / "quantities", START)


def test_t10_a_package_of_a_dozen_components_is_built_in_an_empty_repository(root):
    colder = writing({**files("temperature"), "quantities/temperature.py": COLDER})
    more = {
        "Name the components": times(
            plan_of(*map(component, NAMES[1:]), summary=SUMMARY), plan_of(*map(component, NAMES), summary=SUMMARY)
        ),
        "Does this plan hold together": times(said("flawed", "Nobody makes the lengths."), said("success", "Now it does.")),
        "Do this: Write temperature\n": colder,
        "The components were written apart": writing({"quantities/__init__.py": ASTRAY, "tests/test_whole.py": TEST_WHOLE}),
        "Do the components fit together": times(said("broken", "There is no module kinds."), said("success", "They do.")),
        "Mend what does not fit together": writing({"quantities/__init__.py": WHOLE}),
        "Mend what the tests have found": writing({"quantities/temperature.py": files("temperature")["quantities/temperature.py"]}),
        "would a careful maintainer take it": times(said("needs_work", "The README says nothing."), said("success", "Yes.")),
        "Mend what the review has found": writing({"README.md": "# quantities\n\n`convert('2 km', 'm')` is `2000 m`.\n"}),
    }  # fmt: skip
    work = carry_out(root, shaped("project"), script(NAMES, **more))
    assert work.result.ok, work.result.failure
    assert len(NAMES) == 12
    assert live_at_once(work.facts, "shape_components_changes/1[") == 4
    assert {f"quantities/{name}.py" for name in NAMES} | {"tests/test_whole.py"} <= set(work.files())
    assert work.commits == [*(f"Write {name}" for name in NAMES), "Put the parts together"]
    assert [each.title for each in work.report.commits] == work.commits
    before, found, mended, refined, after = work.report.rounds
    assert before.tests == "no tests ran"
    assert set(found.failing) == {"tests.test_temperature.TestTemperature.test_temperature", "tests.test_whole.TestWhole.test_texts"}  # fmt: skip
    assert mended.tests == refined.tests == after.tests == "all 13 tests pass"
    assert "Nobody makes the lengths" in [each for each in work.team.tasks if "Name the components" in each][1]
    assert "There is no module kinds" in next(each for each in work.team.tasks if "Mend what does not fit" in each)
    assert "The README says nothing" in next(each for each in work.team.tasks if "Mend what the review" in each)
    assert [work.team.asked[words] for words in more] == [2, 2, 1, 1, 2, 1, 1, 2, 1]
    assert work.result.output["after"]["passed"] == 13
    assert "Ran 13 tests" in work.tested()
    assert work.touched == {}


def test_t10_a_plan_that_never_holds_together_goes_to_a_person_who_stops(root):
    work = carry_out(
        root,
        shaped("project"),
        small(**{"Does this plan hold together": said("flawed", "It does not.")}),
        answers=["stop"],
    )
    assert (work.result.status, work.state) == ("failed", {})
    assert work.team.asked["Name the components"] == 3
    assert "came no further, and was stopped" in work.report.failure
    assert "not run yet" in work.questions[0]
    assert work.report.rounds[0].tests == "no tests ran"


def test_t10_planning_again_begins_with_all_its_tries(root):
    flaws = [said("flawed", "It does not.")] * 3
    script = small(**{"Does this plan hold together": times(*flaws, *flaws[:2], said("success", "Now it does."))})
    work = carry_out(root, shaped("project"), script, answers=["plan"])
    assert work.result.ok, work.result.failure
    assert work.team.asked["Name the components"] == 6


def test_t10_a_component_that_cannot_be_written_is_built_again_when_a_person_says_so(root):
    lost = times(Failure("invalid", "There is no word for it."), Failure("invalid", "Nor now."), writing(files("show")))
    work = carry_out(root, shaped("project"), small(**{"Do this: Write show\n": lost}), answers=["build"])
    assert work.result.ok, work.result.failure
    assert {"quantities/parse.py", "quantities/show.py"} <= set(work.files())


def test_t10_parts_that_never_fit_go_to_a_person_who_has_them_put_together_again(root):
    broken = [said("broken", "Nobody calls it.")] * 4
    more = {
        "Do the components fit together": times(*broken, said("success", "They do.")),
        "Mend what does not fit": "There is nothing to mend.",
    }
    work = carry_out(root, shaped("project"), small(**more), answers=["integrate"])
    assert work.result.ok, work.result.failure
    assert work.team.asked["Mend what does not fit"] == 3
    assert work.team.asked["The components were written apart"] == 2


WRONG = {"tests/test_show.py": files("show")["tests/test_show.py"].replace("'12 km'", "'12.0 km'")}


def test_t10_failures_that_nobody_mends_go_to_a_person_who_tests_again_and_stops(root):
    bad = writing({**files("show"), **WRONG})
    more = {"Do this: Write show\n": bad, "Mend what the tests have found": "I do not see it."}
    work = carry_out(root, shaped("project"), small(**more), answers=["test", "stop"])
    assert (work.result.status, work.state) == ("failed", {})
    assert "tests.test_show.TestShow.test_show" in work.questions[0]
    assert work.team.asked["Mend what the tests have found"] == 8
    assert len(work.report.rounds) == 1 + 5 + 5
    assert (work.report.branch, work.report.commits) == ("", ())


def test_t10_what_a_person_accepts_is_still_held_against_the_tests(root):
    bad = writing({**files("show"), **WRONG})
    more = {"Do this: Write show\n": bad, "Mend what the tests have found": "I do not see it."}
    work = carry_out(root, shaped("project"), small(**more), answers=["accept"])
    assert (work.result.status, work.state) == ("failed", {})
    assert "the tests are worse than before, and nothing is kept" in work.report.failure


def test_t10_a_review_that_is_never_content_ends_with_a_person_who_accepts(root):
    more = {
        "would a careful maintainer take it": said("needs_work", "More."),
        "Mend what the review has found": times(*(writing({"README.md": f"# {n}\n"}) for n in range(9))),
    }
    work = carry_out(root, shaped("project"), small(**more), answers=["accept"])
    assert work.result.ok, work.result.failure
    assert work.team.asked["Mend what the review has found"] == 3
    assert work.text("README.md") == "# 2\n"
    assert "all 2 tests pass" in work.questions[0]


def test_t10_without_calls_left_it_ends_by_its_budget_and_asks_nobody(root):
    work = carry_out(root, shaped("project", budget={"calls": 4}), small())
    assert (work.result.status, work.result.failure.kind) == ("failed", "budget")
    assert (work.questions, work.report.usage["calls"], work.state) == ([], 4, {})
