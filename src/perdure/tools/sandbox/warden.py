"""The warden: a process that outlives the engine for a moment, to end what it has left running.

It is handed every sandbox, as the descriptor of its first process, before the command in it begins. When the engine is
gone, however that came about, the warden kills them all and ends. Bubblewrap's own `--die-with-parent` will not do: an
engine that dies while a sandbox is being set up takes bubblewrap with it, and its child waits for it for ever.

The file also runs alone: it is started by its path, with its end of a pair of sockets as standard input.
"""

import contextlib
import os
import select
import signal
import socket
import sys
import threading
from typing import Final

_PIECE: Final = 64
_MOST: Final = 16
"""Descriptors that are taken at once."""


class Warden:
    """Our side of it. There is one in a process; it is started when it is first needed, and again if it was killed."""

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._socket: socket.socket | None = None
        self._owner = 0
        self._pid = 0

    def entrust(self, descriptor: int) -> None:
        """Have a process ended when we are gone. From here on that is certain, even if we die at once."""
        with self._lock:
            if self._handed(descriptor):
                return
            self._start()
            if not self._handed(descriptor):
                raise OSError("no warden can be started")

    def _handed(self, descriptor: int) -> bool:
        if self._socket is None or self._owner != os.getpid():  # in a fork of us it is not ours
            return False
        try:
            socket.send_fds(self._socket, [b"x"], [descriptor])
        except OSError:
            return False
        return True

    def _start(self) -> None:
        if self._pid and self._owner == os.getpid():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._pid, 0)
        if (
            self._socket is not None
        ):  # in a fork: while a copy of it is open, its warden would not hear of our parent's end
            self._socket.close()
        self._socket, theirs = socket.socketpair()
        self._owner = os.getpid()
        with theirs:
            actions = [(os.POSIX_SPAWN_DUP2, theirs.fileno(), 0)]
            words = [sys.executable, "-I", "-S", __file__]
            self._pid = os.posix_spawn(sys.executable, words, {}, file_actions=actions, setsid=True)


WARDEN: Final = Warden()

# ------------------------------------------------------------------------------- the other side


def main() -> None:
    """Hold what is handed over until it ends by itself, or the engine does."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    held: set[int] = set()
    with socket.socket(fileno=0) as engine:
        looking = select.poll()
        looking.register(engine, select.POLLIN)
        while True:
            for descriptor, _ in looking.poll():
                if descriptor in held:
                    looking.unregister(descriptor)
                    held.remove(descriptor)
                    os.close(descriptor)
                elif not _take(engine, held, looking):
                    return _end(held)


def _take(engine: socket.socket, held: set[int], looking: "select.poll") -> bool:
    """Take what is handed over; False if there is nobody any more who could."""
    try:
        word, found, _, _ = socket.recv_fds(engine, _PIECE, _MOST)
    except OSError:
        return False
    for each in found:
        held.add(each)
        looking.register(each, select.POLLIN)
    return bool(word)


def _end(held: set[int]) -> None:
    for each in held:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(each, signal.SIGKILL)


if __name__ == "__main__":
    main()
