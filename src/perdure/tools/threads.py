"""Threads for functions that block. A stuck one is given up: it holds up neither others nor the end of the process."""

import asyncio
import contextlib
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Final

from perdure.core.calls import Outcome

IDLE: Final = 10.0
"""Seconds a thread waits for another job before it ends."""
LOST: Final = 4
"""Calls that were given up but go on may be this many times as many as calls under way."""


class Threads:
    """At most so many calls at once; more wait. The standard pool will not do: the process waits for it at its end."""

    def __init__(self, most: int) -> None:
        self._free = asyncio.Semaphore(most)
        self._most_lost = most * LOST
        self._lost = 0
        self._idle = 0
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._lock = threading.Lock()

    async def run(self, work: Callable[[], Outcome]) -> Outcome:
        """Do it in a thread, with the context variables of this task. When this is cancelled, it ends at once."""
        async with self._free:
            if self._lost >= self._most_lost:
                return Outcome.failed("unavailable", f"{self._lost} calls that were given up are still going on")
            job = _Job(work)
            self._begin(job)
            try:
                return await job.future
            except asyncio.CancelledError:
                self._lose(job)
                raise

    def _begin(self, job: "_Job") -> None:
        with self._lock:
            if self._idle:
                self._idle -= 1
                self._jobs.put(job)
                return
        threading.Thread(target=self._work, args=(job,), name="perdure-tool", daemon=True).start()

    def _work(self, first: "_Job") -> None:
        job: _Job | None = first
        while job is not None:
            job.do()
            with self._lock:
                self._lost -= job.lost
                job.over = True
                self._idle += 1
            del job  # holds the result while there is nothing else to do
            job = self._next()

    def _next(self) -> "_Job | None":
        try:
            return self._jobs.get(timeout=IDLE)
        except queue.Empty:
            with self._lock:
                if self._idle:
                    self._idle -= 1
                    return None
        return self._jobs.get()  # all who are idle have been counted on, this one too

    def _lose(self, job: "_Job") -> None:
        with self._lock:
            if not job.over:
                job.lost = True
                self._lost += 1


class _Job:
    """A call in a thread, and the task that waits for it."""

    def __init__(self, work: Callable[[], Outcome]) -> None:
        self._loop: Final = asyncio.get_running_loop()
        self.future: Final[asyncio.Future[Outcome]] = self._loop.create_future()
        self._context: Final = contextvars.copy_context()
        self._work: Final = work
        self.lost = False
        self.over = False

    def do(self) -> None:
        """Work, and tell the loop what came of it, if there still is one."""
        outcome, error = None, None
        try:
            outcome = self._context.run(self._work)
        except BaseException as raised:  # noqa: BLE001  what is no outcome belongs to the task that waits
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._settle, outcome, error)

    def _settle(self, outcome: Outcome | None, error: BaseException | None) -> None:
        if self.future.done():
            return
        if outcome is not None:
            self.future.set_result(outcome)
        elif error is not None:
            self.future.set_exception(error)
