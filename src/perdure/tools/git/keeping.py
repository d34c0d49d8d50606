"""Small files of the engine's own, written so that they are there whole or not at all, whenever the power goes."""

import os
from pathlib import Path
from typing import Final

PRIVATE_FILE: Final = 0o600
PRIVATE_DIRECTORY: Final = 0o700


def make_private(directory: Path) -> None:
    """A directory that only its owner can enter; one that is there stays as it is."""
    if not directory.is_dir():
        make_private(directory.parent)
        directory.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
        _sync(directory.parent)


def keep(path: Path, data: bytes) -> None:
    """Write a file."""
    make_private(path.parent)
    draft = path.with_name(f"{path.name}.new")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE_FILE)
    with os.fdopen(file, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(file)
    draft.rename(path)
    _sync(path.parent)


def recall(path: Path) -> bytes | None:
    """What was kept, if anything was."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _sync(directory: Path) -> None:
    file = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
