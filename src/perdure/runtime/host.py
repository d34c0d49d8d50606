"""The host: many runs in one process, each driven by one runner; who only waits is let go of."""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heappop, heappush
from typing import Any, Final

from perdure.core import events as e
from perdure.core.accepting import Look
from perdure.core.calls import Call, Repeat
from perdure.core.outline import Outline
from perdure.core.state import Rules, State
from perdure.core.turn import replay, status_of
from perdure.plan.model.document import Plan
from perdure.ports import Artifact, Clock, Corrupt, Entry, Filter, Journal, JournalError, Performer, Run
from perdure.runtime.room import Limits, Room
from perdure.runtime.runner import Runner
from perdure.runtime.shelf import Shelf

MOST_RESTING: Final = 200
"""Runs that only wait and are kept at hand all the same."""
RESTING: Final = frozenset({"waiting", "paused"})
_PAGE: Final = 200


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of the world that runs act in."""

    repeat: Callable[[Call], Repeat] = lambda _: "never"
    seconds: Callable[[Call], float | None] = lambda _: None
    strategies: Mapping[str, Any] = field(default_factory=dict[str, Any])
    plans: Mapping[str, str] = field(default_factory=dict[str, str])
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])


class Host:
    """Drives runs."""

    def __init__(
        self, journal: Journal, performer: Performer, clock: Clock, knowledge: Knowledge, limits: Limits
    ) -> None:
        self.journal = journal
        self.performer = performer
        self.clock = clock
        self.grace = limits.grace
        self.secrets = knowledge.secrets
        self.shelf = Shelf(journal.fetch)
        self.room = Room(limits, self._wake)
        self.runners: dict[str, Runner] = {}
        self.at_work = 0
        """Attempts that are under way."""
        self.stirring: set[str] = set()
        """Runs that have messages to take, or a commit under way."""
        self.failure: BaseException | None = None
        """Why nothing goes on any more."""
        self.rules = Rules(
            self.shelf.read, lru_cache(maxsize=256)(self._outline), knowledge.repeat, knowledge.seconds,
            knowledge.strategies, knowledge.plans,
        )  # fmt: skip
        self._tasks: set[asyncio.Task[None]] = set()
        self._loading: dict[str, asyncio.Future[Runner]] = {}
        self._dues: list[tuple[int, str]] = []
        self._due_of: dict[str, int] = {}
        self._overs: dict[str, asyncio.Future[State]] = {}
        self._resting: OrderedDict[str, None] = OrderedDict()
        self._watchers: dict[str, list[asyncio.Future[None]]] = {}
        self._changed = asyncio.Event()
        self._ticker = asyncio.create_task(self._tick())

    @property
    def is_quiet(self) -> bool:
        """Whether nobody is at work, and nobody but the one who asks is about to write."""
        return not self.at_work and len(self.stirring) <= 1

    def _outline(self, digest: str) -> Outline:
        return Outline(Plan.model_validate_json(self.journal.fetch(digest)))

    # ------------------------------------------------------------ runs

    async def start(self, run: str, started: e.RunStarted, artifacts: list[Artifact], plan: Outline) -> Runner:
        """Begin a run; it has begun when this returns."""
        rules = Rules(
            self.rules.read, lambda digest: plan if digest == started.plan else self.rules.outline(digest),
            self.rules.repeat, self.rules.seconds, self.rules.strategies, self.rules.plans,
        )  # fmt: skip
        runner = self.runners[run] = Runner(self, State(run, rules), 0)
        await runner.begin(started, artifacts)
        return runner

    async def runner(self, run: str) -> Runner:
        """The runner of a run, loaded if it is not here."""
        if self.failure is not None:
            raise self.failure
        found = self.runners.get(run)
        if found is not None:
            return found
        if run not in self._loading:
            self._loading[run] = asyncio.ensure_future(self._load(run))
        try:
            return await self._loading[run]
        finally:
            self._loading.pop(run, None)

    async def _load(self, run: str) -> Runner:
        found, entries = await self.journal.load(run)
        runner = Runner(self, self.folded(found, entries), found.head_seq)
        if runner.state.ended is None:
            self.runners[run] = runner
            self.room.hold(run, runner.state.locks, ())
            runner.go_on()
        return runner

    def folded(self, run: Run, entries: list[Entry]) -> State:
        """The state that entries tell."""
        try:
            return replay(run.id, self.rules, ((e.decode(each.type, each.body), each.at) for each in entries))
        except (ValueError, KeyError, AttributeError, AssertionError) as error:
            raise Corrupt(f"the facts of {run.id} cannot be put together: {error}", "run `perdure doctor`") from error

    async def under_way(self) -> list[Run]:
        """All runs that are not over, the oldest first."""
        found: list[Run] = []
        before: int | None = None
        while page := await self.journal.runs(Filter(over=False), before, _PAGE):
            found += page
            before = page[-1].number
        return found[::-1]

    async def note_locks(self) -> None:
        """Remember the locks of runs that are not loaded."""
        for run in await self.under_way():
            with suppress(ValueError):
                self.room.hold(run.id, json.loads(run.summary.counters).get("locks", ()), ())

    def reload(self, runner: Runner, error: JournalError) -> None:
        """Let a runner go on from what is durable."""
        self._later(self._reload(runner, error))

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside; it is held on to until it is done."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _reload(self, runner: Runner, error: JournalError) -> None:
        try:
            found, entries = await self.journal.load(runner.run)
            runner.restart(self.folded(found, entries), found.head_seq, f"{error.code}: {error.message}")
        except JournalError:
            runner.fail(error)

    def ended(self, runner: Runner) -> None:
        """A run is over."""
        self._let_go(runner.run)
        over = self._overs.pop(runner.run, None)
        if over is not None and not over.done():
            over.set_result(runner.state)

    def gave_up(self, runner: Runner, error: BaseException) -> None:
        """A run cannot be driven any more."""
        self._let_go(runner.run)
        over = self._overs.pop(runner.run, None)
        if over is not None and not over.done():
            over.set_exception(error)

    def _let_go(self, run: str) -> None:
        self.runners.pop(run, None)
        self.stirring.discard(run)
        self._due_of.pop(run, None)
        self._resting.pop(run, None)

    def rests(self, runner: Runner) -> None:
        """A run has nothing to do for now. Those that rest longest are let go of: they are rows, not tasks."""
        for watcher in self._watchers.pop(runner.run, ()):
            if not watcher.done():
                watcher.set_result(None)
        if runner.is_idle:
            self._resting[runner.run] = None
            self._resting.move_to_end(runner.run)
        while len(self._resting) > MOST_RESTING:
            run, _ = self._resting.popitem(last=False)
            if run in self.runners and self.runners[run].is_idle:
                del self.runners[run]

    async def over(self, run: str) -> State:
        """The state of a run when it is over."""
        runner = await self.runner(run)
        if runner.state.ended is not None:
            return runner.state
        future = self._overs.get(run)
        if future is None:
            future = self._overs[run] = asyncio.get_running_loop().create_future()
        return await asyncio.shield(future)

    async def rested(self, run: str) -> State:
        """The state of a run when it is over, or waits and nothing is at work."""
        while True:
            runner = await self.runner(run)
            if runner.state.ended is not None or (runner.is_idle and status_of(runner.state) in RESTING):
                return runner.state
            resting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._watchers.setdefault(run, []).append(resting)
            over = asyncio.ensure_future(self.over(run))
            await asyncio.wait([resting, over], return_when=asyncio.FIRST_COMPLETED)
            if over.done():
                return over.result()
            over.cancel()

    def fail(self, error: BaseException) -> None:
        """Nothing can be written any more: stop everything."""
        if self.failure is None:
            self.failure = error
            for runner in tuple(self.runners.values()):
                runner.fail(error)

    # ------------------------------------------------------------ time

    def _wake(self, run: str) -> None:
        runner = self.runners.get(run)
        if runner is not None:
            runner.post(Look())

    def note_wake(self, run: str, due: int | None) -> None:
        """Remember when a run wants to be looked at."""
        if self._due_of.get(run) == due:
            return
        if due is None:
            self._due_of.pop(run, None)
            return
        self._due_of[run] = due
        heappush(self._dues, (due, run))
        if self._dues[0][1] == run:
            self._changed.set()

    async def _tick(self) -> None:
        """Wake each run when its time has come."""
        while True:
            self._changed.clear()
            self._wake_due()
            waiting: list[asyncio.Task[Any]] = [asyncio.create_task(self._changed.wait())]
            if self._dues:
                pause = max(0.001, (self._dues[0][0] - self.clock.now()) / 1000)
                waiting.append(asyncio.create_task(_slept(self.clock, min(pause, 3600))))
            try:
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in waiting:
                    each.cancel()

    def _wake_due(self) -> None:
        now = self.clock.now()
        while self._dues and (self._dues[0][0] <= now or self._due_of.get(self._dues[0][1]) != self._dues[0][0]):
            due, run = heappop(self._dues)
            if self._due_of.get(run) == due:
                del self._due_of[run]
                self._wake_or_load(run)

    def _wake_or_load(self, run: str) -> None:
        if run in self.runners:
            self._wake(run)
        else:
            self._later(self._load_quietly(run))

    async def _load_quietly(self, run: str) -> None:
        with suppress(JournalError):
            await self.runner(run)

    # ------------------------------------------------------------ the end

    async def close(self, patience: float) -> None:
        """Let attempts that are at work come to their end, but not for ever; then stop the rest."""
        self._ticker.cancel()
        with suppress(asyncio.CancelledError):
            await self._ticker
        self.room.close()
        deadline = asyncio.get_running_loop().time() + patience
        while any(not each.is_idle for each in self.runners.values()) and self.failure is None:
            if asyncio.get_running_loop().time() >= deadline:
                break
            await asyncio.sleep(0.005)
        await asyncio.gather(*(runner.stage.clear() for runner in self.runners.values()))


async def _slept(clock: Clock, seconds: float) -> None:
    await clock.sleep(seconds)
