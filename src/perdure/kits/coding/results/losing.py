"""Tests that were run before a change and are not any more: skipped, deleted, or not told of.

A test that has another name now is gone, and a new one has come: so the names of tests that are gone are told, and how
many are run decides.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from perdure.kits.coding.results.report import WHOLE, Report

_TELLING: Final = {"exit_code": 0, "pytest": 1, "unittest": 1, "junit": 2}
"""How much is known of tests by what they were read from: nothing, how many, which."""


@dataclass(frozen=True, slots=True)
class Lost:
    """What is not there any more."""

    skipped: tuple[str, ...] = ()
    """Tests that were run before and are skipped now."""
    gone: tuple[str, ...] = ()
    """Tests that were run before and are neither run nor skipped now, or have another name."""
    fewer: int = 0
    """How many tests less are run."""
    is_named: bool = True
    """Whether all that were skipped and that are gone are known by name."""
    more_skipped: int = 0
    """How many more are skipped."""
    is_vaguer: bool = False
    """Whether less is told of the tests than before, such as where a file is not written any more."""

    @property
    def is_worse(self) -> bool:
        """Whether less is proven than before."""
        by_another_name = self.more_skipped and (self.gone or not self.is_named)
        return bool(self.skipped or self.fewer or by_another_name or self.is_vaguer)


def lost(before: Report, after: Report) -> Lost:
    """What is not there any more, as far as anybody knows; tests that could not be run at all tell nothing."""
    if before.broken is not None or after.broken is not None:
        return Lost()
    fewer = max(0, before.ran - after.ran) if before.ran is not None and after.ran is not None else 0
    is_vaguer = _telling(after) < _telling(before)
    if before.known is None or after.known is None:
        more = max(0, (after.skipped or 0) - (before.skipped or 0))
        return Lost(fewer=fewer, is_named=False, more_skipped=more, is_vaguer=is_vaguer)
    more = max(0, len(after.skipping) - len(before.skipping))
    return Lost(*_named(before, after), fewer=fewer, more_skipped=more, is_vaguer=is_vaguer)


def mended(before: Report, after: Report, left: Lost) -> Iterator[str]:
    """The tests that have failed before and are known to pass now."""
    passing = None if before.known is None or after.passing is None else _Tests(after.passing)
    for test, name in before.failing.items():
        if test in after.failing:
            continue
        if test == WHOLE:
            yield from (name,) if after.ok else ()
        elif passing is not None:
            yield from (name,) if passing.have(test) else ()
        elif not left.is_worse:
            yield name


def _telling(report: Report) -> int:
    return 0 if report.ran is None else _TELLING[report.how]


def _named(before: Report, after: Report) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tests that are skipped now, and those that are gone."""
    was = {**{each: each for each in sorted(before.passing or ())}, **before.failing}
    was.pop(WHOLE, None)
    run, skipping = _Tests([*(after.passing or ()), *after.failing]), _Tests(after.skipping)
    left = {test: name for test, name in was.items() if not run.have(test)}
    skipped = {test: name for test, name in left.items() if skipping.have(test)}
    return tuple(skipped.values()), tuple(name for test, name in left.items() if test not in skipped)


class _Tests:
    """Some tests. A file that fails as a whole stands for the tests in it, and these for the file."""

    def __init__(self, tests: Iterable[str]) -> None:
        self._tests: Final = frozenset(tests)
        self._around: Final = frozenset(part for each in self._tests for part in _around(each))

    def have(self, test: str) -> bool:
        """Whether a test is among them, or a part of it, or what it is a part of."""
        return test in self._tests or test in self._around or not self._tests.isdisjoint(_around(test))


def _around(test: str) -> Iterator[str]:
    """What a test is a part of: itself with other values, its class, its file."""
    name, bracket, _ = test.partition("[")
    if bracket:
        yield name
    while "." in name:
        name = name.rpartition(".")[0]
        yield name
