"""The stage: attempts at work, each in a task of its own."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from perdure.core.calls import Failure, Outcome
from perdure.core.values import to_json, well_formed
from perdure.ports import Attempt, Performer

MOST_DETAIL: Final = 4096
"""The most letters that a failure may have."""
Told = Callable[[Attempt, Outcome, bool], None]
"""Called with an attempt, what came of it, and whether it was to undo."""


def presentable(failure: Failure) -> Failure:
    """A failure that can be written down, whatever a performer put into it."""
    try:
        small = len(to_json(failure.detail)) <= MOST_DETAIL
    except ValueError:
        small = False
    return replace(
        failure, message=well_formed(str(failure.message)[:MOST_DETAIL]), detail=failure.detail if small else None
    )


class Stage:
    """Lets attempts begin and end. What comes of one is told exactly once, also if it does not listen."""

    def __init__(self, performer: Performer, told: Told, grace: float) -> None:
        self._performer = performer
        self._told = told
        self._grace = grace
        self._tasks: dict[tuple[str, int, int, bool], asyncio.Task[Outcome]] = {}
        self._attempts: dict[asyncio.Task[Outcome], tuple[tuple[str, int, int, bool], Attempt]] = {}
        self._stopped: dict[asyncio.Task[Outcome], str] = {}

    def start(self, attempt: Attempt, *, undo: bool = False) -> None:
        """Begin."""
        name = (attempt.step, attempt.visit, attempt.number, undo)
        if name in self._tasks:
            return
        task = asyncio.get_running_loop().create_task(self._performer.perform(attempt))  # pyright: ignore[reportArgumentType]
        self._tasks[name] = task
        self._attempts[task] = (name, attempt)
        task.add_done_callback(self._done)

    def stop(self, step: str, visit: int, number: int, kind: str) -> None:
        """Ask an attempt to end; after a while, stop waiting for it."""
        task = self._tasks.get((step, visit, number, False))
        if task is None or task in self._stopped:
            return
        self._stopped[task] = kind
        task.cancel()
        asyncio.get_running_loop().call_later(self._grace, self._give_up, task)

    def _give_up(self, task: asyncio.Task[Outcome]) -> None:
        if task in self._attempts:
            self._tell(task, Outcome.failed(self._stopped[task], "it did not stop when it was asked to"))

    def _done(self, task: asyncio.Task[Outcome]) -> None:
        if task not in self._attempts:
            if not task.cancelled():
                task.exception()  # nobody waits any more; looked at, so that nobody is warned
            return
        self._tell(task, self._outcome(task))

    def _outcome(self, task: asyncio.Task[Outcome]) -> Outcome:
        kind = self._stopped.get(task, "cancelled")
        if task.cancelled():
            return Outcome.failed(kind, "it took longer than it may" if kind == "timeout" else "it was stopped")
        error = task.exception()
        if error is not None:
            return Outcome.failed("unknown", f"{type(error).__name__}: {error}"[:2000])
        return task.result()

    def _tell(self, task: asyncio.Task[Outcome], outcome: Outcome) -> None:
        name, attempt = self._attempts.pop(task)
        del self._tasks[name]
        self._stopped.pop(task, None)
        self._told(attempt, outcome, name[3])

    async def clear(self) -> None:
        """Stop everything and tell nothing: whoever loads the run next will find the attempts in doubt."""
        tasks = list(self._attempts)
        self._tasks.clear()
        self._attempts.clear()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self._grace)

    @property
    def busy(self) -> int:
        """How many attempts are at work."""
        return len(self._tasks)
