"""Where something may have been meant that is not there: the places in a text that are most like it."""

from collections import Counter, defaultdict
from typing import Final, TypedDict

LINES: Final = 20_000
"""Lines of a text that are looked through."""
WANTED: Final = 50
"""Lines of what is looked for."""
CLOSE: Final = 500
"""Lines that are compared letter by letter, where no line is found as a whole."""
WIDE: Final = 200
FEW: Final = 3
SHOWN: Final = 8
"""Lines that are shown of each place."""


class Place(TypedDict):
    """A place in a text."""

    line: int
    text: str


def nearest(text: str, wanted: str) -> list[Place]:
    """The places most like what is wanted, the best first."""
    lines = text.split("\n")[:LINES]
    asked = wanted.strip("\n").split("\n")[:WANTED]
    starts = _voted(lines, asked) or _similar(lines, asked)
    return [{"line": at + 1, "text": "\n".join(lines[at : at + min(len(asked), SHOWN)])} for at in starts]


def _voted(lines: list[str], asked: list[str]) -> list[int]:
    """Each line that is found, white space aside, votes for where the whole would begin; long lines weigh more."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for n, line in enumerate(lines):
        places[line.strip()].append(n)
    votes: Counter[int] = Counter()
    for n, line in enumerate(asked):
        for place in places.get(line.strip(), [])[:WANTED] if line.strip() else ():
            votes[max(0, place - n)] += len(line.strip())
    return [at for at, _ in votes.most_common(FEW)]


def _similar(lines: list[str], asked: list[str]) -> list[int]:
    from difflib import get_close_matches  # noqa: PLC0415  most edits fit

    n, longest = max(enumerate(asked), key=lambda each: len(each[1]))
    around = {line[:WIDE]: at for at, line in reversed(list(enumerate(lines))) if _may_be(line, longest)}
    found = get_close_matches(longest[:WIDE], list(around)[-CLOSE:], n=FEW, cutoff=0.5)
    return [max(0, around[each] - n) for each in found]


def _may_be(line: str, wanted: str) -> bool:
    return bool(line.strip()) and len(wanted) / 2 <= len(line) <= len(wanted) * 2


def told(places: list[Place]) -> str:
    """The places in a sentence, for people and models."""
    if not places:
        return "nothing there is like it"
    return "nearest: " + "; ".join(
        f"line {each['line']}: {each['text'].partition(chr(10))[0][:WIDE]!r}" for each in places
    )
