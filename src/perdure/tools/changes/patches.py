"""Patches of either kind."""

from typing import Final

from perdure.tools.changes.hunks import BadPatch, FilePatch
from perdure.tools.changes.unified import read_unified
from perdure.tools.changes.v4a import BEGIN, read_v4a
from perdure.tools.failure import ToolFailure

MOST: Final = 2_000
"""Hunks of one patch."""


def read_patch(text: str) -> list[FilePatch]:
    """What a patch does, file by file. `ToolFailure` says on which line it cannot be read."""
    try:
        found = read_v4a(text) if text.startswith(BEGIN) else read_unified(text)
    except BadPatch as error:
        raise ToolFailure("invalid", f"{error}; nothing was changed") from None
    if (count := sum(len(each.hunks) for each in found)) > MOST:
        raise ToolFailure("invalid", f"{count:,} hunks are too many for one patch, {MOST:,} are the most")
    return found
