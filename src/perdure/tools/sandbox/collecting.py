"""What a command has left in files on its stage and somebody wants to read: a report, a log, a list of what failed.

It is read whatever becomes of the changes, and before they are looked at. The command is dead, but all that lies there
was made by it: links are not followed, only plain files are read, and of each no more than there is room for.
"""

import codecs
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from perdure.tools.changes.judging import Judging
from perdure.tools.changes.paths import refuse_unplain
from perdure.tools.changes.tree import Spot, Tree
from perdure.tools.changes.walking import Walk, is_like
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.sandbox.stage import Stage

LARGEST: Final = 1024 * 1024
"""Bytes that are read of one file: its beginning."""
ROOM: Final = 4 * LARGEST
"""Bytes that are read of all together."""
MOST: Final = 200
"""Files that are read."""
UNREADABLE: Final = "the command has left it unreadable"
_MARKS: Final = frozenset("*?[")
"""Letters that make a path a pattern."""


@dataclass(slots=True)
class Collected:
    """What was read, and what was not."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    missed: dict[str, str] = field(default_factory=dict[str, str])
    """Why a file was not read, or not whole, by its path."""
    room: int = ROOM

    def data(self) -> dict[str, Any]:
        """As a step gives it."""
        return {"collected": self.texts, **({"uncollected": self.missed} if self.missed else {})}


def refuse_unfit(wanted: Sequence[str]) -> None:
    """`ToolFailure` for a path that leads out of the workspace, before anything is run for it."""
    for each in wanted:
        try:
            refuse_unplain(each)
        except ToolFailure as error:
            raise ToolFailure("invalid", f"collect: {error.failure.message}") from None


def collected(stage: Stage, context: Context, wanted: Sequence[str]) -> dict[str, Any]:
    """The texts of files that the command has written and the policy lets be read; nobody is asked about them."""
    if not wanted:
        return {}
    found, judging = Collected(), Judging(context)
    try:
        tree = Tree(stage.upper)
    except PermissionError:  # it has shut its own workspace
        found.missed.update(dict.fromkeys(wanted, UNREADABLE))
        return found.data()
    try:
        for path in _paths(tree, wanted, found):
            if len(found.texts) == MOST:
                found.missed[path] = f"{MOST} files are the most"
                break
            _collect(path, tree, stage, judging, found)
    finally:
        tree.close()
    return found.data()


def _paths(tree: Tree, wanted: Sequence[str], found: Collected) -> Iterator[str]:
    """Paths that are named, then those that are meant; each once."""
    named = [each for each in dict.fromkeys(wanted) if not _MARKS & set(each)]
    patterns = [each for each in wanted if _MARKS & set(each)]
    yield from named
    walk = Walk(tree, everywhere=True)
    for each in walk if patterns else ():
        if each.kind == "file" and each.path not in named and any(is_like(one, each.path) for one in patterns):
            yield each.path
    if walk.is_cut:
        found.missed.update(dict.fromkeys(patterns, "there were more names than are looked at"))


def _collect(path: str, tree: Tree, stage: Stage, judging: Judging, into: Collected) -> None:
    try:
        with tree.spot(path) as spot:
            status = spot.status()
            if status is None or stage.is_gone(status) or stage.is_untouched(path, status):
                return
            _read(path, spot, judging, into)
    except FileNotFoundError:
        return
    except PermissionError:
        into.missed[path] = UNREADABLE
    except ToolFailure as failure:  # a link on the way
        into.missed[path] = failure.failure.message


def _read(path: str, spot: Spot, judging: Judging, into: Collected) -> None:
    status = spot.status()
    if status is None or not stat.S_ISREG(status.st_mode):
        into.missed[path] = "it is no plain file; links are not followed"
    elif not judging.may_see(path):
        into.missed[path] = "it may not be read"
    elif into.room == 0:
        into.missed[path] = f"{ROOM:,} bytes are the most of all together"
    else:
        _take(path, spot, into)


def _take(path: str, spot: Spot, into: Collected) -> None:
    most = min(LARGEST, into.room)
    with spot.reading() as file:
        data = _first(file, most + 1)
    cut = len(data) > most
    into.room -= min(len(data), most)
    into.texts[path] = codecs.getincrementaldecoder("utf-8")("replace").decode(data[:most], final=not cut)
    if cut:
        into.missed[path] = f"only its first {most:,} bytes were read"


def _first(file: int, most: int) -> bytes:
    read = bytearray()
    while len(read) < most and (more := os.read(file, most - len(read))):
        read += more
    return bytes(read)
