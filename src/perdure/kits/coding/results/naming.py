"""The names of many tests in one short text, as a report keeps them.

A report is handed from step to step and looked at by expressions, which may be given only so many values; a list of
thousands of names would be too many. Of each name only what is new against the one before is written down.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Final

PASSED, SKIPPED = "+", "-"
_LINE: Final = re.compile(r"([+-])([0-9]{1,4}) (.*)", re.DOTALL)


def written(passing: frozenset[str], skipping: frozenset[str]) -> str:
    """Names, each with a mark for whether it has passed or was skipped."""
    marked = [*((each, PASSED) for each in passing), *((each, SKIPPED) for each in skipping)]
    return "\n".join(_short(sorted(marked)))


def _short(marked: Iterable[tuple[str, str]]) -> Iterator[str]:
    last = ""
    for name, mark in marked:
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(last, name, strict=False)))
        yield f"{mark}{same} {name[same:]}"
        last = name


def names(text: str, mark: str) -> Iterator[str]:
    """The names with a mark. Lines that are not written so, as in a report that somebody made up, are none."""
    last = ""
    for line in filter(None, map(_LINE.fullmatch, text.split("\n"))):
        last = last[: int(line[2])] + line[3]
        if line[1] == mark:
            yield last
