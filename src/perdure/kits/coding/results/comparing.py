"""The tests before and after a change: what it has mended, and what it has broken."""

from collections.abc import Iterator

from pydantic import BaseModel

from perdure.kits.coding.results.losing import Lost, lost, mended
from perdure.kits.coding.results.reading import NO_TESTS
from perdure.kits.coding.results.report import NAMED, WHOLE, Report, identity
from perdure.kits.coding.results.telling import named


class Comparison(BaseModel):
    """What has become of the tests."""

    ok: bool
    """Whether it is known that nothing is worse: nothing fails that did not fail before, and as many tests are run.

    What failed before may still fail.
    """
    all_pass: bool
    """Whether besides nothing fails at all: every test that is run has passed, if need be the second time."""
    before: list[str] = []
    """Tests that failed before."""
    fixed: list[str] = []
    """Of these, the ones that pass now; one that is skipped now or gone is not fixed."""
    broken_now: list[str] = []
    """Tests that fail now and did not fail before."""
    still: list[str] = []
    """Tests that fail now as before; one that was flaky before is among them."""
    unsure: list[str] = []
    """Tests that fail now and of which nobody knows whether they did before."""
    skipped_now: list[str] = []
    """Tests that have passed or failed before and are skipped now."""
    gone: list[str] = []
    """Tests that have passed or failed before and are not there now, or not by that name; many are not all named."""
    fewer: int = 0
    """How many tests less than before have passed or failed, as far as it is known."""
    summary: str = ""


def compare(before: Report | None, after: Report | None) -> Comparison:
    """What has become of the tests. None: there was nothing to compare with, or there is nothing that runs them."""
    if after is None:
        return Comparison(ok=before is None or before.empty, all_pass=False, summary="no tests were run")
    if after.empty and (before is None or before.empty):
        return Comparison(ok=True, all_pass=False, summary=NO_TESTS)
    left = lost(before, after) if before else Lost()
    made = _compared(before or Report(ok=True, how=after.how), after, left)
    summary = _summary(made, after, left) if before else _first(after)
    return made.model_copy(
        update={"summary": summary, "skipped_now": made.skipped_now[:NAMED], "gone": made.gone[:NAMED]}
    )


def _compared(before: Report, after: Report, left: Lost) -> Comparison:
    was, now = {**before.failing, **{identity(each): each for each in before.flaky}}, after.failing
    was.pop(WHOLE, None)  # who knows which test that was
    fresh = [name for test, name in now.items() if test not in was]
    is_ok = after.broken is None and after.is_named and not fresh and not left.is_worse
    return Comparison(
        ok=is_ok,
        all_pass=is_ok and after.ok and after.passed != 0,
        before=list(before.failing.values()),
        fixed=list(mended(before, after, left)) if after.broken is None and after.is_named else [],
        broken_now=fresh if before.is_named else [],
        still=[name for test, name in now.items() if test in was],
        unsure=[] if before.is_named else fresh,
        skipped_now=list(left.skipped),
        gone=list(left.gone),
        fewer=left.fewer,
    )


def _first(report: Report) -> str:
    """What there is to say before anything was changed: nothing is broken by anybody then."""
    return _all(report.passed) if report.ok and report.passed != 0 else report.summary


def _summary(made: Comparison, after: Report, left: Lost) -> str:
    if after.broken is not None:
        return after.summary
    parts = {"fixed": made.fixed, "broken now": made.broken_now, "skipped now": made.skipped_now}
    parts |= {"not run any more": made.gone, "still failing": made.still}
    told = [f"{word}: {named(tests)}" for word, tests in parts.items() if tests]
    told += [f"failing, and nobody knows whether before: {named(made.unsure)}"] if made.unsure else []
    told += _lacking(left)
    told += [_all(after.passed)] if made.all_pass else []
    return "; ".join(told) or after.summary


def _lacking(left: Lost) -> Iterator[str]:
    """What is known of tests that nobody can name."""
    if left.fewer:
        yield f"{left.fewer} fewer than before are run"
    if left.more_skipped and not left.is_named:
        yield f"{left.more_skipped} more than before are skipped"
    if left.is_vaguer:
        yield "less is told of the tests than before, and nobody knows whether all of them are run"


def _all(passed: int | None) -> str:
    return "the one test passes" if passed == 1 else f"all {passed} tests pass" if passed else "all tests pass"
