"""Waking those who wait for a run to grow, or any run, within one process and one event loop."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sized
from typing import Final

Look = Callable[[], Awaitable[Sized]]
ANY: Final = ""
"""Stands for all runs. None has this id."""


class Waiters:
    """Futures by run. Each is woken once, by the next turn of its run."""

    def __init__(self, look_again: float = float("inf")) -> None:
        """`look_again`: after how many seconds to look without being woken, where somebody else writes."""
        self._by_run: dict[str, set[asyncio.Future[None]]] = {}
        self._look_again = look_again

    def wake_all(self, runs: Iterable[str]) -> None:
        """Tell all who wait for one of these runs."""
        if self._by_run and (grown := [*runs]):
            for run in (*grown, ANY):
                for each in self._by_run.pop(run, ()):
                    if not each.done():
                        each.set_result(None)

    async def until(self, run: str, look: Look, timeout: float) -> bool:  # noqa: ASYNC109  as the seam says
        """Whether there is something to see, now or after the next turn of the run, or after this time."""
        while True:
            waiting = self.enter(run)
            try:
                if await look():
                    return True
                await asyncio.wait([waiting], timeout=min(timeout, self._look_again))
            finally:
                self.leave(run, waiting)
            timeout -= self._look_again
            if timeout <= 0:
                return bool(await look())

    def enter(self, run: str) -> asyncio.Future[None]:
        """Begin to wait. Enter first and look then, so that no turn falls between."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._by_run.setdefault(run, set()).add(future)
        return future

    def leave(self, run: str, future: asyncio.Future[None]) -> None:
        """Stop waiting."""
        waiting = self._by_run.get(run, set())
        waiting.discard(future)
        if not waiting:
            self._by_run.pop(run, None)
