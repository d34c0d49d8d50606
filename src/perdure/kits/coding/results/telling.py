"""A report in one line, for people."""

from collections.abc import Sequence
from typing import Final

from perdure.kits.coding.results.report import WHOLE, Report

FEW: Final = 3
"""Tests that a line names."""
LONGEST: Final = 200
"""Letters that a line says of why nothing could be run."""


def summary_of(report: Report) -> str:
    """A report in one line."""
    if report.broken is not None and report.empty:
        return report.broken
    if report.broken is not None:
        why = report.broken.partition("\n")[0]
        return f"the tests could not be run: {why if len(why) <= LONGEST else why[: LONGEST - 1] + '…'}"
    counts = _counts(report)
    told = "; ".join(each for each in (counts, _failing(report), _flaky(report)) if each)
    return told or "the command has ended well; which tests it ran is not known"


def named(tests: Sequence[str]) -> str:
    """Some tests by name, and how many there are besides."""
    told = ", ".join(tests[:FEW])
    return f"{told} and {len(tests) - FEW} more" if len(tests) > FEW else told


def _counts(report: Report) -> str:
    counts = {"failed": report.failed, "errors": report.errors, "passed": report.passed, "skipped": report.skipped}
    return ", ".join(f"{n} {kind}" for kind, n in counts.items() if n or (kind == "passed" and n is not None))


def _failing(report: Report) -> str:
    tests = list(dict.fromkeys(report.failing.values()))
    if tests == [WHOLE]:
        return f"{WHOLE} failed: {report.failures[0].message}"
    return f"failing: {named(tests)}" if tests else ""


def _flaky(report: Report) -> str:
    return f"flaky, once failed and once passed: {named(report.flaky)}" if report.flaky else ""
