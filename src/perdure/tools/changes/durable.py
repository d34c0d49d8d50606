"""Files of the engine's own that survive a power cut."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

PRIVATE_FILE: Final = 0o600
PRIVATE_DIRECTORY: Final = 0o700


def make_private(directory: Path) -> None:
    """Make a directory that only its owner can enter; one that is there stays as it is."""
    if not directory.is_dir():
        make_private(directory.parent)
        directory.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
        sync_directory(directory.parent)


def write_durably(path: Path, data: bytes) -> None:
    """Write a file that is either there whole or not at all. One writer at a time: the draft has one name."""
    draft = path.with_name(f"{path.name}.new")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_FILE)
    try:
        write_all(file, data)
        os.fsync(file)
    finally:
        os.close(file)
    draft.rename(path)
    sync_directory(path.parent)


def write_all(file: int, data: bytes) -> None:
    """Write all of it, however often it takes."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


@contextmanager
def locked(path: Path, kind: int) -> Generator[None]:
    """Hold the lock of a file or a directory for a while: `LOCK_SH` among others, `LOCK_EX` alone."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(file, kind)
        yield
    finally:
        os.close(file)


def sync_directory(directory: Path) -> None:
    """Make names in a directory durable."""
    file = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
