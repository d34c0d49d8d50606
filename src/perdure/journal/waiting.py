"""Waking those who wait for a run to grow, within one process and one event loop."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sized

Look = Callable[[], Awaitable[Sized]]


class Waiters:
    """Futures by run. Each is woken once, by the next turn of its run."""

    def __init__(self) -> None:
        self._by_run: dict[str, set[asyncio.Future[None]]] = {}

    def wake_all(self, runs: Iterable[str]) -> None:
        """Tell all who wait for one of these runs."""
        if self._by_run:
            for run in runs:
                for each in self._by_run.pop(run, ()):
                    if not each.done():
                        each.set_result(None)

    async def until(self, run: str, look: Look, timeout: float) -> bool:  # noqa: ASYNC109  as the seam says
        """Whether there is something to see, now or after the next turn of the run, or after this time."""
        waiting = self.enter(run)
        try:
            if not await look():
                await asyncio.wait([waiting], timeout=timeout)
        finally:
            self.leave(run, waiting)
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
