"""Looking at the workspace, as far as it may be seen."""

import errno
import os
import stat
from hashlib import sha256
from typing import Final, Self

from perdure.core.policy import Deed
from perdure.plan.problems import did_you_mean
from perdure.tools.changes.images import Image, chunks_of
from perdure.tools.changes.judging import Judging
from perdure.tools.changes.paths import refuse_unplain
from perdure.tools.changes.tree import Spot, Tree
from perdure.tools.changes.walking import Walk, names_near
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure

LARGEST: Final = 32 * 1024 * 1024
"""Bytes of a file that is read."""


class Looking:
    """The files of one call that only looks. Use it in a `with`."""

    def __init__(self, context: Context) -> None:
        self._judging: Final = Judging(context)
        self._tree: Final = Tree(context.hands.workspace)
        self.withheld = 0
        """How many files were passed over because they may not be read, or not without asking."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._tree.close()

    def walk(self, start: str) -> Walk:
        """Everything below a directory; the empty path is the root."""
        if start:
            self._judging.check([Deed("read", start)])
            found = self._tree.image(start)
            if found is None or found.kind != "directory":
                raise ToolFailure("invalid", f"there is no directory {start}")
        return Walk(self._tree, start)

    def may_see(self, path: str) -> bool:
        """Whether a file may be shown; one that may not is counted."""
        seen = self._judging.may_see(path)
        self.withheld += not seen
        return seen

    def file(self, path: str) -> tuple[Image, bytes]:
        """A file and what is in it. `ToolFailure` if it may not be read, or is none."""
        refuse_unplain(path)
        self._judging.check([Deed("read", path)])
        try:
            with self._tree.spot(path) as spot:
                return _read(path, spot)
        except FileNotFoundError:
            hint = did_you_mean(path, names_near(self._tree))
            raise ToolFailure("invalid", f"there is no file {path}" + (f"; {hint}" if hint else "")) from None

    def bytes(self, path: str) -> bytes:
        """What is in a file that was found on a walk; nothing, if it is none any more."""
        try:
            with self._tree.spot(path) as spot:
                return _read(path, spot)[1]
        except (OSError, ToolFailure):
            return b""


def _read(path: str, spot: Spot) -> tuple[Image, bytes]:
    try:
        with spot.reading() as file:
            found = os.fstat(file)
            _refuse_unreadable(path, found)
            data = b"".join(chunks_of(file))
            return Image("file", sha256(data).hexdigest(), stat.S_IMODE(found.st_mode), len(data)), data
    except OSError as error:
        if error.errno == errno.ELOOP:
            leads = os.readlink(spot.name, dir_fd=spot.directory)
            raise ToolFailure(
                "invalid", f"{path} is a link to {leads}; links are not followed, name the file"
            ) from None
        raise


def _refuse_unreadable(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = "a directory; use files.list" if stat.S_ISDIR(found.st_mode) else "no file, but a device, pipe or socket"
        raise ToolFailure("invalid", f"{path} is {kind}")
    if found.st_size > LARGEST:
        raise ToolFailure("invalid", f"{path} has {found.st_size:,} bytes, {LARGEST:,} are the most that is read")
