"""E22: what tests say is read: which failed, how, whether they always do, and what a change has made of them.

The programs are real: pytest and unittest run on small projects, and what they say is what is read.
"""

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tested_projects import MIXED, PLAIN, ran, write

from perdure.kits.coding.results import Failing, Ran, Report, broken, compare, report_of
from perdure.kits.coding.results.found import DETAIL
from perdure.kits.coding.results.naming import written
from perdure.kits.coding.results.report import identity

ON = "--continue-on-collection-errors"
MIXED_TESTS = [
    *(f"tests/test_a.py::{each}" for each in (
        "Old::test_parts", "Old::test_parts", "TestCart::test_both", "TestCart::test_both", "TestCart::test_total", "test_never", "test_sum",
        "test_unexpected", "test_value[a - b]", "test_value[c[d]]", "test_value[x::y]",
    )),
    "tests/test_gone.py",
]  # fmt: skip


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    files = {"tests/__init__.py": "", "tests/test_a.py": MIXED, "tests/test_gone.py": "import nothing_here"}
    return write(tmp_path_factory.mktemp("mixed"), files)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return write(tmp_path_factory.mktemp("plain"), {"test_u.py": PLAIN})


def project(tmp_path, **files):
    return write(tmp_path, {f"{name}.py": text for name, text in files.items()})


def names(report):
    return sorted(each.test for each in report.failures)


def counts(report):
    return report.passed, report.failed, report.errors, report.skipped


# ------------------------------------------------------------------------------- pytest


def test_e22_a_junit_file_tells_all_failures_by_the_names_that_pytest_gives_them(mixed):
    report = report_of(ran(mixed, "-m", "pytest", ON, report=True))
    assert (report.ok, report.how, counts(report), report.more, report.broken) == (
        False,
        "junit",
        (1, 9, 3, 2),
        0,
        None,
    )
    assert names(report) == MIXED_TESTS
    told = {each.test: each for each in report.failures}
    assert told["tests/test_gone.py"].message == "ModuleNotFoundError: No module named 'nothing_here'"
    assert told["tests/test_a.py::TestCart::test_total"].message == "ValueError: two"
    assert "tests/test_a.py:7: AssertionError" in told["tests/test_a.py::test_sum"].detail
    assert report.summary.startswith("9 failed, 3 errors, 1 passed, 2 skipped; failing: tests/test_gone.py, ")


@pytest.mark.parametrize("option", ["", "-q", "-v", "-vv", "--color=yes", "-rA", "--tb=short", "-pxdist.plugin -n1"])
def test_e22_without_a_file_what_pytest_says_is_read_however_it_says_it(mixed, option):
    report = report_of(ran(mixed, "-m", "pytest", ON, *option.split()))
    assert (report.ok, report.how, counts(report), report.more) == (False, "pytest", (2, 9, 3, 2), 0)
    assert names(report) == MIXED_TESTS
    told = {each.message: each for each in report.failures}
    assert told["ValueError: two"].detail
    assert told[
        "[part] (i=0): AssertionError: 0 != 1" if "-n1" not in option else "[part] (i='0'): AssertionError: 0 != 1"
    ].detail
    assert not re.search("\x1b", report.model_dump_json())


def test_without_details_names_and_messages_are_left(mixed):
    report = report_of(ran(mixed, "-m", "pytest", ON, "--tb=no"))
    assert names(report) == MIXED_TESTS
    assert "AssertionError: itself" in {each.message for each in report.failures}


def test_where_pytest_gives_no_numbers_none_are_made_up(mixed):
    report = report_of(ran(mixed, "-m", "pytest", ON, "-qq"))
    assert (names(report), counts(report), report.more) == (MIXED_TESTS, (None,) * 4, 0)


def test_where_it_gives_no_summary_headings_name_the_tests(mixed):
    report = report_of(ran(mixed, "-m", "pytest", ON, "-rN"))
    assert (counts(report), report.more, len(report.failures)) == ((2, 9, 3, 2), 0, 12)
    assert {"test_sum", "TestCart.test_total", "tests/test_gone.py"} < set(names(report))


def test_where_it_names_nothing_at_all_the_numbers_stand(mixed):
    report = report_of(ran(mixed, "-m", "pytest", ON, "-q", "-rN", "--tb=no"))
    assert (report.ok, counts(report), report.more) == (False, (2, 9, 3, 2), 12)
    assert names(report) == ["the whole command"]


def test_all_that_pass_are_ok_with_and_without_a_file(tmp_path):
    made = project(tmp_path, test_a="def test_a(): print('3 failed in 0.1s')\ndef test_b(): pass")
    for file, how in ((True, "junit"), (False, "pytest")):
        report = report_of(ran(made, "-m", "pytest", "-s" if file else "-q", report=file))
        assert (report.ok, report.how, counts(report), report.failures, report.summary) == (
            True,
            how,
            (2, 0, 0, 0),
            [],
            "2 passed",
        )


def test_sessions_one_after_the_other_are_added_up(tmp_path):
    made = project(tmp_path, test_a="def test_a(): pass", test_b="def test_b(): assert 0\ndef test_c(): pass")
    first, second = ran(made, "-m", "pytest", "test_a.py"), ran(made, "-m", "pytest", "test_b.py")
    report = report_of(Ran(code=1, stdout=first.stdout + second.stdout))
    assert (counts(report), names(report)) == ((2, 1, 0, 0), ["test_b.py::test_b"])


# ------------------------------------------------------------------------------- unittest


@pytest.mark.parametrize("option", ["", "-v", "-q", "-b"])
def test_e22_what_unittest_says_is_read(plain, option):
    report = report_of(ran(plain, "-m", "unittest", *filter(None, [option]), "test_u", "nowhere"))
    assert (report.ok, report.how, counts(report), report.more) == (False, "unittest", (1, 4, 3, 2), 0)
    told = {(each.test, each.message) for each in report.failures}
    assert told == {
        ("test_u.Cart.test_raising", "ValueError: two"),
        ("test_u.Shut.setUpClass", "OSError: shut"),
        ("nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
        ("test_u.Cart.test_parts", "[part] (i=0): AssertionError: 0 != 1"),
        ("test_u.Cart.test_parts", "[part] (i=2): AssertionError: 2 != 1"),
        (
            "test_u.Cart.test_sum",
            "AssertionError: {'a': 1} != {'a': 2, 'b': [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10[73 chars] 29]}",
        ),
        ("test_u.Cart.test_unexpected", "it was expected to fail, and has passed"),
    }
    assert all(each.detail for each in report.failures if "expected to fail" not in each.message)


def test_one_test_is_the_same_test_whoever_runs_it(tmp_path):
    made = project(tmp_path, test_u=PLAIN)
    found = [report_of(ran(made, "-m", *words)).failing for words in (["unittest", "test_u"], ["pytest"])]
    found.append(report_of(ran(made, "-m", "pytest", report=True)).failing)
    assert set(found[1]) == set(found[2])
    assert set(found[0]) - {"test_u.Shut.setUpClass"} == set(found[1]) - {"test_u.Shut.test_never"}


def test_names_of_an_older_unittest_are_the_same():
    text = "=" * 70 + "\nFAIL: test_sum (tests.Cart)\n" + "-" * 70 + '\nTraceback\n  File "x"\nAssertionError: no\n\n'
    report = report_of(Ran(code=1, stderr=text + "-" * 70 + "\nRan 2 tests in 0.1s\n\nFAILED (failures=1)\n"))
    assert [(each.test, each.message) for each in report.failures] == [("tests.Cart.test_sum", "AssertionError: no")]
    assert counts(report) == (1, 1, 0, 0)


# ------------------------------------------------------------------------------- any command


def test_of_any_command_the_exit_code_is_believed(tmp_path):
    good = report_of(ran(tmp_path, "sh", "-c", "echo fine"))
    assert (good.ok, good.how, counts(good)) == (True, "exit_code", (None,) * 4)
    bad = report_of(ran(tmp_path, "sh", "-c", "echo why >&2; exit 3"))
    assert (bad.ok, bad.how, bad.more, bad.broken) == (False, "exit_code", None, None)
    assert bad.failures == [Failing(test="the whole command", message="it ended with code 3", detail="why")]
    assert bad.summary == "the whole command failed: it ended with code 3"


def test_a_bad_code_is_never_taken_for_good_even_if_all_tests_pass(tmp_path):
    made = project(
        tmp_path, test_a="def test_a(): pass", conftest="def pytest_sessionfinish(session): session.exitstatus = 7"
    )
    report = report_of(ran(made, "-m", "pytest", report=True))
    assert (report.ok, counts(report), names(report)) == (False, (1, 0, 0, 0), ["the whole command"])
    assert report.failures[0].message == "it ended with code 7, although no test has failed"


def test_a_failure_is_never_taken_for_good_even_if_the_code_is(tmp_path):
    made = project(tmp_path, test_a="def test_a(): assert 0")
    for file in (True, False):
        assert not report_of(ran(made, "-m", "pytest", report=file).model_copy(update={"code": 0})).ok


# ------------------------------------------------------------------------------- what could not be run


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["-m", "pytest"], "no tests ran"),
        (["-m", "unittest"], "no tests ran"),
        (["-m", "pytest", "--nope"], "pytest could not begin: python -m pytest: error: unrecognized arguments: --nope"),
        (["-m", "pytest", "gone.py"], "pytest could not begin: ERROR: file or directory not found: gone.py"),
        (["-m", "nothing"], "the program that runs the tests is not there: "),
        (["sh", "-c", "nothing"], "the command is not there in the sandbox, or cannot be run: sh: 1: nothing: not found"),
        (["sh", "-c", "echo working; kill -KILL $$"], "it was ended by SIGKILL: working"),
    ],
)  # fmt: skip
def test_a_command_that_cannot_run_tests_is_broken_and_that_is_no_failing_test(tmp_path, words, why):
    for file in (True, False):
        report = report_of(ran(tmp_path, *words, report=file))
        assert (report.ok, report.failures) == (False, [])
        assert report.broken.startswith(why)
        assert report.empty is (why == "no tests ran")
        assert report.summary.startswith(why if report.empty else f"the tests could not be run: {why}")


@pytest.mark.parametrize(
    ("conftest", "why"),
    [
        ("import nothing_here", "pytest could not begin: E   ModuleNotFoundError: No module named 'nothing_here'"),
        ("def pytest_collection_modifyitems(): 1 / 0", "pytest has broken down: INTERNALERROR> ZeroDivisionError"),
    ],
)
def test_what_breaks_pytest_itself_is_told(tmp_path, conftest, why):
    report = report_of(
        ran(project(tmp_path, conftest=conftest, test_a="def test_a(): pass"), "-m", "pytest", report=True)
    )
    assert (report.ok, report.broken.startswith(why)) == (False, True), report.broken


def test_codes_of_pytest_mean_nothing_where_there_is_no_pytest(tmp_path):
    for code in (2, 3, 4, 5):
        report = report_of(ran(tmp_path, "sh", "-c", f"exit {code}"))
        assert (report.broken, names(report)) == (None, ["the whole command"])


def test_files_that_cannot_be_collected_are_failures(tmp_path):
    report = report_of(ran(project(tmp_path, test_a="import nothing_here"), "-m", "pytest", report=True))
    assert (report.broken, names(report)) == (None, ["test_a.py"])


# ------------------------------------------------------------------------------- junit


def junit(text, code=1, **more):
    return report_of(Ran(code=code, collected={"r.xml": text}, **more))


def test_junit_of_other_programs_is_read():
    text = """<?xml version="1.0"?>
<testsuites xmlns="urn:x"><testsuite name="outer"><testsuite name="inner">
  <testcase classname="app.Cart" name="adds"/>
  <testcase classname="app.Cart" name="breaks"><failure message="expected 1&#10;got 2" type="E">at <![CDATA[<cart>]]> line 3</failure></testcase>
  <testcase name="crashes"><error>Segfault\nsomewhere</error><system-out>noise</system-out></testcase>
  <testcase name="left out"><skipped/></testcase>
  <testcase name="wavers"><flakyFailure message="once">no</flakyFailure></testcase>
</testsuite></testsuite></testsuites>"""
    report = junit(text)
    assert (report.how, counts(report), report.flaky) == ("junit", (2, 1, 1, 1), ["wavers"])
    assert report.failures == [
        Failing(test="app.Cart.breaks", message="expected 1", detail="at <cart> line 3"),
        Failing(test="crashes", message="Segfault", detail="Segfault\nsomewhere"),
    ]


def test_several_files_are_read_together():
    one = '<testsuite><testcase name="{}"><failure message="no"/></testcase></testsuite>'
    report = report_of(
        Ran(
            code=1,
            collected={"a.xml": one.format("a"), "b.xml": one.format("b"), "notes.txt": "<b>", "p.xml": "<pom/>"},
        )
    )
    assert (names(report), report.notes) == (["a", "b"], [])


def test_reports_of_a_pytest_that_the_tests_have_started_themselves_do_not_count(tmp_path):
    """As in projects that try their own plugins: what fails in there was to fail."""
    inner = "subprocess.run([sys.executable, '-m', 'pytest'], cwd='inner').returncode == 1"
    files = {
        "test_a.py": f"import subprocess, sys\ndef test_a(): assert {inner}",
        "inner/test_b.py": "def test_b(): assert 0",
    }
    done = ran(write(tmp_path, files), "-m", "pytest", "test_a.py", report=True)
    assert sorted(done.collected) == ["inner/perdure-tests.xml", "perdure-tests.xml"]
    assert (report_of(done).ok, counts(report_of(done))) == (True, (1, 0, 0, 0))


LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>'
OUTSIDE = '<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuite><testcase name="a"/></testsuite>'
ENTITY = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&a;"/></testsuite>'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LAUGHS, "it declares a document type"), (OUTSIDE, "it declares a document type"), (ENTITY, "it declares a document type"),
        ('<testsuite><testcase name="&b;"/></testsuite>', "undefined entity"),
        ('<testsuite><testcase name="a">', "no element found"),
        ("<testsuite\0/>", "not well-formed"),
        ("<testsuite></wrong>", "mismatched tag"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_told_and_what_was_said_is_read_instead(tmp_path, text, why):
    said = ran(project(tmp_path, test_a="def test_a(): assert 0"), "-m", "pytest")
    report = report_of(said.model_copy(update={"collected": {"r.xml": text}}))
    assert (report.how, names(report)) == ("pytest", ["test_a.py::test_a"])
    assert why in report.notes[0]
    assert report.notes[0].startswith("r.xml cannot be read (")
    assert "root:" not in report.model_dump_json()


def test_a_file_cut_at_any_place_never_makes_a_bad_run_good(mixed):
    whole = ran(mixed, "-m", "pytest", ON, report=True)
    text = whole.collected["perdure-tests.xml"]
    for at in range(0, len(text), 97):
        report = report_of(whole.model_copy(update={"collected": {"r.xml": text[:at]}}))
        assert (report.ok, report.how, names(report)) == (False, "pytest", MIXED_TESTS)


def test_of_a_file_that_is_cut_the_failures_before_are_told_where_nobody_else_tells_any():
    cases = "".join(f'<testcase name="t{n}"><failure message="no">{"x" * 50}</failure></testcase>' for n in range(9))
    report = junit(f"<testsuite>{cases}"[:700])
    assert (report.ok, report.how, counts(report), report.more) == (False, "junit", (None,) * 4, None)
    assert 3 < len(report.failures) < 9
    assert report.notes[0].endswith("what stands before that was read instead")


def test_a_file_that_was_not_read_or_not_whole_is_told_with_why():
    """The place where reading stopped, somewhere in the middle of a large file, would tell nobody anything."""
    why = "only its first 1,048,576 bytes were read"
    report = junit(
        "<testsuite><testcase name='t'/><testca", uncollected={"r.xml": why, "more.xml": "links are not followed"}
    )
    assert report.notes == [
        f"r.xml cannot be read ({why}); what the command has said was read instead",
        "more.xml was not read: links are not followed",
    ]


def test_what_is_nested_deeply_is_read():
    assert junit("<testsuite>" + "<a>" * 100_000 + "</a>" * 100_000 + "</testsuite>", code=0).broken == "no tests ran"


# ------------------------------------------------------------------------------- much


def test_many_failures_are_bounded_and_all_named(tmp_path):
    text = "import pytest\n@pytest.mark.parametrize('n', range(70))\ndef test_n(n): assert n < 0, 'x' * 9000 + '!'"
    made = project(tmp_path, test_a=text)
    for file in (True, False):
        report = report_of(ran(made, "-m", "pytest", report=file))
        assert (len(report.failures), report.more, len(report.also)) == (50, 20, 20)
        assert report.also[-1] == "test_a.py::test_n[69]"
        assert all(len(each.detail) <= DETAIL and len(each.message) <= 500 for each in report.failures)
        assert all(each.detail.endswith("test_a.py:3: AssertionError") for each in report.failures)


@pytest.mark.parametrize("words", [["pytest"], ["pytest", "-qq"], ["unittest", "test_u"]])
def test_e22_a_text_with_its_middle_left_out_tells_what_can_be_known(tmp_path, words):
    """However much is missing: what is named has failed, what is not is counted or not known, and it is never ok."""
    made = project(tmp_path, test_u=PLAIN)
    whole = ran(made, "-m", *words)
    known = report_of(whole).failing
    for name in ("stdout", "stderr"):
        text = getattr(whole, name)
        for size in range(0, len(text), 211):
            cut = f"{text[:size]}\n… 1,000 bytes left out …\n{text[len(text) - size // 2 :]}"
            report = report_of(whole.model_copy(update={name: cut, "truncated": True}))
            assert not report.ok
            for each in report.failing:  # a heading alone tells no file
                assert each == "the whole command" or any(f".{test}".endswith(f".{each}") for test in known)
            listed = len(report.failures)
            assert report.more is None or report.failed is None or report.more + listed >= report.failed + report.errors


# ------------------------------------------------------------------------------- twice


FLAKY = """
import os, unittest
SECOND = os.environ.get("SECOND") == "1"
class A(unittest.TestCase):
    def test_good(self): pass
    def test_wavers(self): assert SECOND
    def test_turns(self): assert not SECOND or {turns}
    def test_bad(self): assert {bad}
"""


def twice(made, *words, report=False):
    return report_of(ran(made, *words, report=report), ran(made, *words, report=report, SECOND="1"))


RUNNERS = pytest.mark.parametrize(
    ("words", "file"), [(["-m", "pytest"], True), (["-m", "pytest"], False), (["-m", "unittest"], False)]
)


@RUNNERS
def test_e22_what_fails_and_then_passes_is_flaky_and_told_and_does_not_fail_the_tests(tmp_path, words, file):
    report = twice(project(tmp_path, test_f=FLAKY.format(turns=1, bad=1)), *words, report=file)
    assert (report.ok, report.failures, counts(report), report.seconds) == (True, [], (4, 0, 0, 0), 2.0)
    assert list(map(identity, report.flaky)) == ["test_f.A.test_wavers"]
    assert report.summary.startswith("4 passed; flaky, once failed and once passed: ")


@RUNNERS
def test_e22_what_fails_twice_fails_and_what_is_flaky_beside_it_is_told(tmp_path, words, file):
    report = twice(project(tmp_path, test_f=FLAKY.format(turns=1, bad=0)), *words, report=file)
    assert (report.ok, list(report.failing)) == (False, ["test_f.A.test_bad"])
    assert list(map(identity, report.flaky)) == ["test_f.A.test_wavers"]


@RUNNERS
def test_what_passes_and_then_fails_is_flaky_and_the_tests_are_not_ok(tmp_path, words, file):
    report = twice(project(tmp_path, test_f=FLAKY.format(turns=0, bad=1)), *words, report=file)
    assert (report.ok, list(report.failing)) == (False, ["test_f.A.test_turns"])
    assert sorted(map(identity, report.flaky)) == ["test_f.A.test_turns", "test_f.A.test_wavers"]


def test_a_test_that_the_second_run_did_not_come_to_is_not_called_flaky(tmp_path):
    made = project(tmp_path, test_f=FLAKY.format(turns=0, bad=1).replace("test_turns", "test_a_turns"))
    for words, file in (
        (["-m", "pytest", "-x"], True),
        (["-m", "pytest", "-x"], False),
        (["-m", "unittest", "-f"], False),
    ):
        report = twice(made, *words, report=file)
        assert (report.ok, sorted(report.failing)) == (False, ["test_f.A.test_a_turns", "test_f.A.test_wavers"])
        assert "test_f.A.test_wavers" not in map(identity, report.flaky)


def test_a_file_that_could_not_be_collected_once_is_flaky(tmp_path):
    text = "import os\nassert os.environ.get('SECOND')\ndef test_a(): pass\ndef test_b(): assert 0"
    report = twice(project(tmp_path, test_f=text), "-m", "pytest", report=True)
    assert (list(report.failing), report.flaky) == (["test_f.test_b"], ["test_f.py"])


def test_by_the_exit_code_alone_the_whole_command_is_flaky(tmp_path):
    report = twice(tmp_path, "sh", "-c", 'test "$SECOND"')
    assert (report.ok, report.flaky, report.failures) == (True, ["the whole command"], [])
    assert report.summary == "flaky, once failed and once passed: the whole command"


def test_a_second_run_that_could_not_be_run_tells_nothing(tmp_path):
    made = project(tmp_path, test_f=FLAKY.format(turns=1, bad=1))
    first = ran(made, "-m", "pytest", report=True)
    for again, lost in ((ran(made, "sh", "-c", "exit 127"), ""), (None, "it took too long")):
        report = report_of(first, again, lost)
        assert (report.ok, report.broken, list(report.failing), report.flaky) == (
            False,
            None,
            ["test_f.A.test_wavers"],
            [],
        )
        assert report.notes[0].startswith("the tests were run a second time, which told nothing: ")


# ------------------------------------------------------------------------------- before and after


def report(*failing, ok=None, passed=10, **more):
    failures = [Failing(test=each) for each in failing]
    ok = not failing if ok is None else ok
    return Report(
        ok=ok, how="pytest", passed=passed, failed=len(failing), errors=0, skipped=0, failures=failures, **more
    )


def test_e22_before_and_after_are_compared_test_by_test():
    found = compare(report("a.py::x", "a.py::y"), report("a.y", "a.py::z"))
    assert (found.ok, found.all_pass) == (False, False)
    assert (found.fixed, found.broken_now, found.still) == (["a.py::x"], ["a.py::z"], ["a.y"])
    assert found.summary == "fixed: a.py::x; broken now: a.py::z; still failing: a.y"


def test_what_failed_before_may_still_fail_and_that_is_not_all_pass():
    found = compare(report("x", "y"), report("x"))
    assert (found.ok, found.all_pass, found.before, found.still) == (True, False, ["x", "y"], ["x"])
    found = compare(report("x"), report())
    assert (found.ok, found.all_pass, found.fixed) == (True, True, ["x"])
    assert found.summary == "fixed: x; all 10 tests pass"


def test_a_flaky_test_that_fails_after_was_not_broken_by_the_change():
    found = compare(report(flaky=["x"]), report("x"))
    assert (found.ok, found.still, found.broken_now) == (True, ["x"], [])


def test_tests_that_cannot_be_run_after_are_not_ok_and_nothing_counts_as_fixed():
    found = compare(report("x"), broken("no tests ran"))
    assert (found.ok, found.all_pass, found.fixed) == (False, False, [])
    assert found.summary == "the tests could not be run: no tests ran"
    assert compare(broken("no tests ran"), report()).ok
    assert compare(broken("no tests ran"), report("x")).broken_now == ["x"]


def test_where_there_were_none_it_is_no_harm_that_there_are_none():
    none = broken("no tests ran").model_copy(update={"empty": True})
    for before in (None, none):
        found = compare(before, none)
        assert (found.ok, found.all_pass, found.summary) == (True, False, "no tests ran")
    assert not compare(report(), none).ok


def test_with_nothing_before_all_that_fails_is_new_and_with_nothing_after_nothing_is_worse():
    assert compare(None, report("x")).broken_now == ["x"]
    assert compare(None, report_of(Ran(code=1))).summary.startswith("the whole command failed")
    assert (compare(None, report()).ok, compare(None, report()).all_pass) == (True, True)
    for before, ok in ((None, True), (report("x"), False)):
        found = compare(before, None)
        assert (found.ok, found.all_pass, found.fixed, found.summary) == (ok, False, [], "no tests were run")


def test_what_nobody_knows_is_not_called_ok():
    code = report_of(Ran(code=1))
    found = compare(code, code)
    assert (found.ok, found.still, found.unsure) == (False, [], ["the whole command"])
    assert compare(code, report_of(Ran(code=0))).fixed == ["the whole command"]
    assert compare(report(), code).broken_now == ["the whole command"]
    found = compare(code, report("y"))
    assert (found.ok, found.fixed, found.unsure) == (False, [], ["y"])
    found = compare(report("x", more=5), report("y"))
    assert (found.ok, found.broken_now, found.unsure) == (False, [], ["y"])
    assert not compare(report("x"), report("x", more=5)).ok
    assert compare(report("x", more=1, also=["y"]), report("y")).still == ["y"]


def test_the_order_of_many_failures_does_not_matter(tmp_path):
    """More fail than are listed, as where a sandbox has no network: the same ones afterwards are still the same."""
    before = Ran(
        code=1,
        stdout="\n".join(
            ["== short test summary info ==", *(f"FAILED a.py::t{n} - no" for n in range(300)), "300 failed in 1.0s"]
        ),
    )
    after = Ran(
        code=1,
        stdout="\n".join(
            [
                "== short test summary info ==",
                *(f"FAILED a.py::t{n} - no" for n in range(300, 0, -1)),
                "300 failed in 1.0s",
            ]
        ),
    )
    found = compare(report_of(before), report_of(after))
    assert (found.fixed, found.broken_now, len(found.still)) == (["a.py::t0"], ["a.py::t300"], 299)


# ------------------------------------------------------------------------------- tests that get lost


GOING = """
import unittest
class A(unittest.TestCase):
    def test_a(self): pass
    def test_b(self): pass
    def test_wrong(self): assert {bad}
"""
SKIP = "    @unittest.skip('later')\n    def "


def turned(tmp_path, before, after, words, file):
    """What is said of a change of a file with tests."""
    found = [report_of(ran(project(tmp_path, test_g=text), *words, report=file)) for text in (before, after)]
    return compare(*found)


def known(names):
    return list(map(identity, names))


@RUNNERS
@pytest.mark.parametrize("bad", ["0", "1"])
def test_e22_a_test_that_is_skipped_or_deleted_is_worse_and_named(tmp_path, words, file, bad):
    before = GOING.format(bad=bad)
    for test in ("test_b", "test_wrong"):
        skipped = before.replace(f"    def {test}", f"{SKIP}{test}")
        expected = before.replace(f"    def {test}", f"    @unittest.expectedFailure\n    def {test}").replace(
            f"{test}(self): pass", f"{test}(self): assert 0"
        )
        deleted = re.sub(rf"    def {test}\(.*\n", "", before)
        for after in (skipped, deleted, *([expected] if (test, bad) != ("test_wrong", "1") else [])):
            found = turned(tmp_path, before, after, words, file)
            assert (found.ok, found.all_pass, found.fixed, found.broken_now) == (False, False, [], []), found
            assert found.fewer == 1
            assert "fewer than before are run" in found.summary
            assert "pass" not in found.summary
            if file:
                lost = [f"test_g.A.{test}"]
                assert known(found.gone if after == deleted else found.skipped_now) == lost
                assert ("not run any more" if after == deleted else "skipped now") in found.summary


@RUNNERS
def test_a_test_with_another_name_is_told_and_not_worse(tmp_path, words, file):
    before = GOING.format(bad=0)
    after = GOING.format(bad=1).replace("test_wrong", "test_good").replace("class A", "class B")
    found = turned(tmp_path, before, after, words, file)
    assert (found.ok, found.all_pass, found.fewer) == (True, True, 0)
    if file:
        assert (known(found.gone), found.fixed) == (["test_g.A.test_a", "test_g.A.test_b", "test_g.A.test_wrong"], [])
        assert "not run any more: " in found.summary


@RUNNERS
def test_a_test_that_is_renamed_and_skipped_is_worse_though_there_is_a_new_one(tmp_path, words, file):
    before = GOING.format(bad=1)
    after = before.replace("    def test_b", f"{SKIP}test_c") + "    def test_d(self): pass\n"
    found = turned(tmp_path, before, after, words, file)
    assert (found.ok, found.all_pass, found.fewer) == (False, False, 0)
    assert known(found.gone) == (["test_g.A.test_b"] if file else [])


@RUNNERS
def test_more_tests_are_never_worse_and_where_they_are_named_some_may_be_skipped(tmp_path, words, file):
    before = GOING.format(bad=1)
    more = before + "    def test_c(self): pass\n"
    assert turned(tmp_path, before, more, words, file).all_pass
    found = turned(tmp_path, before, f"{more}{SKIP}test_d(self): pass\n", words, file)
    assert (found.ok, "1 more than before are skipped" in found.summary) == (file, not file)


@RUNNERS
def test_a_whole_file_that_is_skipped_or_cannot_be_imported_any_more_is_worse(tmp_path, words, file):
    before = GOING.format(bad=1)
    leaves = f"import unittest\nraise unittest.SkipTest('no')\n{before}"
    found = turned(tmp_path, before, leaves, words, file)
    assert (found.ok, found.all_pass) == (False, False)
    found = turned(tmp_path, before, f"import nothing_here\n{before}", words, file)
    assert (found.ok, len(found.broken_now), found.skipped_now, found.gone) == (False, 1, [], [])


@RUNNERS
@pytest.mark.parametrize(
    ("bad", "good"),
    [
        ("import nothing_here\n", ""),
        ("class T(unittest.TestCase):\n    def tearDown(self): 1 / 0\n    def test_t(self): pass\n", "0"),
        ("class T(unittest.TestCase):\n    def tearDown(self): 1 / 0\n    def test_t(self): assert 0\n", "0"),
        ("class T(unittest.TestCase):\n    def setUpClass(): 1 / 0\n    def test_t(self): pass\n", "0"),
        ("class T(unittest.TestCase):\n    def tearDownClass(): 1 / 0\n    def test_t(self): pass\n", "0"),
        (
            "class T(unittest.TestCase):\n    def test_t(self):\n"
            "        for i in range(3):\n            with self.subTest(i=i): assert i == 1 or 1 / 0\n",
            "0",
        ),
    ],
)
def test_whatever_is_mended_is_not_less_than_before(tmp_path, words, file, bad, good):
    whole = f"import unittest\n{bad}" + GOING.format(bad=1)
    mended = whole.replace(bad, "") if not good else whole.replace("1 / 0", "1").replace("assert 0", "assert 1")
    found = turned(tmp_path, whole, mended, words, file)
    assert (found.ok, found.all_pass, found.still) == (True, True, [])
    assert len(found.fixed) == 1


def test_what_only_pytest_has_is_mended_as_well(tmp_path):
    text = (
        "import pytest\n@pytest.fixture\ndef f():\n    {}\n    yield\n    {}\ndef test_t(f): pass\n"
        "@pytest.mark.parametrize('n', [1, 2])\ndef test_n(n): assert n == 1 {}\n"
    )
    for wrong in (("1 / 0", "1", ""), ("1", "1 / 0", ""), ("1", "1", "")):
        for words, file in ((["-m", "pytest"], True), (["-m", "pytest"], False)):
            found = turned(tmp_path, text.format(*wrong), text.format("1", "1", "or 1"), words, file)
            assert (found.ok, found.all_pass, found.fewer, found.gone) == (True, True, 0, [])


def test_a_file_or_a_class_that_is_skipped_as_a_whole_stands_for_its_tests(tmp_path):
    other = write(tmp_path, {"test_o.py": "def test_o(): pass"})
    before = GOING.format(bad=1)
    for after in (
        f"import pytest\npytest.skip('no', allow_module_level=True)\n{before}",
        before.replace("class", "@unittest.skip('')\nclass"),
    ):
        found = turned(other, before, after, ["-m", "pytest"], file=True)
        assert (found.ok, known(found.skipped_now), found.gone) == (
            False,
            ["test_g.A.test_a", "test_g.A.test_b", "test_g.A.test_wrong"],
            [],
        )


def test_with_other_values_it_is_the_same_test(tmp_path):
    words = ["-m", "pytest"]
    plain = "def test_n(): assert 0"
    many = "import pytest\n@pytest.mark.parametrize('n', [1, 2])\ndef test_n(n): pass"
    found = turned(tmp_path, plain, many, words, file=True)
    assert (found.ok, found.fixed, found.gone) == (True, ["test_g.py::test_n"], [])
    found = turned(tmp_path, many, many.replace("[1, 2]", "[1]"), words, file=True)
    assert (found.ok, found.gone, found.fewer) == (False, ["test_g.test_n[2]"], 1)


def test_e22_what_tells_less_than_before_is_not_ok(tmp_path):
    """Such as a file that is not written any more, or a program that runs nothing and ends well."""
    made = project(tmp_path, test_g=GOING.format(bad=1))
    written = report_of(ran(made, "-m", "pytest", report=True))
    counted = report_of(ran(made, "-m", "pytest"))
    silent = report_of(Ran(code=0, stdout="fine"))
    for before, after in ((written, counted), (written, silent), (counted, silent)):
        found = compare(before, after)
        assert (found.ok, found.all_pass) == (False, False)
        assert "less is told of the tests than before" in found.summary
        assert compare(after, before).ok
    nothing = report_of(ran(project(tmp_path, test_g=""), "-m", "pytest", report=True))
    assert (compare(written, nothing).ok, compare(written, nothing).summary) == (False, "no tests ran")


@RUNNERS
def test_where_nothing_has_passed_nobody_says_that_all_pass(tmp_path, words, file):
    text = f"import unittest\nclass A(unittest.TestCase):\n{SKIP}test_a(self): pass\n"
    made = report_of(ran(project(tmp_path, test_g=text), *words, report=file))
    for before in (None, made):
        found = compare(before, made)
        assert (found.ok, found.all_pass, found.summary) == (True, False, "0 passed, 1 skipped")


def test_all_tests_that_were_run_in_either_of_two_runs_are_known(tmp_path):
    """With -x the second run may end earlier; what it did not come to was run all the same."""
    text = FLAKY.format(turns=0, bad=1).replace("test_turns", "test_a_turns")
    report = twice(project(tmp_path, test_f=text), "-m", "pytest", "-x", report=True)
    assert (report.passing, report.ran) == ({"test_f.A.test_bad", "test_f.A.test_good"}, 4)


@given(st.frozensets(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=30)), st.data())
def test_names_in_short_are_the_same_names(tests, data):
    passing = data.draw(st.frozensets(st.sampled_from(sorted(tests)))) if tests else frozenset()
    report = Report(ok=True, how="junit", known=written(passing, tests - passing))
    assert (report.passing, report.skipping) == (passing, tests - passing)
    assert Report(ok=True, how="junit", known="\n+x y\n+0 a\n-9").passing == {"a"}


def test_too_many_names_are_not_kept_and_tests_are_counted():
    def cases(many):
        return "".join(f'<testcase classname="{"x" * 40}{n:06}" name="a"/>' for n in range(many))

    def made(many):
        return report_of(Ran(code=0, collected={"r.xml": f"<testsuite>{cases(many)}</testsuite>"}))

    few, many = made(5_000), made(20_000)
    assert (len(few.passing), many.passing, many.ran) == (5_000, None, 20_000)
    assert (compare(few, many).ok, compare(many, made(19_999)).ok) == (True, False)


def test_names_of_any_length_are_known_again(tmp_path):
    text = "import pytest\n@pytest.mark.parametrize('n', ['x' * 700])\ndef test_n(n): assert {}"
    found = turned(tmp_path, text.format(0), text.format(1), ["-m", "pytest"], file=True)
    assert (found.ok, len(found.fixed), found.gone) == (True, 1, [])


# ------------------------------------------------------------------------------- rubbish


PIECES = st.sampled_from(
    ["=" * 70, "-" * 70, "FAIL: a (b.c)", "ERROR: ", "UNEXPECTED SUCCESS: x (", "Ran 3 tests in 0.1s", "Ran 0 tests in 0s", "OK", "FAILED (failures=2, errors=99999999999)",
     "== FAILURES ==", "== ERRORS ==", "== short test summary info ==", "_ a _", "__ ERROR at setup of x __", "_ _ _", "_", "FAILED a.py::b - c", "FAILED ", "ERROR a.py",
     "SUBFAILED[x] (i=1) a.py::b - ", "1 failed, 2 passed in 0.1s", "== 3 passed in 1s ==", "no tests ran in 0.1s", "9999999999999 failed in 1s", "E   x", "\x1b[31m", "\x1b]8;;",
     "INTERNALERROR>", "… 12 bytes left out …", "FAILED x[ - [ - ", "٣ failed in 1s"]
)  # fmt: skip
TEXT = st.lists(PIECES | st.text(max_size=30), max_size=25).map("\n".join)
MARKUP = st.lists(
    st.sampled_from(['<testsuite name="pytest">', "<testsuite>", "</testsuite>", '<testcase name="a">', "</testcase>", "<failure>", "</failure>", "<skipped/>", "<error message='x'/>", "&amp;", "&x;", "<!--", "]]>", "<!DOCTYPE x>", "\ufeff", "\0"])
    | st.text(max_size=10),
    max_size=20,
).map("".join)  # fmt: skip
RUNS = st.builds(
    Ran, code=st.integers(-300, 300), stdout=TEXT, stderr=TEXT, truncated=st.booleans(), seconds=st.floats(0, 9),
    signal=st.sampled_from(["", "SIGSEGV"]), collected=st.dictionaries(st.text(max_size=5), MARKUP, max_size=2),
)  # fmt: skip


@given(RUNS, st.none() | RUNS)
@example(Ran(code=0, stdout="=" * 200_000), None)
@example(Ran(code=1, stdout="_ " * 100_000, stderr="FAILED " + " - [" * 50_000), None)
@example(Ran(code=1, stdout="SUBFAILED" + " a" * 100_000, collected={"x": "<testsuite>" + "<testcase>" * 50_000}), None)
def test_rubbish_never_raises_and_is_never_called_good(first, second):
    found = report_of(first, second)
    last = second or first
    assert not (found.ok and (last.code != 0 or found.broken is not None or found.failures or found.failed))
    assert Report.model_validate_json(found.model_dump_json()) == found
    assert len(found.failures) <= 50
    assert "\n" not in found.summary
    assert json.loads(compare(found, found).model_dump_json())["broken_now"] == []
