"""Room that is held back: when the disk is full it is given up, so that the last words can still be written."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from perdure.journal.filesystem import PRIVATE_FILE

SIZE: Final = 2 * 1024 * 1024
PLENTY: Final = 4 * SIZE
"""So much must be free before room is held back again."""


class Ballast:
    """A preallocated file beside the journal."""

    def __init__(self, journal: Path) -> None:
        self._path = journal.with_name(f"{journal.name}.ballast")
        self.held = self._is_there()

    def take(self) -> None:
        """Hold room back, if there is plenty. It is no error if there is none: then this is all there is."""
        with suppress(OSError):
            if not self._is_there() and has_plenty(self._path.parent):
                self._fill()
            self.held = self._is_there()

    def give_up(self) -> bool:
        """Make room; whether there was any to make."""
        held, self.held = self.held, False
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        return held

    def _is_there(self) -> bool:
        return self._path.is_file() and self._path.stat().st_size >= SIZE

    def _fill(self) -> None:
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            os.posix_fallocate(file, 0, SIZE)
        finally:
            os.close(file)


def has_plenty(directory: Path) -> bool:
    """Whether there is so much room on a disk that some can be taken ahead."""
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize >= PLENTY
