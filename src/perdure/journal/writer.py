"""The writer thread: turns that wait while one commit is under way share the next one."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from perdure.journal.store import Store
from perdure.ports import Closed, JournalError, Turn

MOST_TURNS: Final = 256
MOST_BYTES: Final = 4 * 1024 * 1024
"""A commit takes no more turns than these; what one turn holds is never split."""
QUICK: Final = 0.001
"""Seconds that a commit may usually take for the event loop to wait for it."""
SLOWEST: Final = 4 * QUICK
"""What takes longer counts like this."""
Result = TypeVar("Result")
Outcome = tuple[asyncio.Future[Any], Any, JournalError | None]
Committed = Callable[[Sequence[str]], None]


@dataclass(frozen=True, slots=True)
class _Append:
    turn: Turn
    future: asyncio.Future[Any]

    @property
    def size(self) -> int:
        artifacts = sum(len(each.data or b"") for each in self.turn.artifacts)
        return artifacts + sum(len(entry.body) for entry in self.turn.entries)


@dataclass(frozen=True, slots=True)
class _Job:
    work: Callable[[], Any]
    future: asyncio.Future[Any]


def _unheard(_: float) -> None:
    """Where times go when nobody listens."""


class _Pace:
    """Whether the disk is quick enough to be waited for. Every commit counts, whichever thread has done it."""

    def __init__(self) -> None:
        self._usual = 0.0

    @property
    def is_quick(self) -> bool:
        return self._usual < QUICK

    def took(self, seconds: float) -> None:
        self._usual += (min(seconds, SLOWEST) - self._usual) / 8  # one slow commit among quick ones is no slow disk


class Writer:
    """Hands turns to the store, in the order in which they came, and tells the event loop when they are durable."""

    def __init__(self, store: Store, committed: Committed) -> None:
        self._store = store
        self._committed = committed
        self._gathered: list[_Append] = []
        """Turns of this round of the event loop."""
        self._queue: SimpleQueue[_Append | _Job | None] = SimpleQueue()
        self._next: _Append | _Job | None = None
        self._closed = False
        self._mine = threading.Lock()
        """Held by whoever uses the store."""
        self._pace = _Pace()
        self.timed: Callable[[float], None] = _unheard
        """Told how long each commit took, from whichever thread has done it."""
        self._thread = threading.Thread(target=self._work, name="perdure-journal", daemon=True)
        self._thread.start()

    def append(self, turn: Turn, *, alone: bool = False) -> asyncio.Future[None]:
        """Queue a turn; or commit it here, if nobody is held up by that and the disk is quick."""
        future = self._future()
        if alone and self._is_free and self._mine.acquire(blocking=False):
            try:
                self._commit_here(turn, future)
            finally:
                self._mine.release()
        else:
            self._gather(_Append(turn, future))
        return future

    @property
    def _is_free(self) -> bool:
        return self._pace.is_quick and not self._gathered and self._queue.empty()

    def _gather(self, item: _Append) -> None:
        """Wait for the others of this round: a thread that is woken while the loop is at work only gets in its way."""
        if not self._gathered:
            item.future.get_loop().call_soon(self._hand_over)
        self._gathered.append(item)

    def _hand_over(self) -> None:
        gathered, self._gathered = self._gathered, []
        for item in gathered:
            self._queue.put(item)

    def _commit_here(self, turn: Turn, future: asyncio.Future[None]) -> None:
        """Two changes of threads cost more than a quick disk takes."""
        began = time.perf_counter()
        (error,) = self._store.commit((turn,))
        self._took(time.perf_counter() - began)
        if error is None:
            future.set_result(None)
            self._committed((turn.run,))
        else:
            future.set_exception(error)
        if self._store.wants_care:
            self._queue.put(_Job(self._tend, self._future()))

    def _took(self, seconds: float) -> None:
        self._pace.took(seconds)
        self.timed(seconds)

    def do(self, work: Callable[[], Result]) -> asyncio.Future[Result]:
        """Queue other work on the store, between two commits."""
        future: asyncio.Future[Result] = self._future()
        self._hand_over()
        self._queue.put(_Job(work, future))
        return future

    def _future(self) -> asyncio.Future[Any]:
        if self._closed:
            raise Closed("the journal is closed")
        return asyncio.get_running_loop().create_future()

    def stop(self) -> None:
        """Take nothing more. Called where turns are handed over, so that none can slip in behind the end."""
        if not self._closed:
            self._closed = True
            self._hand_over()
            self._queue.put(None)

    def join(self) -> None:
        """Wait until all that was queued is done and the thread is gone."""
        self._thread.join()

    # ------------------------------------------------------------ in the thread

    def _work(self) -> None:
        while (item := self._take()) is not None:
            with self._mine:
                if isinstance(item, _Job):
                    _tell([self._done(item)], self._committed)
                else:
                    self._commit(self._with_others(item))
        self._store.close()

    def _take(self) -> _Append | _Job | None:
        item, self._next = self._next, None
        return item or self._queue.get()

    def _with_others(self, first: _Append) -> list[_Append]:
        """A turn and those that wait behind it."""
        batch, size = [first], 0
        while len(batch) < MOST_TURNS and not self._queue.empty():
            size += batch[-1].size
            if size >= MOST_BYTES:
                break
            item = self._queue.get()  # nobody else takes from the queue, so there is one
            if not isinstance(item, _Append):
                self._hold(item)
                break
            batch.append(item)
        return batch

    def _hold(self, item: _Job | None) -> None:
        if item is None:
            self._queue.put(None)  # nothing is queued behind the end
        else:
            self._next = item

    def _commit(self, batch: Sequence[_Append]) -> None:
        began = time.perf_counter()
        outcomes = self._store.commit([item.turn for item in batch])
        self._took(time.perf_counter() - began)
        _tell([(item.future, None, error) for item, error in zip(batch, outcomes, strict=True)], self._committed, batch)
        self._tend()

    def _tend(self) -> None:
        with suppress(JournalError):  # nobody asked for it; if it leaves doubt, the next turn is told
            self._store.guarded(self._store.tend)

    def _done(self, job: _Job) -> Outcome:
        try:
            return job.future, self._store.guarded(job.work), None
        except JournalError as error:
            return job.future, None, error


def _tell(outcomes: Sequence[Outcome], committed: Committed, batch: Sequence[_Append] = ()) -> None:
    """Resolve futures, each batch with one call into the event loop; a loop that is gone waits for nothing."""
    kept = [item.turn.run for item, (_, _, error) in zip(batch, outcomes, strict=False) if error is None]
    with suppress(RuntimeError):
        outcomes[0][0].get_loop().call_soon_threadsafe(_resolve, outcomes, committed, kept)


def _resolve(outcomes: Sequence[Outcome], committed: Committed, runs: Sequence[str]) -> None:
    for future, result, error in outcomes:
        if future.done():
            continue  # whoever waited was cancelled; the turn is kept all the same
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
    committed(runs)
