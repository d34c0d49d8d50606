"""Where a socket is: a path of any length, although the kernel's addresses are short."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from perdure.control.errors import NameTooLong

LONGEST_ADDRESS: Final = 107
"""In bytes: sun_path holds 108, and the last one ends it."""


def socket_of(journal: Path | str) -> Path:
    """The socket that belongs to a journal."""
    path = Path(journal).expanduser().resolve()
    return path.with_name(f"{path.name}.sock")


@contextmanager
def address_of(path: Path) -> Generator[str]:
    """An address to bind or connect to, good inside this block alone."""
    if _fits(str(path)):
        yield str(path)
        return
    directory = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield _through(directory, path)
    finally:
        os.close(directory)


def _through(directory: int, path: Path) -> str:
    """The kernel follows the descriptor of a directory, however long the way to it is."""
    short = f"/proc/self/fd/{directory}/{path.name}"
    if not _fits(short):
        raise NameTooLong(f"{path.name} is too long for a socket", "give the journal a name of at most 80 bytes")
    return short


def _fits(address: str) -> bool:
    return len(os.fsencode(address)) <= LONGEST_ADDRESS
