"""Values made shorter: a text keeps its beginning and its end, a list or an object the first of its parts.

What is small in a value stays whole, and what is large is cut to one common size. Whatever is left out is said where it
was, with how much there was of it. The same value and the same size always give the same.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Any, Final, cast

from perdure.plan.tokens import PIECES, size_of

LEAST: Final = 84
"""The pieces of tokens in which it can be said of anything that it is left out."""
DEEPEST: Final = 32
"""Lists and objects within each other that are looked into."""
MORE: Final = "..."
"""The key under which an object says how many others it has."""
_Part = tuple[int, Any]
"""What stands around a part, in pieces of tokens, and the part."""


def shortened(value: Any, most: int) -> Any:
    """A value whose JSON has at most so many pieces of tokens; below `LEAST`, as many as that."""
    return _cut(_shallow(value, DEEPEST) if is_deep(value) else value, max(most, LEAST))


def is_deep(value: Any) -> bool:
    """Whether lists and objects are nested in it further than anybody wants to look."""
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        level = [each for one in level for each in _inside(one)]
        depth += 1
    return bool(level)


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()


def _shallow(value: Any, depth: int) -> Any:
    """The same, with nothing in it that is nested deep."""
    if isinstance(value, dict) and depth:
        return {key: _shallow(each, depth - 1) for key, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, list) and depth:
        return [_shallow(each, depth - 1) for each in cast("list[Any]", value)]
    return "[left out: nested too deep]" if isinstance(value, (dict, list)) else value


def _cut(value: Any, most: int) -> Any:
    size = size_of(value)
    if size <= most:
        return value
    if isinstance(value, str):
        return _cut_text(value, most)
    if isinstance(value, list):
        return _cut_list(cast("list[Any]", value), most)
    if isinstance(value, dict):
        return _cut_object(cast("dict[str, Any]", value), most)
    return f"[{len(repr(value)):,} characters left out]"


# ------------------------------------------------------------------------------- texts


def _cut_text(text: str, most: int) -> str:
    """As much of both ends as there is room for; some characters take more room in JSON than others."""
    kept, above = 0, min(len(text), most)
    while kept < above:
        tried = (kept + above + 1) // 2
        if size_of(_ends(text, tried)) <= most:
            kept = tried
        else:
            above = tried - 1
    return _ends(text, kept)


def _ends(text: str, kept: int) -> str:
    tail = kept // 2
    return f"{text[: kept - tail]} [{len(text) - kept:,} characters left out] {text[len(text) - tail :]}"


# ------------------------------------------------------------------------------- lists and objects


def _cut_list(value: list[Any], most: int) -> list[Any]:
    kept, level = _shares([(PIECES, each) for each in value[:most]], len(value), most)
    cut = [_cut(each, level) for each in value[:kept]]
    return cut if kept == len(value) else [*cut, f"[{len(value) - kept:,} more]"]


def _cut_object(value: dict[str, Any], most: int) -> dict[str, Any]:
    entries = [(key, each) for key, each in islice(value.items(), most) if key != MORE]
    kept, level = _shares([(size_of(key) + 2 * PIECES, each) for key, each in entries], len(value), most)
    cut = {key: _cut(each, level) for key, each in entries[:kept]}
    return cut if kept == len(value) else {**cut, MORE: f"{len(value) - kept:,} more"}


def _shares(parts: list[_Part], total: int, most: int) -> tuple[int, int]:
    """How many of the first parts are kept, and the size to which the larger ones are cut, so that all fit."""
    room = most - 2 * PIECES
    sizes = _sizes(parts, room)
    if len(sizes) < total:  # which has to be said, too
        room = most - LEAST
        sizes = _sizes(parts, room)
    return len(sizes), _level(sizes, room - sum(frame for frame, _ in parts[: len(sizes)]))


def _sizes(parts: Iterable[_Part], room: int) -> list[int]:
    """The sizes of the first parts, as many as can be there if the large ones only say that they are left out."""
    found: list[int] = []
    for frame, value in parts:
        size = size_of(value)
        room -= frame + min(size, LEAST)
        if room < 0:
            break
        found.append(size)
    return found


def _level(sizes: Iterable[int], room: int) -> int:
    left = sorted(sizes)
    level = room
    for n, size in enumerate(left):
        level = room // (len(left) - n)
        if size > level:
            break
        room -= size
    return level
