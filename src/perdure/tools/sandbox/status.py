"""What bubblewrap tells of a sandbox: the number of its first process, and how the command ended."""

import asyncio
import json
import os
from typing import Any, Final

from perdure.tools.sandbox.errors import SandboxFailed

_DEAD: Final = "its first process was gone at once"


class Status:
    """Listens to the descriptor that bubblewrap writes to."""

    def __init__(self, descriptor: int) -> None:
        self._loop: Final = asyncio.get_running_loop()
        self._descriptor: Final = descriptor
        self._text = b""
        self._first: Final[asyncio.Future[int]] = self._loop.create_future()
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._hear)

    @classmethod
    def piped(cls) -> "tuple[Status, int]":
        """A listener, and what to tell it by: a descriptor that is its own reader too.

        So whoever writes to it after our death is not killed by that, half way through, with a child that waits for it.
        """
        listening, writing = os.pipe2(os.O_CLOEXEC)
        try:
            telling = os.open(f"/proc/self/fd/{writing}", os.O_RDWR | os.O_CLOEXEC)
        finally:
            os.close(writing)
        return cls(listening), telling

    async def first(self) -> int:
        """The number of the first process, outside."""
        return await self._first

    @property
    def started(self) -> bool:
        """Whether the command was begun: it is only told how something ended that was."""
        return any("exit-code" in each for each in self._told())

    def close(self) -> None:
        """Listen no more."""
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._first.cancel()

    def _hear(self) -> None:
        try:
            more = os.read(self._descriptor, 4096)
        except BlockingIOError:
            return
        self._text += more
        found = [each["child-pid"] for each in self._told() if "child-pid" in each]
        if found and not self._first.done():
            self._first.set_result(found[0])
        if not more:
            self._loop.remove_reader(self._descriptor)
            if not self._first.done():
                self._first.set_exception(SandboxFailed(_DEAD))

    def _told(self) -> list[dict[str, Any]]:
        lines = self._text.split(b"\n")[:-1]
        return [json.loads(line) for line in lines if line.strip()]
