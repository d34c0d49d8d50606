"""E22: `coding.test` runs tests in the sandbox, on files that stay as they are, and again if some have failed."""

import asyncio
import shlex
import sys
import time
from pathlib import Path

import pytest
from deaths import dying
from tested_projects import write

from perdure import Engine, Plan, tool
from perdure.journal.memory import MemoryJournal
from perdure.kits.coding import TOOLS, plans
from perdure.kits.coding.results import Ran, Report
from perdure.kits.coding.tools import read
from perdure.testing.crashes import Disk
from perdure.testing.replays import assert_replays

PYTHON = (Path(sys.prefix), Path(sys.base_prefix))
PYTEST = ["env", "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1", f"{sys.prefix}/bin/python", "-m", "pytest"]
UNITTEST = ["python3", "-m", "unittest"]
GOOD = "import unittest\nclass A(unittest.TestCase):\n    def test_good(self): pass\n"
BAD = f"{GOOD}    def test_bad(self): self.assertEqual(1, 2)\n"
XML = '<testsuite><testcase name="draws"/><testcase name="prints"><failure message="no ink"/></testcase></testsuite>'


@pytest.fixture
def shop(tmp_path):
    return write(tmp_path.resolve() / "shop", {"shop.py": "PRICE = 1\n", "test_shop.py": BAD})


@pytest.fixture
def outside(tmp_path):
    """A directory that commands see and that is none of their workspace."""
    made = tmp_path.resolve() / "outside"
    made.mkdir()
    return made


def reading_and_touching(path):
    """The tool of the kit, in a world that goes on between two runs of the tests: a file appears."""

    @tool(name="tests.read", repeat="safe", effects=())
    async def reading(
        ran: Ran | None, again: Ran | None = None, failure: dict | None = None, before: Report | None = None
    ) -> Report:
        """What came of the tests."""
        path.touch()
        return await read(ran, again, failure, before)

    return reading


def opened(shop, **more):
    settings = {"tools": TOOLS, "plans": plans(), "workspace": shop, "toolchains": PYTHON}
    return Engine.open(shop.parent / "runs.db", **settings | more)


async def outcome(shop, command, plan=None, **inputs):
    """What came of the tests, and which steps were taken for it."""
    more = inputs.pop("opening", {})
    async with opened(shop, **more) as engine:
        run = await engine.start(plan or plans()["coding.test"], {"command": command, **inputs})
        result = await asyncio.wait_for(run.result(), 120)
        await assert_replays(engine.journal, run.id)
    return result


def seen(shop):
    return {str(each.relative_to(shop)): each.read_text() for each in shop.rglob("*") if each.is_file()}


@pytest.mark.parametrize(("command", "how"), [(PYTEST, "junit"), (UNITTEST, "unittest")])
async def test_e22_all_pass(shop, command, how):
    write(shop, {"test_shop.py": GOOD})
    before = seen(shop)
    result = await outcome(shop, command)
    report = Report.model_validate(result.output)
    assert (result.status, report.ok, report.how, report.passed, report.flaky) == ("succeeded", True, how, 1, [])
    assert result.steps["again"].exit == "skipped", "who passes is not asked twice"
    assert seen(shop) == before, "neither caches nor reports are left"


@pytest.mark.parametrize(
    ("command", "how", "name"),
    [(PYTEST, "junit", "test_shop.py::A::test_bad"), (UNITTEST, "unittest", "test_shop.A.test_bad")],
)
async def test_e22_some_fail_twice(shop, command, how, name):
    before = seen(shop)
    result = await outcome(shop, command)
    report = Report.model_validate(result.output)
    assert (result.status, report.ok, report.how, report.passed, report.failed) == ("succeeded", False, how, 1, 1)
    assert [(each.test, each.message) for each in report.failures] == [(name, "AssertionError: 1 != 2")]
    assert result.steps["again"].exit == "success"
    assert seen(shop) == before


async def test_e22_a_test_that_fails_once_and_then_passes_is_flaky(shop, outside):
    """What changes between the two runs lies outside; here it is a file that appears when the first was read."""
    write(
        shop,
        {
            "test_shop.py": f"{GOOD}    def test_wavers(self): assert __import__('os').path.exists({str(outside / 'later')!r})\n"
        },
    )
    more = {"tools": [reading_and_touching(outside / "later"), *TOOLS[1:]], "toolchains": (*PYTHON, outside)}
    result = await outcome(shop, UNITTEST, opening=more)
    assert (result.output["ok"], result.output["flaky"], result.output["passed"]) == (
        True,
        ["test_shop.A.test_wavers"],
        2,
    )
    assert result.output["summary"] == "2 passed; flaky, once failed and once passed: test_shop.A.test_wavers"


async def test_a_command_that_is_not_there_is_broken_and_not_run_again(shop):
    result = await outcome(shop, ["no-such-program"])
    assert (result.status, result.output["ok"]) == ("succeeded", False)
    assert result.output["broken"].startswith("the command is not there in the sandbox, or cannot be run")
    assert result.steps["again"].exit == "skipped"


async def test_tests_that_take_too_long_are_broken_and_their_last_words_are_told(shop):
    began = time.monotonic()
    result = await outcome(shop, ["sh", "-c", "echo testing the cart; sleep 60"], seconds=2)
    assert time.monotonic() < began + 25, "once, and no longer than it may"
    assert (result.status, result.output["ok"]) == ("succeeded", False)
    assert result.output["broken"] == "sh took too long and was ended: testing the cart"
    assert result.steps["again"].exit == "skipped"


async def test_a_second_run_that_takes_too_long_leaves_the_first(shop, outside):
    words = ["sh", "-c", f"test -e {shlex.quote(str(outside))}/later && sleep 60; exit 1"]
    more = {"tools": [reading_and_touching(outside / "later"), *TOOLS[1:]], "toolchains": (*PYTHON, outside)}
    result = await outcome(shop, words, seconds=2, opening=more)
    assert (result.status, result.output["broken"], result.output["failures"][0]["test"]) == (
        "succeeded",
        None,
        "the whole command",
    )
    assert result.output["notes"] == [
        "the tests were run a second time, which told nothing: sh took too long and was ended"
    ]


async def test_junit_that_another_program_writes_is_read(shop):
    script = f"mkdir -p out; echo {shlex.quote(XML)} > out/tests.xml; exit 1"
    result = await outcome(shop, ["sh", "-c", script], report="out/tests.xml")
    assert (result.output["how"], result.output["passed"], result.output["failed"]) == ("junit", 1, 1)
    assert result.output["failures"] == [{"test": "prints", "message": "no ink", "detail": ""}]
    assert not (shop / "out").exists()


async def test_pytest_is_found_wherever_a_command_starts_it(shop):
    write(shop, {"sub/test_more.py": BAD, "Makefile": f"all:\n\tcd sub && {shlex.join(PYTEST)} -q\n"})
    result = await outcome(shop, ["make"])
    assert (result.output["how"], result.output["failures"][0]["test"]) == ("junit", "test_more.py::A::test_bad")


async def test_what_may_not_be_run_is_a_failure_and_no_report(shop):
    plan = Plan.model_validate(
        {
            "steps": [{"id": "a", "plan": "coding.test", "with": {"command": UNITTEST}}],
            "policy": {"commands": {"deny": [["python3", "*"]]}},
            "recovery": {"denied": ["fail"]},
        }
    )
    result = await outcome(shop, UNITTEST, plan=plan.model_copy(update={"inputs": {"command": {"type": "array"}}}))
    assert (result.status, result.failure.kind) == ("failed", "denied")


async def test_a_plan_calls_it_on_a_copy_and_compares_before_and_after(shop):
    """As in work on a branch: the workspace stays as it is, byte by byte."""
    before = seen(shop)
    plan = Plan.model_validate(
        {
            "inputs": {"command": {"type": "array"}},
            "steps": [
                {"id": "work", "policy": {"contained": True}, "steps": [
                    {"id": "copy", "tool": "branch.open"},
                    {"id": "before", "plan": "coding.test", "with": {"command": "${inputs.command}"}},
                    {"id": "fix", "tool": "files.edit", "with": {"edits": [{"path": "test_shop.py", "old": "1, 2", "new": "1, 1"}]}},
                    {"id": "after", "plan": "coding.test", "with": {"command": "${inputs.command}"}},
                    {"id": "compared", "tool": "tests.compare", "with": {"before": "${steps.before.output}", "after": "${steps.after.output}"}},
                ]},
            ],
            "output": "${steps.work.output}",
        }
    )  # fmt: skip
    result = await outcome(shop, UNITTEST, plan=plan)
    assert result.output["fixed"] == ["test_shop.A.test_bad"]
    assert (result.output["ok"], result.output["all_pass"]) == (True, True)
    assert seen(shop) == before


async def test_thousands_of_tests_are_known_by_name_and_expressions_can_still_look_at_the_report(shop):
    cases = [
        f'<testcase classname="tests.some.module_{n % 50}.TestThing" name="test_number_{n}"/>' for n in range(9_000)
    ]
    for name, kept in (("all", cases), ("less", [*cases[1:], '<testcase name="new"><skipped/></testcase>'])):
        write(shop, {f"{name}.xml": f"<testsuite>{''.join(kept)}</testsuite>"})
    step = {"plan": "coding.prove", "with": {"command": ["cp", "all.xml", "out.xml"], "report": "out.xml"}}
    again = {"command": ["cp", "less.xml", "out.xml"], "before": "${steps.a.output.report}"}
    plan = Plan.model_validate(
        {
            "steps": [
                {"id": "a", **step},
                {"id": "whole", "decide": "steps.a.output.report != null && steps.a.output.report.ok ? 'b' : 'bad'", "choices": ["b", "bad"]},
                {"id": "bad", "fail": "it is not"},
                {"id": "b", **step, "with": {**step["with"], **again}},
            ],
            "output": "${steps.b.output.compared}",
        }
    )  # fmt: skip
    async with opened(shop) as engine:
        result = await asyncio.wait_for((await engine.start(plan)).result(), 120)
    assert (result.status, result.output["ok"], result.output["fewer"]) == ("succeeded", False, 1), result.failure
    assert result.output["gone"] == ["tests.some.module_0.TestThing.test_number_0"]


# ------------------------------------------------------------------------------- kills


async def to_the_end(shop, turn):
    """Die at a turn and go on; whether there was such a turn, and the report."""
    journal = MemoryJournal()
    settings = {"tools": TOOLS, "plans": plans(), "workspace": shop, "path": shop.parent / "runs.db"}
    was_there = await dying(journal, turn, "lose", _ended, **settings)
    more = {"journal": Disk(journal), "resume": True}
    async with opened(shop, **more) as engine:
        for run in await journal.runs():
            result = await asyncio.wait_for(engine.run(run.id).result(), 60)
            assert result.output["failed"] == 1
            assert [each["test"] for each in result.output["failures"]] == ["test_shop.A.test_bad"]
            await assert_replays(journal, run.id)
    return was_there


async def _ended(engine):
    return await (await engine.start(plans()["coding.test"], {"command": UNITTEST})).result()


def test_e5_killed_at_every_turn_the_report_is_the_same(shop):
    before = seen(shop)
    for turn in range(1, 40):
        if not asyncio.run(to_the_end(shop, turn)):
            break
    assert 4 < turn < 39
    assert seen(shop) == before
