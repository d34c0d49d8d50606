"""What a running tool may know of the attempt it belongs to, and what it may say meanwhile."""

import asyncio
import logging
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from perdure.core.calls import Earlier
from perdure.core.policy import Judgement
from perdure.ports import Attempt, Chosen, Desk, Memories, NoMemory, Wanted
from perdure.tools.failure import ToolFailure
from perdure.tools.guard import Guard
from perdure.tools.hands import Hands, Tier
from perdure.tools.usage import more

NO_WORKSPACE: Final = "open the engine with `workspace=...`, or run `perdure run` in one"
Log = logging.LoggerAdapter[logging.Logger]
_NOTING: Final = threading.Lock()


class Context:
    """Handed to a tool that has a parameter of this type. All of it may be used from any thread."""

    known: Mapping[str, Any] = {}
    """Fields of the outcome that hold however the call ends. Of most calls there are none."""

    def __init__(  # noqa: PLR0913, PLR0917  each is a part of what a tool may see
        self,
        attempt: Attempt,
        seconds: float | None = None,
        hands: Hands | None = None,
        guard: Callable[[Attempt], Guard] = Guard,
        memory: Memories | None = None,
        desk: Desk | None = None,
    ) -> None:
        self._attempt: Final = attempt
        self._hands: Final = hands
        self._memory: Final = memory
        self._desk: Final = desk
        self._guarded: Final = guard
        self._guard: Guard | None = None
        allowed = attempt.seconds if seconds is None else seconds
        self._deadline: Final = None if allowed is None else time.monotonic() + allowed
        self._task: asyncio.Task[Any] | None = None
        self._stopped = False

    @property
    def key(self) -> str:
        """The same for every try at the same deed: hand it on, so that a far side can tell a repetition."""
        return self._attempt.key

    @property
    def run(self) -> str:
        """The id of the run."""
        return self._attempt.run

    @property
    def step(self) -> str:
        """The id of the step."""
        return self._attempt.step

    @property
    def visit(self) -> int:
        """How often the run has come to the step."""
        return self._attempt.visit

    @property
    def contained(self) -> tuple[str, ...]:
        """The groups around the step, from the outside in, that keep what is done on a branch's copy."""
        return self._attempt.contained

    @property
    def attempt(self) -> int:
        """Which try at this visit it is, from one."""
        return self._attempt.number

    @property
    def guard(self) -> Guard:
        """Has deeds judged before they are done."""
        if self._guard is None:
            self._guard = self._guarded(self._attempt)
        return self._guard

    @property
    def judged(self) -> tuple[Judgement, ...]:
        """What was said about its deeds so far."""
        return () if self._guard is None else self._guard.judged

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What the plan gave, as JSON."""
        return self._attempt.call.arguments

    @property
    def earlier(self) -> Sequence[Earlier]:
        """What was called before in the same agent's work, and what it gave, the oldest first."""
        return self._attempt.earlier()

    @property
    def hands(self) -> Hands:
        """The workspace and what is needed to work on it."""
        if self._hands is None:
            raise ToolFailure("unavailable", f"{self._attempt.call.name} needs a workspace: {NO_WORKSPACE}")
        return self._hands

    @property
    def memory(self) -> Memories:
        """What runs have taught. `NoMemory` if nobody remembers anything here."""
        if self._memory is None:
            raise NoMemory("nobody remembers anything here", "open an engine on a journal that does")
        return self._memory

    async def choose(self, wanted: Wanted) -> Chosen:
        """Find an agent for a piece of work."""
        if self._desk is None:
            raise ToolFailure("unavailable", "there are no agents here: open the engine with `agents=[...]`")
        return await self._desk.choose(wanted, self._attempt)

    @property
    def seconds_left(self) -> float | None:
        """How long it may still take; None: as long as it likes."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    @property
    def cancelled(self) -> bool:
        """Whether it was asked to stop."""
        return self._stopped or (self._task is not None and self._task.cancelling() > 0)

    def raise_if_cancelled(self) -> None:
        """End here if nobody wants the result any more. For loops in functions without `async`."""
        if self.cancelled:
            raise ToolFailure("cancelled", "it was asked to stop")

    @cached_property
    def log(self) -> Log:
        """A logger whose records carry `run` and `step`."""
        extra: Mapping[str, object] = {"run": self.run, "step": self.step}
        return logging.LoggerAdapter(logging.getLogger(f"perdure.tools.{self._attempt.call.name}"), extra)

    def progress(self, fraction: float, message: str = "") -> None:
        """Tell watchers how far it is, from 0 to 1, and a line about it."""
        if not self._stopped:
            self._attempt.report(0.0 if math.isnan(fraction) else min(1.0, max(0.0, fraction)), message)

    def spend(self, *, usd: float | None = None, tokens: int = 0, calls: int = 0) -> None:
        """Say what was taken just now: money, and tokens and calls of models. It adds up, and counts however it ends.

        Whoever says nothing has taken what was expected. `ToolFailure` for what is no amount; then nothing is counted.
        """
        with _NOTING:
            self._note("usage", more(self.known.get("usage"), usd, tokens, calls))

    def kept_in(self, tier: Tier) -> None:
        """Say what a command of this call is kept in: a lower tier is told with its end."""
        if tier != "bwrap":
            with _NOTING:
                self._note("sandboxed", tier)

    def _note(self, word: str, value: Any) -> None:
        self.known = {**self.known, word: value}
        self._attempt.note(self._attempt, word, value)

    def follow(self, task: asyncio.Task[Any] | None) -> None:
        """Count as cancelled from the moment this task is."""
        self._task = task

    def stop(self) -> None:
        """Ask the tool to stop; what it says from now on is not heard."""
        self._stopped = True
