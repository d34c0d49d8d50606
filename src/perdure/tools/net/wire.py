"""A socket with an end in time: no other side can hold us longer than we meant to stay."""

import io
import socket
import time
from collections.abc import Callable
from typing import Any, Final

from perdure.tools.failure import ToolFailure

LOOK: Final = 0.25
"""Seconds between two looks at whether anybody still wants the result."""


class Wire:
    """Stands where `http.client` expects a socket."""

    def __init__(self, sock: socket.socket, until: float, is_cancelled: Callable[[], bool]) -> None:
        self._sock: Final = sock
        self._until: Final = until
        self._is_cancelled: Final = is_cancelled
        self.has_sent = False
        """Whether anything may have reached the other side."""

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        """What a response is read from."""
        return io.BufferedReader(_Reading(self))

    def sendall(self, data: bytes) -> None:
        """Send all of it, in time."""
        left = memoryview(data)
        while left:
            self._wait(self._left())
            self.has_sent = True
            left = left[self._sock.send(left) :]

    def receive(self, buffer: Any) -> int:
        """Some of what comes, in time."""
        while True:
            self._wait(min(LOOK, self._left()))
            try:
                return self._sock.recv_into(buffer)
            except TimeoutError:
                continue

    def _wait(self, seconds: float) -> None:
        if self._is_cancelled():
            raise ToolFailure("cancelled", "it was asked to stop")
        self._sock.settimeout(seconds)

    def _left(self) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time was up")
        return left

    def close(self) -> None:
        """Nothing yet: `http.client` calls this when a response begins, and the response is still to be read."""

    def hang_up(self) -> None:
        """Close the connection."""
        self._sock.close()


class _Reading(io.RawIOBase):
    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire: Final = wire

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        return self._wire.receive(buffer)
