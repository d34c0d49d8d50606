"""What unittest says, and those who speak like it: a block for each failure, how many it ran, and how it ended."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from perdure.kits.coding.results.found import Found, failing
from perdure.kits.coding.results.report import Failing

_RAN: Final = re.compile(r"Ran ([0-9]{1,9}) tests? in [0-9.]+s$")
_ENDED: Final = re.compile(r"(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$")
_COUNT: Final = re.compile(r"(failures|errors|skipped|expected failures|unexpected successes)=([0-9]{1,9})$")
_HEAD: Final = re.compile(r"(FAIL|ERROR|UNEXPECTED SUCCESS): (\S.*)$")
_NAME: Final = re.compile(r"(\S+) \(([^()]*)\) ?(.*)$")
_DOUBLE: Final = "=" * 70
_SINGLE: Final = "-" * 70
_NOT_LOADED: Final = "unittest.loader."
_BEFORE: Final = ("setUpClass", "setUpModule")
"""What fails in place of tests, of which none is run."""
_AROUND: Final = (*_BEFORE, "tearDownClass", "tearDownModule")
"""What fails for many tests at once, and is counted as none."""


@dataclass(slots=True)
class _Heard:
    """What was heard so far."""

    ran: int | None = None
    counts: dict[str, int] = field(default_factory=dict[str, int])
    failures: list[Failing] = field(default_factory=list[Failing])

    def of(self, *kinds: str) -> int:
        """How many of some kinds."""
        return sum(self.counts.get(each, 0) for each in kinds)


def read(text: str) -> Found | None:
    """What unittest has said; None if it has said nothing."""
    heard = _listen(text.split("\n"))
    if heard.ran is None:
        return None
    failed, errors = heard.of("failures", "unexpected successes"), heard.of("errors")
    skipped, is_complete = heard.of("skipped", "expected failures"), len(heard.failures) >= failed + errors
    bad = {each.test for each in heard.failures if not each.test.endswith(_AROUND)}
    return Found(
        "unittest",
        passed=max(0, heard.ran - len(bad) - skipped) if is_complete else None,
        failed=failed,
        errors=errors,
        skipped=skipped,
        total=heard.ran,
        ran=max(0, heard.ran - skipped) + sum(each.test.endswith(_BEFORE) for each in heard.failures),
        failures=tuple(heard.failures),
        is_complete=is_complete,
    )


def _listen(lines: Sequence[str]) -> _Heard:
    heard = _Heard()
    for n, line in enumerate(lines):
        if line == _DOUBLE and n + 1 < len(lines) and (head := _HEAD.match(lines[n + 1])):
            heard.failures.append(_failure(head, list(_block(lines, n + 2))))
        elif ran := _RAN.match(line):
            heard.ran = (heard.ran or 0) + int(ran[1])
        elif heard.ran is not None and (ended := _ENDED.match(line)):
            _add(heard.counts, ended[1] or "")
    return heard


def _add(counts: dict[str, int], said: str) -> None:
    for found in map(_COUNT.match, said.split(", ")):
        if found is not None:
            counts[found[1]] = counts.get(found[1], 0) + int(found[2])


def _block(lines: Sequence[str], start: int) -> Iterator[str]:
    """The lines under a heading, without what is drawn around them."""
    is_told = False
    for n in range(start, len(lines)):
        if lines[n] == _DOUBLE or (lines[n] == _SINGLE and is_told) or _HEAD.match(lines[n]):
            return
        if lines[n] == _SINGLE:
            is_told = n + 1 < len(lines) and not _RAN.match(lines[n + 1])
            if not is_told:
                return
        elif is_told:
            yield lines[n]


def _failure(head: re.Match[str], block: Sequence[str]) -> Failing:
    test, part = _named(head[2])
    if head[1] == "UNEXPECTED SUCCESS":
        return failing(test, "it was expected to fail, and has passed", "")
    message = _message(block)
    return failing(test, f"{part}: {message}" if part else message, "\n".join(block))


def _named(head: str) -> tuple[str, str]:
    """A test by its whole name, and which part of it: `test_a (tests.Cart.test_a) [msg] (i=0)`."""
    found = _NAME.match(head)
    if found is None:
        return head, ""
    name, where, part = found.groups()
    if not where or where.startswith(_NOT_LOADED):
        return name, part
    return (where if where.endswith(f".{name}") else f"{where}.{name}"), part


def _message(block: Sequence[str]) -> str:
    """The first line after the last place of the last traceback."""
    last = max((n for n, line in enumerate(block) if line.startswith('  File "')), default=-1)
    return next((line for line in block[last + 1 :] if line.strip() and not line.startswith(" ")), "")
