"""Edits as exact replacements: what is to be replaced occurs once, letter by letter, or nothing is done."""

from typing import Final

from perdure.tools.changes.nearest import nearest, told
from perdure.tools.failure import ToolFailure

FEW: Final = 5


def replaced(path: str, text: str, old: str, new: str, *, every: bool = False) -> str:
    """The text with the new piece in the place of the old one."""
    if not old:
        raise ToolFailure("invalid", f"{path}: `old` is empty; write what to replace, or use files.write")
    if old == new:
        raise ToolFailure("invalid", f"{path}: `old` and `new` are the same; nothing would change")
    starts = occurrences(text, old)
    if not starts:
        raise _missing(path, text, old)
    if every:
        return text.replace(old, new)
    if len(starts) > 1:
        raise _ambiguous(path, text, starts)
    return text[: starts[0]] + new + text[starts[0] + len(old) :]


def occurrences(text: str, piece: str, start: int = 0) -> list[int]:
    """Where a piece begins, also where it overlaps with itself; a few more than one are enough."""
    found: list[int] = []
    at = text.find(piece, start)
    while at >= 0 and len(found) <= FEW:
        found.append(at)
        at = text.find(piece, at + 1)
    return found


def line_of(text: str, at: int) -> int:
    """The number of the line that a letter stands in."""
    return text.count("\n", 0, at) + 1


def _missing(path: str, text: str, old: str) -> ToolFailure:
    places = nearest(text, old)
    return ToolFailure(
        "invalid",
        f"{path}: `old` does not occur; {told(places)}; copy it letter by letter, white space too",
        detail={"path": path, "nearest": places},
    )


def _ambiguous(path: str, text: str, starts: list[int]) -> ToolFailure:
    lines = [line_of(text, at) for at in starts]
    shown = ", ".join(map(str, lines[:FEW])) + (" and more" if lines[FEW:] else "")
    return ToolFailure(
        "invalid",
        f"{path}: `old` occurs more than once, on lines {shown}; add lines around it, or say `every: true`",
        detail={"path": path, "lines": lines},
    )
