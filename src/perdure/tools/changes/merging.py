"""Two changes to one text, put together where they do not touch each other."""

from typing import Final

from perdure.tools.changes.diffing import lines_of, opcodes_of

MOST: Final = 200_000
"""Bytes of each version."""
Edit = tuple[int, int, list[str]]


def merged(base: bytes, ours: bytes, theirs: bytes) -> str | None:
    """Both changes in one text; None if they touch, or are no short texts. It is an offer, nobody writes it."""
    if max(map(len, (base, ours, theirs))) > MOST:
        return None
    try:
        texts = [each.decode() for each in (base, ours, theirs)]
    except UnicodeDecodeError:
        return None
    old = lines_of(texts[0])
    return _applied(old, sorted([*_edits(old, texts[1]), *_edits(old, texts[2])], key=lambda each: each[:2]))


def _edits(old: list[str], text: str) -> list[Edit]:
    new = lines_of(text)
    return [(a, b, new[c:d]) for tag, a, b, c, d in opcodes_of(old, new) if tag != "equal"]


def _applied(old: list[str], edits: list[Edit]) -> str | None:
    told: list[str] = []
    at = -1
    for first, last, lines in edits:
        if first <= at:
            return None
        told += [*old[max(at, 0) : first], *lines]
        at = last
    return "".join([*told, *old[max(at, 0) :]])
