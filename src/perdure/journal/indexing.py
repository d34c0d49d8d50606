"""When the words of memories are brought in: a while after the first of them was written, many at once."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from perdure.ports import JournalError

SOON: Final = 1.0
"""Seconds. Whoever searches in the process that writes does not wait for that."""
_log: Final = logging.getLogger("perdure.journal")


class Indexing:
    """A task that is there only while there is something to bring in."""

    def __init__(self, catch_up: Callable[[], Awaitable[bool]]) -> None:
        self._catch_up = catch_up
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def soon(self) -> None:
        """There is something to bring in."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SOON, self._begin)

    def _begin(self) -> None:
        self._timer = None
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    async def _work(self) -> None:
        try:
            while await self._catch_up():
                pass
        except JournalError as error:  # whoever searches is told, and the next to open the file tries again
            _log.warning("what runs have taught cannot be looked up now: %s", error)

    async def close(self, *, waits: bool) -> None:
        """Bring in what waits, but no more than one commit takes; the rest is there when the file is opened again."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if waits:
            with suppress(JournalError):
                await self._catch_up()
