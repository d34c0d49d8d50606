"""What a patch says: files, and hunks of lines that are there and lines that shall be."""

from typing import Literal

import msgspec


class BadPatch(Exception):
    """A patch that cannot be read; with the line of the patch."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line} of the patch: {why}")


class Hunk(msgspec.Struct, frozen=True):
    """Old lines and new ones, as text. Each line has its newline but for one at the end of a file without."""

    line: int
    """Where it stands in the patch."""
    old: str
    new: str
    at: int | None = None
    """The line of the file where it says it begins, from one."""
    anchors: tuple[str, ...] = ()
    """Lines that come before it, the outermost first."""
    at_end: bool = False


class FilePatch(msgspec.Struct, frozen=True):
    """What a patch does to one file."""

    kind: Literal["add", "update", "delete"]
    path: str
    line: int
    hunks: tuple[Hunk, ...] = ()
    to: str = ""
    """Where the file moves."""
    mode: int | None = None
    """Its permissions afterwards; None: as they were."""
    keeps_end: bool = False
    """Whether the last line ends as it did, however the patch writes it."""
