"""Tracing: the spans of runs are sent while they happen, each once, and from where the last process has stopped.

It follows the journal, so it holds up nobody: a collector that is slow or gone is one that hears of it later.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, Protocol

from perdure.observing.content import content_of
from perdure.observing.following import PAGE, Copied, Following, Told, first_of, news
from perdure.observing.place import Place
from perdure.observing.spans import Span, spans_of
from perdure.ports import Journal

FLUSH: Final = 2.0
"""Seconds that whoever leaves waits for the last spans to be taken. What is left then is sent by the next process."""
_AGAIN: Final = 5.0
"""Seconds until something is sent again that was not taken."""
_CAPTURE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
Sent = Sequence[tuple[Span, Mapping[str, Any]]]


class Taking(Protocol):
    """Takes spans."""

    def take(self, spans: Sent) -> bool:
        """Whether they were taken. It is called from a thread of its own, and may take its time."""
        ...

    def close(self) -> None:
        """Give up what is under way."""
        ...


@asynccontextmanager
async def traced(
    journal: Journal, copied: Copied, place: Place, collector: Taking, flush: float = FLUSH
) -> AsyncGenerator[None]:
    """While this lasts, the spans of what happens are sent. Then the last ones are, within a bound."""
    tracer = _Tracer(journal, copied, place, collector)
    await tracer.begin()
    task = asyncio.create_task(tracer.go_on())
    try:
        yield
    finally:
        tracer.is_leaving.set()
        await asyncio.wait([task], timeout=flush)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        tracer.close()


class _Tracer:
    def __init__(self, journal: Journal, copied: Copied, place: Place, collector: Taking) -> None:
        self.is_leaving: Final = asyncio.Event()
        self._journal: Final = journal
        self._following: Final = Following(journal, copied)
        self._place: Final = place
        self._collector: Final = collector
        self._thread: Final = _Thread()
        self._number = 0
        self._run = ""
        self._shows: Final = os.environ.get(_CAPTURE, "").lower() in {"true", "1", "span_only", "span_and_event"}

    async def begin(self) -> None:
        """Go on where the last one has stopped; the first one begins here, and tells nothing of what was before."""
        noted = await asyncio.to_thread(self._place.read)
        number, run = noted.get("number"), str(noted.get("run", ""))
        if isinstance(number, int) and await self._following.is_of(number, run):
            self._number, self._run = number, run
        else:
            self._number = await self._journal.last_arrival()
            await asyncio.to_thread(self._place.write, {"number": self._number, "run": ""})

    async def go_on(self) -> None:
        """Until it is told to leave, and has told all that was there then."""
        while True:
            is_last = self.is_leaving.is_set()
            if not await self._tell_all() or is_last:
                return
            await news(self._journal, self._number, self.is_leaving)

    async def _tell_all(self) -> bool:
        """Tell what there is now; False: it is to leave, and nobody takes anything."""
        spans = list[tuple[Span, Mapping[str, Any]]]()
        number, run = self._number, self._run
        async for told in self._following.after(self._number):
            spans += self._spans(told)
            number, run = told.turn.number, told.turn.run
            if len(spans) >= PAGE:
                if not await self._send(spans, number, run):
                    return False
                spans = []
        return number == self._number or await self._send(spans, number, run)

    def _spans(self, told: Told) -> list[tuple[Span, Mapping[str, Any]]]:
        found = spans_of(told.story, told.happenings)
        return [(each, content_of(each, told.turn, self._journal.fetch) if self._shows else {}) for each in found]

    async def _send(self, spans: Sent, number: int, run: str) -> bool:
        """Until they are taken. What was taken is noted at once, so that a kill repeats little, and loses nothing."""
        while spans and not await self._thread.do(partial(self._collector.take, spans)):
            await first_of(asyncio.ensure_future(asyncio.sleep(_AGAIN)), self.is_leaving)
            if self.is_leaving.is_set():
                return False
        self._number, self._run = number, run
        await self._thread.do(partial(self._place.write, {"number": number, "run": run}))
        return True

    def close(self) -> None:
        self._collector.close()
        self._thread.close()


class _Thread:
    """A thread that nobody waits for: not even the end of the process."""

    def __init__(self) -> None:
        self._queue: Final = SimpleQueue[Any]()
        Thread(target=self._work, name="perdure-traces", daemon=True).start()

    async def do(self, work: Any) -> Any:
        """What comes of some work."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.put((work, future))
        return await future

    def close(self) -> None:
        """Let it end when it has nothing more to do."""
        self._queue.put(None)

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            work, future = item
            try:
                done = work()
            except Exception:  # noqa: BLE001  a library that fails harms no run; it counts as not taken
                done = False
            with suppress(RuntimeError):  # the loop is gone, and whoever waited with it
                future.get_loop().call_soon_threadsafe(_settle, future, done)


def _settle(future: "asyncio.Future[Any]", done: Any) -> None:
    if not future.done():
        future.set_result(done)
