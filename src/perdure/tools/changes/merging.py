"""Two changes to one text, put together where they do not touch each other."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from perdure.tools.changes.diffing import lines_of, opcodes_of

MOST: Final = 200_000
"""Bytes of each version."""
OURS: Final = "<<<<<<< workspace\n"
BETWEEN: Final = "=======\n"
THEIRS: Final = ">>>>>>> branch\n"


class Edit(NamedTuple):
    """Lines of the base that became others."""

    first: int
    last: int
    lines: list[str]


class Region(NamedTuple):
    """Lines of the base that edits touch which touch each other, and what each side has made of them."""

    first: int
    last: int
    ours: list[Edit]
    theirs: list[Edit]


class Woven(NamedTuple):
    """Both changes in one text."""

    text: str
    clashes: int
    """How often both have changed the same lines: there both stand, between marks."""


def merged(base: bytes, ours: bytes, theirs: bytes) -> str | None:
    """Both changes in one text; None if they touch, or are no short texts. It is an offer, nobody writes it."""
    texts = texts_of(base, ours, theirs)
    found = woven(*texts) if texts else None
    return found.text if found and not found.clashes else None


def texts_of(*versions: bytes, most: int = MOST) -> list[str] | None:
    """The versions as texts; None if one of them is none, or too long."""
    if max(map(len, versions)) > most or any(b"\0" in each for each in versions):
        return None
    try:
        return [each.decode() for each in versions]
    except UnicodeDecodeError:
        return None


def woven(base: str, ours: str, theirs: str) -> Woven:
    """Each change where the other has none; where both are the same, it is made once."""
    old = lines_of(base)
    told: list[str] = []
    at = clashes = 0
    for region in _regions(_edits(old, ours), _edits(old, theirs)):
        mine, yours = (_applied(old, region, edits) for edits in (region.ours, region.theirs))
        is_clash = bool(region.ours and region.theirs) and mine != yours
        clashes += is_clash
        told += [*old[at : region.first], *(_marked(mine, yours) if is_clash else mine if region.ours else yours)]
        at = region.last
    return Woven("".join([*told, *old[at:]]), clashes)


def beside(ours: str, theirs: str) -> Woven:
    """Two texts of which nobody knows what they came from: what differs is a clash."""
    mine, yours = lines_of(ours), lines_of(theirs)
    told: list[str] = []
    clashes = 0
    for tag, a, b, c, d in opcodes_of(mine, yours):
        clashes += tag != "equal"
        told += mine[a:b] if tag == "equal" else _marked(mine[a:b], yours[c:d])
    return Woven("".join(told), clashes)


def has_marks(text: str) -> bool:
    """Whether a text still has marks in it."""
    return any(line in (OURS, THEIRS) for line in lines_of(text + "\n"))


def _edits(old: list[str], text: str) -> list[Edit]:
    new = lines_of(text)
    return [Edit(a, b, new[c:d]) for tag, a, b, c, d in opcodes_of(old, new) if tag != "equal"]


def _regions(ours: Sequence[Edit], theirs: Sequence[Edit]) -> Iterator[Region]:
    sides = sorted([*((each, 0) for each in ours), *((each, 1) for each in theirs)], key=lambda each: each[0][:2])
    found: Region | None = None
    for edit, side in sides:
        if found is None or edit.first > found.last:
            if found is not None:
                yield found
            found = Region(edit.first, edit.last, [], [])
        (found.theirs if side else found.ours).append(edit)
        found = found._replace(last=max(found.last, edit.last))
    if found is not None:
        yield found


def _applied(old: list[str], region: Region, edits: Sequence[Edit]) -> list[str]:
    told: list[str] = []
    at = region.first
    for first, last, lines in edits:
        told += [*old[at:first], *lines]
        at = last
    return [*told, *old[at : region.last]]


def _marked(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    return [OURS, *_ended(ours), BETWEEN, *_ended(theirs), THEIRS]


def _ended(lines: Sequence[str]) -> list[str]:
    """A mark stands on a line of its own."""
    return [each if each.endswith("\n") else f"{each}\n" for each in lines]
