"""How a run of tests has gone, from whatever there is to tell: a JUnit file, what was said, or the exit code alone."""

import re
from dataclasses import dataclass, replace
from typing import Final

from perdure.kits.coding.results import junit, pytest_, unittest_
from perdure.kits.coding.results.found import MESSAGE, Found, Ran, failing, plain
from perdure.kits.coding.results.report import WHOLE, Failing, identity

NO_TESTS: Final = "no tests ran"
LAST_WORDS: Final = 800
"""Letters of the end of what a command has said."""
_NO_MODULE: Final = re.compile(r"python\S*: No module named \S+$", re.MULTILINE)
_NOT_BEGUN: Final = re.compile(r"^ERROR: |while loading conftest|: error: ", re.MULTILINE)
_MISSING: Final = frozenset({126, 127})
_USAGE, _INTERNAL, _EMPTY = 4, 3, 5


@dataclass(frozen=True, slots=True)
class Reading:
    """How one run has gone."""

    found: Found
    failures: tuple[Failing, ...]
    code: int
    seconds: float
    broken: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_ok(self) -> bool:
        """Whether it was run, and all that was run went well."""
        return self.broken is None and self.code == 0 and not self.failures and not self.found.bad

    @property
    def failing(self) -> dict[str, Failing]:
        """The first failure of each test, by its identity."""
        return {identity(each.test): each for each in reversed(self.failures)}


def reading(ran: Ran) -> Reading:
    """How a run has gone."""
    text = ran.text
    found, notes = _best(ran, text)
    broken = _broken(ran, found, text)
    failures = found.failures
    if ran.code != 0 and not failures and not broken:
        failures = (_whole(ran, found, text),)
    return Reading(found, failures, ran.code, ran.seconds, broken, notes)


def _best(ran: Ran, text: str) -> tuple[Found, tuple[str, ...]]:
    """What tells most: a file before words, and if the command has failed, whoever knows a failure."""
    said = [pytest_.read(text, is_cut=ran.truncated), unittest_.read(text)]
    try:
        written, part, why = junit.read(ran.files, ran.uncollected), None, ""
    except junit.NotJunit as error:
        written, part, why = None, error.found, f"{error}"
    known = [each for each in (_with_names(written, said[0]), *said, part) if each is not None]
    told = [each for each in known if each.total != 0] or known
    bad = [each for each in told if each.failures and ran.code != 0]
    best = (bad or told or [Found("exit_code", is_complete=ran.code == 0)])[0]
    instead = "what stands before that" if best is part else "what the command has said"
    unread = (f"{path} was not read: {no}" for path, no in ran.uncollected.items() if path not in ran.collected)
    return best, (*((f"{why}; {instead} was read instead",) if why else ()), *unread)


def _with_names(written: Found | None, said: Found | None) -> Found | None:
    """A report with tests called as pytest itself calls them, where it has said so."""
    if written is None or said is None:
        return written
    names = {identity(each.test): each.test for each in said.failures}
    called = (each.model_copy(update={"test": names.get(identity(each.test), each.test)}) for each in written.failures)
    return replace(written, failures=tuple(called))


def _whole(ran: Ran, found: Found, text: str) -> Failing:
    """Stands for the failure of which nothing is known but that there was one."""
    why = f"it ended with code {ran.code}"
    return failing(WHOLE, f"{why}, although no test has failed" if found.passed and not found.bad else why, text)


# ------------------------------------------------------------------------------- could not be run


def _broken(ran: Ran, found: Found, text: str) -> str | None:
    """Why nothing could be run, in a line; below it the command's last words."""
    why, last = _why(ran, found, text), (plain(ran.stderr).strip() or text.strip())
    if not why or not last or why == NO_TESTS:
        return why or None
    lines = [each.strip() for each in last.split("\n") if each.strip()]
    telling = next((each for each in reversed(lines) if "error" in each.lower()), lines[-1])
    return f"{why}: {telling[:MESSAGE]}\n{'…' if len(last) > LAST_WORDS else ''}{last[-LAST_WORDS:]}"


def _why(ran: Ran, found: Found, text: str) -> str:
    if ran.signal:
        return f"it was ended by {ran.signal}"
    if ran.code in _MISSING:
        return "the command is not there in the sandbox, or cannot be run"
    if found.how == "exit_code" and _NO_MODULE.search(ran.stderr):
        return "the program that runs the tests is not there"
    if why := _pytest_s_own(ran, found, text):
        return why
    return NO_TESTS if found.total == 0 and not found.failures else ""


def _pytest_s_own(ran: Ran, found: Found, text: str) -> str:
    """What pytest says by its code, where it is known to be pytest."""
    if ran.code == _INTERNAL and "INTERNALERROR>" in text:
        return "pytest has broken down"
    if ran.code == _USAGE and not found.failures and (found.is_pytest or _NOT_BEGUN.search(ran.stderr)):
        return "pytest could not begin"
    return NO_TESTS if ran.code == _EMPTY and found.is_pytest else ""
