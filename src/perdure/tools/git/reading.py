"""Files of a working tree, read without following links: a file that turns into a link meanwhile is not read at all."""

import os
import stat
from pathlib import Path
from typing import Final, NamedTuple

from perdure.tools.failure import ToolFailure
from perdure.tools.git.faltering import TROUBLE
from perdure.tools.git.names import readable

LARGEST: Final = 100 * 1024 * 1024
"""Bytes of one file."""
CHUNK: Final = 1024 * 1024
PLAIN: Final = "100644"
EXECUTABLE: Final = "100755"
LINK: Final = "120000"


class Read(NamedTuple):
    """A file as it is in the working tree."""

    mode: str
    """As git writes it."""
    copy: Path
    """Where its bytes are."""


def read_into(root: Path, name: bytes, copy: Path) -> Read | None:
    """Copy a file, or what a link says; None if it is not there, or is something else."""
    *above, last = name.split(b"/")
    place = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in above:
            place = _step(place, part)
        return _read(place, last, name, copy)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno in TROUBLE:  # of the disk, and perhaps of the one that the copy is on
            raise
        raise ToolFailure("unmet", f"{readable(name)} cannot be read: {error.strerror}") from None
    finally:
        os.close(place)


def _step(place: int, part: bytes) -> int:
    below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    os.dup2(below, place, inheritable=False)
    os.close(below)
    return place


def _read(place: int, last: bytes, name: bytes, copy: Path) -> Read | None:
    mode = os.stat(last, dir_fd=place, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        copy.write_bytes(os.readlink(last, dir_fd=place))
        return Read(LINK, copy)
    if not stat.S_ISREG(mode):
        return None
    file = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=place)
    with os.fdopen(file, "rb") as source, copy.open("wb") as target:
        found = os.fstat(file)
        if found.st_size > LARGEST:
            raise ToolFailure("invalid", f"{readable(name)} is larger than {LARGEST:,} bytes")
        while more := source.read(CHUNK):
            target.write(more)
    return Read(EXECUTABLE if found.st_mode & stat.S_IXUSR else PLAIN, copy)
