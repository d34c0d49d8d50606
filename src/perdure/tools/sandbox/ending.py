"""Ending processes so that nothing of them is left: not a child, not a late write."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

T = TypeVar("T")
GRACE: Final = 5.0
"""Seconds within which a process that was killed is gone, unless the kernel itself is stuck."""


class Held:
    """A process that is held by a descriptor, so that its number cannot mean another one."""

    def __init__(self, pid: int) -> None:
        self.descriptor: Final = os.pidfd_open(pid)

    async def end(self) -> bool:
        """Kill it and wait until it is gone; if it is the first of its namespace, all in there are gone before it.

        False: it is still there after the grace.
        """
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.descriptor, signal.SIGKILL)
        return await self.gone(GRACE)

    def close(self) -> None:
        """Let go of it."""
        os.close(self.descriptor)

    async def gone(self, seconds: float | None = None) -> bool:
        """Wait until it is gone; False if it still is not after so many seconds."""
        loop = asyncio.get_running_loop()
        gone: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self.descriptor, lambda: gone.done() or gone.set_result(None))
        try:
            async with asyncio.timeout(seconds):
                await gone
        except TimeoutError:
            return False
        finally:
            loop.remove_reader(self.descriptor)
        return True


async def surely(work: Coroutine[Any, Any, T]) -> T:
    """Do it to the end, also if this is cancelled meanwhile; then that is heard afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        _ = task.cancelled() or task.exception()  # nobody wants to know any more
        raise cancelled
    return task.result()
