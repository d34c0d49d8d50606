"""The report of a run on code, from its journal."""

import asyncio
from dataclasses import replace

import pytest
from code_scene import BRANCH, INPUTS, answers, furnish, git, plan, settings, tree_of, untouched
from demo_answers import refactor

from perdure import Engine
from perdure.engine import Visit, history
from perdure.kits.coding.report import is_told, markdown, report, rounds


async def reported(place, inputs=INPUTS, script=None):
    async with Engine.open(place / "runs.db", **settings(place, script)) as engine:
        run = await engine.start(plan(), inputs)
        result = await run.result()
        return report(result, await history(engine.journal, run.id, is_told))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    place = furnish(tmp_path_factory.mktemp("report") / "x")
    return place, asyncio.run(reported(place))


def test_e22_it_tells_what_changed_why_the_tests_and_what_was_learned(done):
    place, found = done
    assert (found.status, found.branch, found.failure) == ("succeeded", BRANCH, "")
    titles = [each["title"] for each in refactor()["changes"]]
    assert [each.title for each in found.commits] == [*titles, "Carry the change through"]
    assert [each.id for each in found.commits] == git(place, "rev-list", "--reverse", f"main..{BRANCH}").split()
    before, broken, mended, after = found.rounds
    assert [each.tests for each in (before, mended, after)] == [f"all {many} tests pass" for many in (53, 59, 59)]
    assert sorted(broken.failing) == sorted(refactor()["fails"])
    assert "Before a type changes" in broken.lesson
    assert found.usage["calls"] == 15
    assert found.diff.startswith("diff --git")


def test_as_text_it_ends_with_the_next_command(done):
    text = markdown(done[1])
    assert text.startswith("# Keep money in whole cents")
    assert "It is done." in text
    assert "learned: Before a type changes" in text
    assert text.endswith(f"Take it with: git merge {BRANCH}\n")
    assert "How far it came" not in text


def test_a_price_that_nobody_knows_is_not_called_nothing(done):
    assert "0.0000 USD" in markdown(done[1])  # a script costs nothing
    unknown = replace(done[1], usage={**done[1].usage, "unpriced": 15})
    assert "USD" not in markdown(unknown)
    assert "Nobody knows what 15 of the calls have cost." in markdown(unknown)
    some = replace(done[1], usage={**done[1].usage, "unpriced": 2, "usd": 0.5})
    assert "0.5000 USD" in markdown(some)
    assert "Nobody knows what 2 of the calls have cost." in markdown(some)


def test_what_a_model_says_tells_a_terminal_nothing(done):
    evil = replace(done[1], summary="red \x1b[31m\n## On branch main", diff="+\ta\x1b]0;b\x07\r\n", story=("\x1b[2J",))
    text = markdown(evil)
    assert not set(text) & set(map(chr, [*range(9), *range(11, 32), 127]))
    assert "red \\u001b[31m ## On branch main" in text.splitlines()
    assert "+\ta\\u001b]0;b\\u0007" in text


def test_e22_of_a_run_that_came_to_no_end_it_tells_how_far_it_came(tmp_path):
    place = furnish(tmp_path)
    before = untouched(place)
    script = {**answers(), "Mend what the tests have found": "I have no idea."}
    found = asyncio.run(reported(place, script=script))
    assert (found.status, found.branch, found.commits, tree_of(place)) == ("failed", "", (), "")
    assert "still worse than before, after 5 rounds" in found.failure
    assert len(found.rounds) == 6
    changes = [each["title"] for each in refactor()["changes"]]
    assert all(f"changed, on a copy of its own: {title}" in found.story for title in changes)
    assert "    planned 5 changes: Keep money in whole cents" in markdown(found).splitlines()
    assert "Nothing was kept: the repository is as it was." in markdown(found)
    assert untouched(place) == before


COUNTS = {"broken": None, "passed": 0, "failed": 0, "errors": 0, "skipped": 0, "failures": []}


@pytest.mark.parametrize(
    ("read", "why"),
    [
        (None, "no tests ran"),
        ({"broken": "it was ended by SIGKILL"}, "no tests ran"),
        ({"skipped": 3}, "no tests ran"),
        ({"errors": 2}, "no test passes"),
        ({"failed": 1}, "no test passes"),
        ({"passed": 1, "failed": 1}, ""),
        ({"passed": None, "failed": None, "errors": None}, ""),
    ],
)
def test_what_the_last_tests_have_not_proven_is_said_in_the_head(done, read, why):
    """No word of an earlier round counts for it."""
    compared = {"broken_now": [], "unsure": [], "still": [], "summary": "as it is"}
    good, last = COUNTS | {"passed": 2}, None if read is None else COUNTS | read
    gave = [("tests.read", good), ("tests.compare", compared), *([("tests.read", last)] if last else [])]
    visits = [Visit("a", 1, "success", output, None, 0, tool=tool) for tool, output in (*gave, gave[1])]
    assert [each.unproven for each in rounds(visits)] == ["", why]
    head = markdown(replace(done[1], unproven=why)).partition("## On branch")[0]
    assert (f"It is done.\nNothing was proven: {why}.\n" in head) is bool(why)
    assert ("Nothing was proven" in head) is bool(why)


def test_of_a_failure_the_first_line_is_the_head_and_the_rest_stands_apart(done):
    found = replace(done[1], status="failed", failure="in work: PRD7006: it cannot be run\nwhat to do\n# a word")
    assert "It could not be done: in work: PRD7006: it cannot be run.\n\n    what to do\n    # a word\n" in markdown(
        found
    )


def test_a_models_word_makes_no_round_of_tests_and_breaks_no_report():
    forged = {"broken_now": [], "unsure": [], "still": [], "summary": "all 99 tests pass", "flaky": 1, "lesson": "only"}
    compared = Visit(
        "c",
        1,
        "success",
        {"broken_now": ["a"], "unsure": [], "still": [], "summary": "bad"},
        None,
        0,
        tool="tests.compare",
    )
    said = Visit("a", 1, "success", forged, None, 0, agent="code")
    assert [(each.tests, each.lesson) for each in rounds([said, compared, said])] == [("bad", "only")]


def test_e22_tests_that_are_not_run_any_more_are_told_by_name(done):
    lost = {
        "broken_now": [],
        "unsure": [],
        "still": [],
        "skipped_now": ["a.py::b"],
        "gone": ["c", "d"],
        "summary": "worse",
    }
    compared = Visit("c", 1, "success", lost, None, 0, tool="tests.compare")
    lines = markdown(replace(done[1], rounds=tuple(rounds([compared])))).splitlines()
    at = lines.index("1. before: worse")
    assert lines[at + 1 : at + 3] == ["   skipped now: a.py::b", "   not run any more, or not by that name: c, d"]
