"""The stage: attempts at work, each in a task of its own."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from perdure.core.calls import Failure, Outcome
from perdure.core.values import to_json, well_formed
from perdure.ports import Attempt, Performer

MOST_DETAIL: Final = 4096
"""The most letters that a failure may have."""
Told = Callable[[Attempt, Outcome, bool], None]
"""Called with an attempt, what came of it, and whether it was to undo."""
Name = tuple[str, int, int, bool]


@dataclass(slots=True)
class _Act:
    """An attempt at work."""

    attempt: Attempt
    task: "asyncio.Task[None] | None" = None
    stopped: str = ""
    """Why it was asked to stop."""


class Stage:
    """Lets attempts begin and end. What comes of one is told exactly once, also if it does not listen."""

    def __init__(self, performer: Performer, told: Told, grace: float) -> None:
        self._performer = performer
        self._told = told
        self._grace = grace
        self._acts: dict[Name, _Act] = {}

    @property
    def busy(self) -> int:
        """How many attempts are at work."""
        return len(self._acts)

    def start(self, attempt: Attempt, *, undo: bool = False) -> None:
        """Begin."""
        name = (attempt.step, attempt.visit, attempt.number, undo)
        if name not in self._acts:
            act = self._acts[name] = _Act(attempt)
            act.task = asyncio.get_running_loop().create_task(self._perform(name, act))

    async def _perform(self, name: Name, act: _Act) -> None:
        try:
            outcome = await self._performer.perform(act.attempt)
        except asyncio.CancelledError:
            outcome = _cut_short(act.stopped)
        except Exception as error:  # noqa: BLE001  whatever a performer does, the run hears of it
            outcome = Outcome.failed("unknown", f"{type(error).__name__}: {error}")
        self._tell(name, act, outcome)

    def stop(self, step: str, visit: int, number: int, why: str) -> None:
        """Ask an attempt to end; after a while, stop waiting for it. `why`: `timeout` or `cancelled`."""
        name = (step, visit, number, False)
        act = self._acts.get(name)
        if act is None or act.stopped or act.task is None:
            return
        act.stopped = why
        act.task.cancel()
        asyncio.get_running_loop().call_later(self._grace, self._give_up, name, act)

    def _give_up(self, name: Name, act: _Act) -> None:
        self._tell(name, act, Outcome.failed(act.stopped, "it did not stop when it was asked to"))

    def _tell(self, name: Name, act: _Act, outcome: Outcome) -> None:
        if self._acts.get(name) is act:
            del self._acts[name]
            self._told(act.attempt, outcome, name[3])

    async def clear(self) -> None:
        """Stop everything and tell nothing: whoever loads the run next will find the attempts in doubt."""
        tasks = [act.task for act in self._acts.values() if act.task is not None]
        self._acts.clear()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self._grace)


def _cut_short(why: str) -> Outcome:
    if why == "timeout":
        return Outcome.failed("timeout", "it took longer than it may")
    return Outcome.failed("cancelled", "it was stopped")


def presentable(failure: Failure) -> Failure:
    """A failure that can be written down, whatever a performer put into it."""
    try:
        small = len(to_json(failure.detail)) <= MOST_DETAIL
    except ValueError:
        small = False
    message = well_formed(str(failure.message)[:MOST_DETAIL])
    return replace(failure, message=message, detail=failure.detail if small else None)
