"""What came of a run of tests, in one form for everybody: a plan, an agent, a person."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from perdure.kits.coding.results.naming import PASSED, SKIPPED, names

How = Literal["junit", "pytest", "unittest", "exit_code"]
WHOLE: Final = "the whole command"
"""Stands for a test where nobody knows which one it was."""
LISTED: Final = 50
"""Failures that are told in full."""
NAMED: Final = 1_000
"""Further ones that are told by name."""
KNOWN: Final = 128 * 1024
"""Letters for the names of all tests, each written in short; if they take more, tests are only counted."""


class Failing(BaseModel):
    """One failure. A test can have several: one in itself, one when it is cleared away, one for each of its parts."""

    model_config = ConfigDict(frozen=True)

    test: str
    message: str = ""
    """The first line of what was wrong."""
    detail: str = ""
    """The end of what was said about it, such as a traceback."""


class Report(BaseModel):
    """What came of the tests. Where nobody knows a number, it is null."""

    ok: bool
    """Whether the tests were run and none has failed, but perhaps flaky ones that have passed the second time."""
    how: How
    """What it was read from."""
    passed: int | None = None
    failed: int | None = None
    errors: int | None = None
    skipped: int | None = None
    failures: Annotated[list[Failing], Field(max_length=LISTED)] = []
    also: Annotated[list[str], Field(max_length=NAMED)] = []
    """The tests of failures that are not in the list."""
    more: int | None = 0
    """How many failures are not in the list; null: nobody knows."""
    flaky: list[str] = []
    """Tests that have failed once and passed once, with nothing changed in between."""
    broken: str | None = None
    """Why the tests could not be run at all."""
    empty: bool = False
    """Whether that is because there are none: something to begin with, where tests are still to be written."""
    notes: list[str] = []
    """What else has to be known to believe it."""
    seconds: float = 0.0
    summary: str = ""
    """All of it in a line."""
    ran: int | None = None
    """How many tests have passed or failed, each counted once; none that was skipped."""
    known: Annotated[str, Field(max_length=KNOWN)] | None = None
    """Which tests have passed and which were skipped, in short; null: nobody has said it, or they are too many."""

    @property
    def is_named(self) -> bool:
        """Whether all tests that have failed are named; of tests that could not be run, none has."""
        if self.ok or self.broken is not None:
            return True
        return self.more is not None and self.more <= len(self.also) and WHOLE not in self.failing

    @property
    def passing(self) -> frozenset[str] | None:
        """What each test that has passed is known again by; None: nobody has said which."""
        return None if self.known is None else frozenset(names(self.known, PASSED))

    @property
    def skipping(self) -> frozenset[str]:
        """The same of those that were skipped, where it is said which have passed."""
        return frozenset(names(self.known or "", SKIPPED))

    @property
    def failing(self) -> dict[str, str]:
        """The tests that have failed, as far as they are named: their names, by what they are known again by."""
        return {identity(each): each for each in [*(one.test for one in self.failures), *self.also]}


def identity(test: str) -> str:
    """What a test is known again by: `tests/test_a.py::A::test_b[x/y]` is `tests.test_a.A.test_b[x/y]`."""
    name, bracket, values = test.partition("[")
    path, colons, inner = name.partition("::")
    return (
        path.removesuffix(".py").replace("/", ".")
        + colons.replace("::", ".")
        + inner.replace("::", ".")
        + bracket
        + values
    )
