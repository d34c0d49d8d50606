"""Paths as tools take them: from the workspace's root, written plainly."""

from typing import Final

from perdure.core.policy import Deed, judge
from perdure.tools.failure import ToolFailure

LONGEST: Final = 255
"""Bytes of a name, as everywhere on Linux."""


def is_plain(path: str) -> bool:
    """Whether a path can be judged, shown and stored."""
    return not _flaw(path)


def refuse_unplain(path: str) -> None:
    """`ToolFailure` for a path that climbs, starts at `/`, or holds what cannot be judged."""
    if why := _flaw(path):
        raise ToolFailure("invalid", f"{why}; write it as in src/main.py")


def _flaw(path: str) -> str:
    if why := judge((), Deed("read", path)).why:
        return why
    if not path.isprintable():
        return f"{path!a} holds letters that cannot be shown"
    if any(len(part.encode()) > LONGEST for part in path.split("/")):
        return f"{path[:40]}… has a name that is too long"
    return ""
