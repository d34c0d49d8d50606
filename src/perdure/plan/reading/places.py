"""Places in a document: a path in the models, found again in the data they were made from."""

from typing import Any, Final, cast

from perdure.plan.model.steps import GROUP_KEYS, STEP_TYPES
from perdure.plan.problems import Path
from perdure.plan.raw import Raw, is_list, is_mapping

TAGGED: Final = frozenset({"undo", "simpler", "decide", "plan", "join", "fail", "from", "network"})
TAGGED_LISTS: Final = frozenset({*GROUP_KEYS, "alternates"})
TAGS: Final = frozenset({*STEP_TYPES, "text", "other", "word", "ids", "quorum", "tolerate", "hosts", "terms"})
"""Unions put the name of the chosen member into a path; here, and under these words."""


def at(document: Raw, path: Path) -> Raw:
    """The value at a path, or nothing."""
    for segment in path:
        if (is_mapping(document) and segment in document) or (is_list(document) and isinstance(segment, int)):
            document = cast("Any", document)[segment]
        else:
            return None
    return document


def path_of(loc: tuple[int | str, ...], document: Raw) -> Path:
    """A place in the models as a place in the document: without tags, with the words the document uses."""
    path: Path = ()
    item: Raw = document
    tagged = False
    for segment in loc:
        if tagged and segment in TAGS and not isinstance(segment, int):
            tagged = segment == "other"  # a call has a tag of its own
            continue
        word = "parallel" if segment == "steps" and is_mapping(item) and "parallel" in item else segment
        path = (*path, word)
        item = at(item, (word,))
        listed = isinstance(segment, int) and len(path) > 1 and path[-2] in TAGGED_LISTS
        tagged = listed or segment in TAGGED
    return path


def step_path(path: Path) -> Path | None:
    """The path of the innermost step around a place."""
    for end in range(len(path), 0, -1):
        if isinstance(path[end - 1], int) and end > 1 and path[end - 2] in GROUP_KEYS:
            return path[:end]
    return None
