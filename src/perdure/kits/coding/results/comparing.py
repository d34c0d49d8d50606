"""The tests before and after a change: what it has mended, and what it has broken."""

from pydantic import BaseModel

from perdure.kits.coding.results.reading import NO_TESTS
from perdure.kits.coding.results.report import WHOLE, Report, identity
from perdure.kits.coding.results.telling import named


class Comparison(BaseModel):
    """What has become of the tests."""

    ok: bool
    """Whether it is known that nothing fails that did not fail before. What failed before may still fail."""
    all_pass: bool
    """Whether nothing fails at all: the tests could be run, and every one has passed, if need be the second time."""
    fixed: list[str] = []
    broken_now: list[str] = []
    """Tests that fail now and did not fail before."""
    still: list[str] = []
    """Tests that fail now as before; one that was flaky before is among them."""
    unsure: list[str] = []
    """Tests that fail now and of which nobody knows whether they did before."""
    fewer: int = 0
    """How many tests there are less than before, as far as it is known: one that is gone does not fail."""
    summary: str = ""


def compare(before: Report | None, after: Report | None) -> Comparison:
    """What has become of the tests. None: there was nothing to compare with, or there is nothing that runs them."""
    if after is None:
        return Comparison(ok=True, all_pass=False, summary="no tests were run")
    if after.empty and (before is None or before.empty):
        return Comparison(ok=True, all_pass=False, summary=NO_TESTS)
    is_first, before = before is None, before or Report(ok=True, how=after.how)
    was, now = {**before.failing, **{identity(each): each for each in before.flaky}}, after.failing
    was.pop(WHOLE, None)  # who knows which test that was
    fresh = [name for test, name in now.items() if test not in was]
    made = Comparison(
        ok=after.broken is None and after.is_named and not fresh,
        all_pass=after.ok,
        fixed=_fixed(before, after),
        broken_now=fresh if before.is_named else [],
        still=[name for test, name in now.items() if test in was],
        unsure=[] if before.is_named else fresh,
        fewer=max(0, (before.total or 0) - after.total) if after.total is not None else 0,
    )
    return made.model_copy(update={"summary": _first(after) if is_first else _summary(made, after)})


def _fixed(before: Report, after: Report) -> list[str]:
    """What has failed and does not any more, if that can be told."""
    if after.broken is not None or not after.is_named:
        return []
    return [name for test, name in before.failing.items() if test not in after.failing and (after.ok or test != WHOLE)]


def _first(report: Report) -> str:
    """What there is to say before anything was changed: nothing is broken by anybody then."""
    return _all(report.passed) if report.ok else report.summary


def _summary(made: Comparison, after: Report) -> str:
    if after.broken is not None:
        return after.summary
    parts = {"fixed": made.fixed, "broken now": made.broken_now, "still failing": made.still}
    told = [f"{word}: {named(tests)}" for word, tests in parts.items() if tests]
    told += [f"failing, and nobody knows whether before: {named(made.unsure)}"] if made.unsure else []
    told += [f"{made.fewer} fewer than before"] if made.fewer else []
    told += [_all(after.passed)] if made.all_pass else []
    return "; ".join(told) or after.summary


def _all(passed: int | None) -> str:
    return "the one test passes" if passed == 1 else f"all {passed} tests pass" if passed else "all tests pass"
