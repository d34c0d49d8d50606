"""A change set for people: as a diff, cut where it gets too long, and named so that nothing can hide behind the cut."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

import msgspec

from perdure.tools.changes.diffing import unified
from perdure.tools.changes.images import Image, Images
from perdure.tools.changes.sets import Change, ChangeSet

READ: Final = 1_000_000
"""Bytes of a file that is shown as text."""
SHOWN: Final = 60_000
"""Letters that a person sees."""


def diff_of(changes: ChangeSet, images: Images, most: int = SHOWN) -> str:
    """The set as a diff in the manner of git."""
    told: list[str] = []
    left = most
    for n, change in enumerate(changes.changes):
        for line in _diff(change, images):
            left -= len(line) + 1
            if left < 0:
                return "\n".join([*told, f"… {len(changes.changes) - n} files are not shown to their end\n"])
            told.append(line)
    return "\n".join(told) + "\n" if told else ""


def agreed(changes: ChangeSet, images: Images) -> str:
    """What a person agrees to: the diff, and a digest of every byte of the set."""
    digest = sha256(msgspec.json.encode(changes)).hexdigest()
    return f"{diff_of(changes, images)}change set {digest}"


def _diff(change: Change, images: Images) -> Iterator[str]:
    yield f"diff --git a/{change.path} b/{change.path}"
    yield from _heads(change)
    before, after = (_text(image, images) for image in (change.before, change.after))
    if before is None or after is None:
        yield f"Binary files differ: {_told(change.before)} -> {_told(change.after)}"
    elif before != after:
        yield f"--- a/{change.path}" if change.before else "--- /dev/null"
        yield f"+++ b/{change.path}" if change.after else "+++ /dev/null"
        yield from unified(before, after)


def _heads(change: Change) -> Iterator[str]:
    before, after = _mode(change.before), _mode(change.after)
    if change.before is None:
        yield f"new file mode {after}"
    elif change.after is None:
        yield f"deleted file mode {before}"
    elif before != after:
        yield f"old mode {before}"
        yield f"new mode {after}"


def _mode(image: Image | None) -> str:
    if image is None:
        return ""
    kinds = {"file": 0o100000, "link": 0o120000, "directory": 0o040000}
    return f"{kinds[image.kind] | (0 if image.kind == 'link' else image.mode):06o}"


def _told(image: Image | None) -> str:
    return "nothing" if image is None else f"{image.size:,} bytes {image.digest[:12]}"


def _text(image: Image | None, images: Images) -> str | None:
    """The text of an image; None if it is none, or too long to be shown."""
    if image is None or image.kind == "directory":
        return ""
    if image.size > READ:
        return None
    try:
        text = images.read(image.digest).decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
