"""The stage: attempts at work, each in a task of its own."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from perdure.core.calls import Failure, Outcome, Usage
from perdure.core.events import Deed
from perdure.core.values import keep, well_formed
from perdure.ports import Attempt, Performer

MOST_DETAIL: Final = 4096
"""The most letters that a failure may have."""
LONGEST_WAIT: Final = 365 * 86_400.0
"""The most seconds that another side can ask us to stay away."""
MOST_TOLD: Final = 2.0**53
"""What an attempt can be said to have taken, of anything."""
NOT_BEGUN: Final = Outcome.failed("unavailable", "it was stopped before it began")
"""Of this one it is known that nothing was done."""
Told = Callable[[Attempt, Outcome, Deed], None]
"""Called with an attempt, what came of it, and which deed it was."""
_FAILURE: Final = (Failure, type(None))
Name = tuple[str, int, int, Deed]


@dataclass(slots=True)
class _Act:
    """An attempt at work."""

    attempt: Attempt
    task: "asyncio.Task[None] | None" = None
    stopped: str = ""
    """Why it was asked to stop."""
    known: dict[str, Any] | None = None
    """Fields of its outcome that hold however it ends."""


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

    def start(self, attempt: Attempt, deed: Deed = "do") -> None:
        """Begin."""
        name = (attempt.step, attempt.visit, attempt.number, deed)
        if name not in self._acts:
            act = self._acts[name] = _Act(attempt)
            act.task = asyncio.get_running_loop().create_task(self._perform(name, act), name=attempt.step)

    async def _perform(self, name: Name, act: _Act) -> None:
        try:
            outcome = await self._performer.perform(act.attempt)
        except asyncio.CancelledError:
            outcome = _cut_short(act.stopped)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  whatever a performer does, also SystemExit, the run hears of it
            outcome = Outcome.failed("unknown", _said(error))
        self._tell(name, act, _checked(outcome))

    def stop(self, step: str, visit: int, number: int, why: str, deed: Deed = "do") -> bool:
        """Ask an attempt to end; after a while, stop waiting for it. `why`: `timeout` or `cancelled`.

        Whether it is at work.
        """
        name = (step, visit, number, deed)
        act = self._acts.get(name)
        if act is None or act.task is None:
            return False
        if not act.stopped:
            act.stopped = why
            act.task.cancel()
            act.task.add_done_callback(lambda _: self._tell(name, act, NOT_BEGUN))  # else it has told what came of it
            asyncio.get_running_loop().call_later(self._grace, self._give_up, name, act)
        return True

    def _give_up(self, name: Name, act: _Act) -> None:
        self._tell(name, act, Outcome.failed(act.stopped, "it did not stop when it was asked to"))

    def _tell(self, name: Name, act: _Act, outcome: Outcome) -> None:
        if self._acts.get(name) is act:
            del self._acts[name]
            if act.known:
                outcome = replace(outcome, **act.known)
            self._told(act.attempt, outcome, name[3])

    def note(self, attempt: Attempt, word: str, value: Any) -> None:
        """Keep what an attempt says of itself before its end. One that was told of already is not heard any more."""
        act = self._acts.get((attempt.step, attempt.visit, attempt.number, _deed_of(attempt)))
        if act is not None:
            act.known = {**(act.known or {}), word: value}

    async def clear(self) -> None:
        """Stop everything and tell nothing: whoever loads the run next will find the attempts in doubt."""
        tasks = [act.task for act in self._acts.values() if act.task is not None]
        self._acts.clear()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self._grace)


def _deed_of(attempt: Attempt) -> Deed:
    return "probe" if attempt.by == "probe" else attempt.deed


def _checked(outcome: object) -> Outcome:
    if isinstance(outcome, Outcome) and isinstance(outcome.failure, _FAILURE) and isinstance(outcome.exit, str):
        return outcome
    return Outcome.failed("invalid", f"the performer gave {type(outcome).__name__}, which is no outcome")


def _cut_short(why: str) -> Outcome:
    if why == "timeout":
        return Outcome.failed("timeout", "it took longer than it may")
    return Outcome.failed("cancelled", "it was stopped")


def presentable(failure: Failure) -> Failure:
    """A failure that can be written down, whatever a performer put into it."""
    kind = failure.kind if isinstance(failure.kind, str) and failure.kind.isascii() else "unknown"
    return Failure(kind, well_formed(str(failure.message)[:MOST_DETAIL]), _pause(failure), _detail(failure.detail))


def countable(usage: Usage) -> Usage:
    """What a performer says it took, as far as it can be believed: numbers, none below zero."""
    seconds, usd = _amount(usage.seconds), _amount(usage.usd)
    return Usage(seconds, int(_amount(usage.tokens) or 0), usd, int(_amount(usage.calls) or 0))


def _amount(told: Any) -> float | None:
    is_number = isinstance(told, (int, float)) and 0 <= told < MOST_TOLD
    return float(told) if is_number else None


def _pause(failure: Failure) -> float | None:
    asked = failure.retry_after
    is_time = isinstance(asked, (int, float)) and 0 <= asked < float("inf")
    return min(float(asked), LONGEST_WAIT) if is_time and asked is not None else None


def _detail(detail: Any) -> Any:
    kept: dict[str, bytes] = {}
    try:
        value = keep(detail, kept)
    except ValueError:
        return None
    return value.data if not kept else None


def _said(error: BaseException) -> str:
    """What an exception says, also one that cannot be printed."""
    try:
        return f"{type(error).__name__}: {error}"[:MOST_DETAIL]
    except Exception:  # noqa: BLE001  its own fault is not ours
        return type(error).__name__
