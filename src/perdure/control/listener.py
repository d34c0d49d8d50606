"""The socket file: private from the first moment, replaced when its maker was killed, removed when it is still ours."""

import os
import socket
import stat
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from perdure.control.address import address_of
from perdure.control.errors import CannotListen

_PRIVATE: Final = 0o600
_BACKLOG: Final = 128


@contextmanager
def listening(path: Path) -> Generator[socket.socket]:
    """A socket that listens at a path. The caller holds the journal's lock, so whoever made an old one is dead."""
    with ExitStack() as closing:
        try:
            listener = _opened(path.absolute(), closing)
        except OSError as error:
            raise CannotListen(f"cannot listen at {path}: {error.strerror}") from error
        yield listener


def _opened(path: Path, closing: ExitStack) -> socket.socket:
    _clear(path)
    listener = closing.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
    listener.settimeout(0)
    os.fchmod(listener.fileno(), _PRIVATE)  # Linux makes the file with the socket's mode: it is never open to others
    with address_of(path) as address:
        listener.bind(address)
    closing.callback(_remove, path, _identity(path))
    listener.listen(_BACKLOG)
    return listener


def _clear(path: Path) -> None:
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise CannotListen(f"{path} is in the way, and it is not a socket", "move it to another place")
        path.unlink()


def _identity(path: Path) -> tuple[int, int]:
    found = path.lstat()
    return found.st_dev, found.st_ino


def _remove(path: Path, ours: tuple[int, int]) -> None:
    """Leave alone what somebody else has put there. Our own number is not given anew before we close the socket."""
    with suppress(OSError):
        if _identity(path) == ours:
            path.unlink()
