"""What pytest says: its counts, its short summary, and the blocks that tell of each failure."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from perdure.kits.coding.results.found import Found, failing
from perdure.kits.coding.results.report import Failing

_RULE: Final = re.compile(r"={2,} (.*?) ={2,}$")
_ENDED: Final = re.compile(r"=* ?(\S.*) in [0-9]+(?:\.[0-9]+)?s(?: \(.*\))?(?: =*)?$")
_COUNT: Final = re.compile(
    r"([0-9]{1,9}) ((?:x|subtests )?(?:passed|failed)|error|skipped|deselected|warning|rerun)s?$"
)
_SAID: Final = re.compile(r"(FAILED|ERROR) (\S.*)$")
_PART: Final = re.compile(r"SUBFAIL(?:ED)?(.*?) (\S+::.*)$")
_OF_A_FILE: Final = re.compile(r"(?:FAILED|ERROR) \S+\.py(?:::|$| )")
"""A line of a summary whose heading is missing, and not one of somebody's log."""
_PLACE: Final = re.compile(r"ERROR (?:at (?:setup|teardown) of|collecting) ")
_TORN: Final = "_ ERROR at teardown of "
_SUMMARY: Final = "short test summary info"
_TOLD: Final = {"FAILED": "FAILURES", "ERROR": "ERRORS"}
"""Under which heading the blocks of a kind stand."""
_SESSION: Final = frozenset({_SUMMARY, "test session starts", *_TOLD.values()})
_NONE: Final = "no tests ran"
_WIDE: Final = 2_000
"""Letters of a line that is looked at as a heading."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a short summary."""

    kind: str
    test: str
    message: str = ""
    part: str = ""
    """Which part of the test, if it has any."""


@dataclass(slots=True)
class _Heard:
    """What was heard so far."""

    counts: dict[str, int] | None = None
    """None: no session has come to its end."""
    is_pytest: bool = False
    torn: int = 0
    """Errors after a test: it has passed or failed besides."""
    said: list[_Line] = field(default_factory=list[_Line])
    blocks: dict[tuple[str, str], deque[str]] = field(default_factory=dict[tuple[str, str], deque[str]])
    """What was told, by section and heading; those of one heading are in the order of the summary."""

    def keep(self, head: tuple[str, str], block: list[str]) -> None:
        """A block has come to its end."""
        if head[1]:
            self.blocks.setdefault(head, deque()).append("\n".join(block))

    def count(self, line: str) -> bool:
        """Whether a line is the last one of a session; its numbers are added to those of sessions before."""
        ended = _ENDED.match(line)
        found = [_COUNT.match(each) for each in ended[1].split(", ")] if ended else []
        if ended is None or (ended[1] != _NONE and not all(found)):
            return False
        counts = self.counts = self.counts or {}
        for each in found:
            if each is not None:
                counts[each[2]] = counts.get(each[2], 0) + int(each[1])
        return True


def read(text: str, *, is_cut: bool) -> Found | None:
    """What pytest has said; None if it has said nothing."""
    heard = _listen(text.split("\n"))
    if not heard.is_pytest:
        return None
    failures = tuple(_failures(heard))
    if heard.counts is None:  # with -qq it tells no numbers; or it was ended before
        return Found("pytest", failures=failures, is_complete=not is_cut and bool(failures), is_pytest=True)
    return _counted(heard, heard.counts, failures)


def _counted(heard: _Heard, counts: dict[str, int], failures: tuple[Failing, ...]) -> Found:
    def of(*kinds: str) -> int:
        return sum(counts.get(each, 0) for each in kinds)

    failed, errors = of("failed", "subtests failed"), of("error")
    parts = sum(each.part != "" for each in heard.said)  # of a test of unittest, which has passed as a whole
    return Found(
        "pytest",
        passed=of("passed", "xpassed"),
        failed=failed,
        errors=errors,
        skipped=of("skipped", "xfailed"),
        total=of("passed", "xpassed", "failed", "error", "skipped", "xfailed"),
        ran=max(0, of("passed", "xpassed", "failed", "error") - heard.torn - max(0, parts - of("subtests failed"))),
        failures=failures,
        is_complete=len(failures) >= failed + errors,
        is_pytest=True,
    )


def first_error(block: str) -> str:
    """The first line of a block that says what was wrong."""
    lines = [line for line in block.split("\n") if line.strip("E ")]
    return next((line[1:].strip() for line in lines if line.startswith("E  ")), "")


def _listen(lines: Iterable[str]) -> _Heard:
    heard, section, head, block = _Heard(), "", "", list[str]()
    for line in lines:
        short = line if len(line) <= _WIDE else ""
        ended, rule = heard.count(short), _RULE.match(short)
        heard.torn += short.startswith("_") and _TORN in short
        heading = _heading(short) if section in _TOLD.values() else ""
        if ended or rule or heading:
            heard.keep((section, head), block)
            section = "" if ended else rule[1] if rule else section
            heard.is_pytest |= ended or section in _SESSION
            head, block = heading, []
        elif section == _SUMMARY or _OF_A_FILE.match(line):
            heard.said += _said(line)
        else:
            block.append(line)
    heard.keep((section, head), block)
    return heard


def _heading(line: str) -> str:
    """What a line says that stands over a block: `____ TestCart.test_total ____`."""
    if not line.startswith("_") or not line.endswith("_"):
        return ""
    name = line.partition(" ")[2].rpartition(" ")[0]
    return _PLACE.sub("", name) if name.strip("_ ") else ""


def _said(line: str) -> Iterator[_Line]:
    if (part := _PART.match(line)) is not None:
        yield _Line("FAILED", *_split(part[2]), part[1].strip())
    elif (found := _SAID.match(line)) is not None:
        yield _Line(found[1], *_split(found[2]))


def _split(rest: str) -> tuple[str, str]:
    """`test - message`, where values in the name of the test may hold what stands between the two."""
    depth, at = 0, 0
    while (found := rest.find(" - ", at)) != -1:
        depth += rest.count("[", at, found) - rest.count("]", at, found)
        if depth <= 0:
            return rest[:found], rest[found + 3 :]
        at = found + 3
    if rest.endswith("]"):
        return rest, ""
    test, _, message = rest.partition(" - ")
    return test, message


def _failures(heard: _Heard) -> Iterator[Failing]:
    if not heard.said:  # with -rN there is no summary, and headings do not tell the file
        for (_, head), blocks in heard.blocks.items():
            yield from (failing(head, first_error(each) or each, each) for each in blocks)
    for line in heard.said:
        block = _block(heard, line)
        message = first_error(block) or line.message
        yield failing(line.test, f"{line.part}: {message}" if line.part else message, block)


def _block(heard: _Heard, line: _Line) -> str:
    name, bracket, values = line.test.partition("[")
    inner = name.partition("::")[2].replace("::", ".") + bracket + values
    for head in (f"{inner} {line.part}".rstrip(), line.test):
        if blocks := heard.blocks.get((_TOLD[line.kind], head)):
            return blocks.popleft()
    return ""
