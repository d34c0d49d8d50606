"""Time for tests: an event loop in which waiting takes none, and a clock that can be set.

    async def a_day_later():
        clock = FakeClock()
        await clock.sleep(86_400)
        return clock.now() - NOON

    assert run(a_day_later()) == 86_400_000

What happens is the same each time: nothing depends on how fast the machine is. Threads and processes have no place in
such a loop; a journal in memory has.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

__all__ = ["FakeClock", "Stuck", "VirtualLoop", "run"]

NOON: Final = 1_800_000_000_000
"""When a fake clock begins, in milliseconds."""
T = TypeVar("T")


class Stuck(Exception):
    """Nothing is ready, and no timer will change that: whatever is waited for cannot come."""


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop whose time jumps to the next timer when nothing is ready."""

    def __init__(self) -> None:
        super().__init__()
        self._passed = 0.0
        self._selector = self
        """The loop asks its selector to wait; here that is the loop itself, and waiting is cheap."""

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._passed

    def select(self, timeout: float | None) -> list[Any]:
        """Let time pass instead of waiting."""
        if timeout is None:
            raise Stuck("everything waits for something that cannot come")
        self._passed += timeout
        return []

    def _process_events(self, event_list: list[Any]) -> None:
        """There are none: nothing comes from outside."""

    def _write_to_self(self) -> None:
        """Nobody sleeps who would have to be woken."""


def run(main: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run`, in a loop where waiting takes no time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


class FakeClock:
    """The time of day in a test. It goes with the loop, and it can be set as people set clocks."""

    def __init__(self, start: int = NOON) -> None:
        self._start = start

    def now(self) -> int:
        """Milliseconds since 1970."""
        return self._start + round(asyncio.get_running_loop().time() * 1000)

    def set_by(self, seconds: float) -> None:
        """Set it forward, or back if that is negative. Whoever sleeps does not notice."""
        self._start += round(seconds * 1000)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
