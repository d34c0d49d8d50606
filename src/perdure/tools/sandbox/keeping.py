"""Keeping what a command says, however much that is: its beginning and its end."""

from typing import Final

_MARK: Final = "\n… {left:,} bytes left out …\n"


class Kept:
    """The first half and the last half of a stream that may be endless."""

    def __init__(self, most: int) -> None:
        self._half: Final = max(1, most // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self._left = 0

    def add(self, more: bytes) -> None:
        """Hear some more of it."""
        room = self._half - len(self._head)
        self._head += more[:room]
        self._tail += more[room:] if room > 0 else more
        if len(self._tail) > 2 * self._half:  # not at every byte, or each would move the whole half
            self._trim()

    def _trim(self) -> None:
        over = len(self._tail) - self._half
        if over > 0:
            del self._tail[:over]
            self._left += over

    @property
    def truncated(self) -> bool:
        """Whether something was left out."""
        self._trim()
        return self._left > 0

    def data(self) -> bytes:
        """What was kept, with a line where something is missing."""
        self._trim()
        mark = _MARK.format(left=self._left).encode() if self._left else b""
        return bytes(self._head) + mark + bytes(self._tail)
