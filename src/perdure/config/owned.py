"""Files that decide what may be done: read only if nobody but the user, or root, can have written them."""

import os
import stat
from pathlib import Path
from typing import Final

from perdure.config.settings import PolicyPlaceError

LARGEST: Final = 1024 * 1024
_ROOT: Final = 0


def read_owned(path: Path) -> bytes | None:
    """What is in the file; None if there is none. `PolicyPlaceError` if somebody else has a hand in it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe must not hold us up
    except FileNotFoundError as error:
        if os.path.lexists(path):
            raise PolicyPlaceError(f"{path} is a link that leads nowhere", "mend the link, or remove it") from error
        return None
    except OSError as error:
        raise PolicyPlaceError(f"{path} cannot be read: {error.strerror}", "look at its permissions") from error
    try:
        _check_file(path, os.fstat(descriptor))
        _check_directories(Path(os.path.realpath(path)))
        return os.read(descriptor, LARGEST)
    finally:
        os.close(descriptor)


def _check_file(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise PolicyPlaceError(f"{path} is not a file", "put a file in its place")
    if found.st_size > LARGEST:
        raise PolicyPlaceError(f"{path} is larger than {LARGEST:,} bytes", "a policy is a few lines")
    _check_owner(path, found)
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PolicyPlaceError(f"others than you may write {path}", f"look at what it says, then: chmod 600 {path}")


def _check_directories(path: Path) -> None:
    """Whoever may write a directory above a file can put another file in its place."""
    for directory in path.parents:
        found = directory.stat()
        _check_owner(directory, found)
        shared = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
        if shared or (directory == path.parent and found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
            raise PolicyPlaceError(f"others than you may write {directory}, and with it your policy",
                                   f"look at what is in it, then: chmod go-w {directory}")  # fmt: skip


def _check_owner(path: Path, found: os.stat_result) -> None:
    if found.st_uid not in (os.geteuid(), _ROOT):
        raise PolicyPlaceError(
            f"{path} belongs to somebody else (user {found.st_uid})", "remove it, or make it yours after looking at it"
        )
