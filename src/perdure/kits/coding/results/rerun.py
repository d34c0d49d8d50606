"""What follows from one run of the tests, or from two with nothing changed in between."""

from collections.abc import Collection
from dataclasses import replace

from perdure.kits.coding.results.found import Found, Ran
from perdure.kits.coding.results.naming import written
from perdure.kits.coding.results.reading import NO_TESTS, Reading, reading
from perdure.kits.coding.results.report import KNOWN, LISTED, NAMED, WHOLE, Report, identity
from perdure.kits.coding.results.telling import summary_of


def report_of(ran: Ran, again: Ran | None = None, lost: str = "", before: Report | None = None) -> Report:
    """What came of the tests. `lost`: why a second run gave nothing.

    What did not fail `before` is told first: only so many failures are told in full.
    """
    old = {*before.failing, *map(identity, before.flaky)} if before else set[str]()
    first = reading(ran)
    if again is None:
        notes = (f"the tests were run a second time, which told nothing: {lost}",) if lost else ()
        return _report(replace(first, notes=first.notes + notes), first.found.flaky, old)
    second = reading(again)
    seconds = round(first.seconds + second.seconds, 3)
    if second.broken is not None or first.broken is not None:
        notes = (
            f"the tests were run a second time, which told nothing: {second.broken or 'the first did not either'}",
        )
        return _report(replace(first, notes=first.notes + notes, seconds=seconds), first.found.flaky, old)
    return _report(_both(first, replace(second, seconds=seconds)), _flaky(first, second), old)


def broken(why: str) -> Report:
    """What is said of tests that did not come to their end."""
    return _told(Report(ok=False, how="exit_code", more=None, broken=why))


# ------------------------------------------------------------------------------- twice


def _both(first: Reading, second: Reading) -> Reading:
    """What still fails: all of the second run, and what has failed before and is not known to have passed since."""
    left = [
        each
        for each in first.failures
        if identity(each.test) not in second.failing and not _has_passed(identity(each.test), second, first)
    ]
    notes = tuple(dict.fromkeys(first.notes + second.notes))
    return replace(second, found=_all_of(first.found, second.found), failures=(*second.failures, *left), notes=notes)


def _all_of(first: Found, second: Found) -> Found:
    """The second run, with all tests that were run in either."""
    if first.ran is None or second.ran is None:
        return second
    whole = replace(second, ran=max(first.ran, second.ran))
    if first.passing is None or second.passing is None:
        return whole
    return replace(whole, passing=first.passing | second.passing, skipping=first.skipping | second.skipping)


def _flaky(first: Reading, second: Reading) -> tuple[str, ...]:
    """Tests that have failed in one run and passed in the other."""
    mixed = [each.test for test, each in first.failing.items() if _has_passed(test, second, first)]
    mixed += [each.test for test, each in second.failing.items() if _has_passed(test, first, second)]
    return tuple(dict.fromkeys((*first.found.flaky, *second.found.flaky, *mixed)))


def _has_passed(test: str, run: Reading, other: Reading) -> bool:
    """Whether a test that has failed in the other run is known to have passed in this one.

    Not to be among those that failed is not enough: a run can end before it comes to it. But where all went well, or as
    many tests as before have come to an end and all that failed are named, it did.
    """
    if test in run.failing:
        return False
    if run.is_ok or test == WHOLE:
        return run.is_ok
    if run.found.passing is not None:
        return any(each == test or each.startswith(f"{test}.") for each in run.found.passing)
    as_many = run.found.total is not None and run.found.total == other.found.total
    return as_many and run.found.is_complete


# ------------------------------------------------------------------------------- told


def _report(run: Reading, flaky: tuple[str, ...], old: Collection[str]) -> Report:
    found = run.found
    failures = sorted(run.failures, key=lambda each: identity(each.test) in old)
    listed, others = failures[:LISTED], failures[LISTED:]
    known = sum(each.test != WHOLE for each in listed)
    more = None if found.bad is None else max(found.bad, known + len(others)) - known
    made = Report(
        ok=run.is_ok,
        how=found.how,
        passed=found.passed,
        failed=found.failed,
        errors=found.errors,
        skipped=found.skipped,
        failures=listed,
        also=[each.test for each in others][:NAMED],
        more=more,
        flaky=list(flaky)[:NAMED],
        broken=run.broken,
        empty=run.broken == NO_TESTS,
        notes=list(run.notes),
        seconds=run.seconds,
        ran=found.ran,
        known=_known(found, run.failing),
    )
    return _told(made)


def _known(found: Found, failing: Collection[str]) -> str | None:
    """Which tests have passed and which were skipped, if that is said and not too long."""
    if found.passing is None:
        return None
    passing = found.passing.difference(failing)
    text = written(passing, found.skipping.difference(passing, failing))
    return text if len(text) <= KNOWN else None


def _told(report: Report) -> Report:
    return report.model_copy(update={"summary": summary_of(report)})
