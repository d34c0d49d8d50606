"""Where two values differ: the place, and what stands there in each of them."""

from collections.abc import Iterator
from typing import Final

from perdure.plan.raw import Raw, is_mapping

BEFORE: Final = 20
"""Letters that are shown of what two texts have in common, before they differ."""


def unlike(was: Raw, now: Raw, where: str = "") -> Iterator[tuple[str, Raw, Raw]]:
    """Where two values differ, and what stands there; of long texts, from shortly before that on."""
    if is_mapping(was) and is_mapping(now):
        for word in dict.fromkeys((*was, *now)):
            yield from unlike(was.get(word), now.get(word), f"{where}.{word}".lstrip("."))
    elif isinstance(was, str) and isinstance(now, str) and was != now:
        first = next((n for n, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
        same = max(0, first - BEFORE)
        yield where, was[same:], now[same:]
    elif was != now:
        yield where, was, now
