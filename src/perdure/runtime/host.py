"""The host: many runs in one process, each driven by one runner; who only waits is let go of."""

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from perdure.core import events as e
from perdure.core.accepting import Look
from perdure.core.calls import Call, Repeat
from perdure.core.origins import Outside
from perdure.core.outline import Outline
from perdure.core.policy import Layer
from perdure.core.state import Rules, State
from perdure.core.turn import replay, status_of
from perdure.errors import PerdureError
from perdure.plan.model.document import Plan
from perdure.plan.model.recalling import recalled
from perdure.ports import (
    Artifact,
    Clock,
    Closed,
    Corrupt,
    Entry,
    Filter,
    Journal,
    JournalError,
    Performer,
    Run,
    Turn,
    UnknownRun,
)
from perdure.runtime.alarms import Alarms
from perdure.runtime.room import Limits, Room
from perdure.runtime.runner import Runner
from perdure.runtime.shelf import Shelf

MOST_RESTING: Final = 200
"""Runs that only wait and are kept at hand all the same."""
MOST_PLANS: Final = 256
"""Plans that are kept ready."""
RESTING: Final = frozenset({"waiting", "paused"})
_PAGE: Final = 200
_log = logging.getLogger("perdure.runtime")


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of the world that runs act in."""

    repeat: Callable[[Call], Repeat] = lambda _: "never"
    seconds: Callable[[Call], float | None] = lambda _: None
    strategies: Mapping[str, Any] = field(default_factory=dict[str, Any])
    plans: Mapping[str, str] = field(default_factory=dict[str, str])
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    probes: Callable[[str], bool] = lambda _: False
    undo: Callable[[str], tuple[str, ...] | None] = lambda _: None
    lasts: Callable[[str], bool] = lambda _: False
    layers: tuple[Layer, ...] = ()
    """What the user allows."""
    estimate: Callable[[Call, Mapping[str, float]], Mapping[str, float]] = lambda _, said: said
    outside: Outside = lambda _: ""
    """What a tool reads outside of the run, in words."""
    skilled: Callable[[Call, Sequence[str], tuple[Layer, ...]], Sequence[str]] = lambda _call, _skills, _layers: ()
    knows: Callable[[Call], bool] = lambda _: True


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
        self.layers = knowledge.layers
        self.outside = knowledge.outside
        self.shelf = Shelf(journal.fetch)
        self.room = Room(limits, self._wake)
        self.named: dict[str, Outline] = {}
        """Plans that have a name here, by digest."""
        self._outlines: OrderedDict[str, Outline] = OrderedDict()
        """Plans that were asked for lately, by digest; also one that no journal has yet."""
        self._of_plans: dict[int, Outline] = {}
        """The same by where their plans lie in memory, which they hold on to."""
        self.why_not: Callable[[State], PerdureError | None] = lambda _: None
        """Why a run cannot be carried on here, if it cannot."""
        self.runners: dict[str, Runner] = {}
        self.heart: Callable[[], object] = lambda: None
        """Called before an attempt begins that has to be over at some time: it might not give others a turn."""
        self.leave: Callable[[str], object] = lambda _: None
        """Called when a run is over, or cannot be driven any more."""
        self.at_work = 0
        """Attempts that are under way."""
        self.stirring: set[str] = set()
        """Runs that have messages to take, or a commit under way."""
        self.failure: BaseException | None = None
        """Why nothing goes on any more."""
        self.rules = Rules(
            self.shelf.read, self._outline, knowledge.repeat, knowledge.seconds,
            knowledge.strategies, knowledge.plans, knowledge.probes, knowledge.undo,
            knowledge.lasts, knowledge.estimate, skilled=knowledge.skilled, knows=knowledge.knows,
        )  # fmt: skip
        self._tasks: set[asyncio.Task[None]] = set()
        self._loading: dict[str, asyncio.Future[Runner]] = {}
        self._overs: dict[str, asyncio.Future[State]] = {}
        self._resting: OrderedDict[str, None] = OrderedDict()
        self._watchers: dict[str, list[asyncio.Future[None]]] = {}
        self._alarms = Alarms(clock, self._wake_or_load)
        self._ticker = asyncio.create_task(self._alarms.tick())

    @property
    def is_quiet(self) -> bool:
        """Whether nobody is at work, and nobody but the one who asks is about to write."""
        return not self.at_work and len(self.stirring) <= 1

    def _outline(self, digest: str) -> Outline:
        found = self._outlines.get(digest) or self.named.get(digest)
        return found or self.remember(self._read_plan(digest))

    def remember(self, outline: Outline) -> Outline:
        """Keep a plan at hand that is ready for running; runs of it hold on to it themselves."""
        found = self._outlines.setdefault(outline.digest, outline)
        self._outlines.move_to_end(outline.digest)
        self._of_plans[id(found.plan)] = found
        if len(self._outlines) > MOST_PLANS:
            _, oldest = self._outlines.popitem(last=False)
            self._of_plans.pop(id(oldest.plan), None)
        return found

    def ready(self, plan: Plan) -> Outline | None:
        """The very same plan, if it is at hand; to know that it is an equal one takes writing it out."""
        return self._of_plans.get(id(plan))

    def _read_plan(self, digest: str) -> Outline:
        try:
            data = self.journal.fetch(digest)
            return Outline(recalled(data), data)
        except ValueError as error:
            raise Corrupt(f"the plan {digest} cannot be read any more: {error}", "run `perdure doctor`") from error

    # ------------------------------------------------------------ runs

    async def start(self, run: str, started: e.RunStarted, artifacts: list[Artifact]) -> Runner:
        """Begin a run; it has begun when this returns."""
        if self.failure is not None:
            raise self.failure
        runner = self.runners[run] = Runner(self, State(run, self.rules), 0)
        await runner.begin(started, artifacts)
        return runner

    async def begin(self, turns: Sequence[Turn]) -> Runner:
        """Drive a run that begins with more than one turn; it has begun, with all of them, when this returns."""
        if self.failure is not None:
            raise self.failure
        return await self.runner((await self.journal.begin(turns)).id)

    async def runner(self, run: str) -> Runner:
        """The runner of a run, loaded if it is not here."""
        while True:
            if self.failure is not None:
                raise self.failure
            found = self.runners.get(run)
            if found is not None:
                return found
            found = await asyncio.shield(self._loaded(run))  # one who waits no more must not stop it for others
            if found.state.ended is not None or self.runners.get(run) is found:
                return found

    def _loaded(self, run: str) -> "asyncio.Future[Runner]":
        loading = self._loading.get(run)
        if loading is None:
            loading = self._loading[run] = asyncio.ensure_future(self._load(run))
            loading.add_done_callback(lambda _: self._loading.pop(run, None))
        return loading

    async def _load(self, run: str) -> Runner:
        found, entries = await self.journal.load(run)
        runner = Runner(self, self.folded(found, entries), found.head_seq)
        if runner.state.ended is None:
            self.runners[run] = runner
            runner.count_anew()
            why = self.why_not(runner.state)
            if why is None:
                runner.go_on()
            else:
                runner.leave(why)
        return runner

    async def reopened(self, run: str) -> Runner:
        """The runner of a run, also if it is over: it may go on after all. If it does not, it is let go of again."""
        runner = await self.runner(run)
        return self.runners.setdefault(run, runner)

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

    def reload(self, runner: Runner, error: BaseException) -> None:
        """Let a runner go on from what is durable."""
        self._later(self._reload(runner, error))

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside; it is held on to until it is done."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _reload(self, runner: Runner, error: BaseException) -> None:
        try:
            found, entries = await self.journal.load(runner.run)
            state = self.folded(found, entries)
        except JournalError as found:
            if isinstance(found, UnknownRun):  # its first turn was not kept
                self.room.hold(runner.run, (), ())
            runner.fail(error)
            await runner.stage.clear()
        else:
            runner.restart(state, found.head_seq, error)

    def stopped(self, runner: Runner, error: BaseException) -> None:
        """A run does not go on by itself; whoever waits for it is told."""
        for watcher in self._watchers.pop(runner.run, ()):
            if not watcher.done():
                watcher.set_result(None)
        self._tell_waiting(runner.run, error)

    def ended(self, runner: Runner) -> None:
        """A run is over."""
        self._let_go(runner.run)
        over = self._overs.pop(runner.run, None)
        if over is not None and not over.done():
            over.set_result(runner.state)

    def gave_up(self, runner: Runner, error: BaseException) -> None:
        """A run cannot be driven any more."""
        self._let_go(runner.run)
        self._tell_waiting(runner.run, error)

    def _tell_waiting(self, run: str, error: BaseException) -> None:
        over = self._overs.pop(run, None)
        if over is not None and not over.done():
            over.set_exception(error)
            over.exception()  # looked at, so that nobody is warned if all who waited have gone

    def _let_go(self, run: str) -> None:
        self.runners.pop(run, None)
        self.stirring.discard(run)
        self._alarms.clear(run)
        self._resting.pop(run, None)
        self.leave(run)

    def rests(self, runner: Runner) -> None:
        """A run has nothing to do for now. Those that rest longest are let go of: they are rows, not tasks."""
        for watcher in self._watchers.pop(runner.run, ()):
            if not watcher.done():
                watcher.set_result(None)
        if _may_be_let_go(runner):
            self._resting[runner.run] = None
            self._resting.move_to_end(runner.run)
        while len(self._resting) > MOST_RESTING:
            run, _ = self._resting.popitem(last=False)
            if run in self.runners and _may_be_let_go(self.runners[run]):
                del self.runners[run]

    async def over(self, run: str) -> State:
        """The state of a run when it is over."""
        runner = await self.runner(run)
        if runner.state.ended is not None and not runner.is_writing:
            return runner.state
        if runner.stuck is not None:
            raise runner.stuck
        future = self._overs.get(run)
        if future is None:
            future = self._overs[run] = asyncio.get_running_loop().create_future()
        return await asyncio.shield(future)

    async def rested(self, run: str) -> State:
        """The state of a run when it is over, or waits and nothing is at work."""
        while True:
            runner = await self.runner(run)
            is_over = runner.state.ended is not None and not runner.is_writing
            if is_over or (runner.is_idle and status_of(runner.state) in RESTING):
                return runner.state
            resting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._watchers.setdefault(run, []).append(resting)
            over = asyncio.ensure_future(self.over(run))
            try:
                await asyncio.wait([resting, over], return_when=asyncio.FIRST_COMPLETED)
                if over.done():
                    return over.result()
            finally:
                over.cancel()

    def fail(self, error: BaseException) -> None:
        """Nothing can be written any more: stop everything."""
        if self.failure is not None:
            return
        self.failure = error
        for runner in tuple(self.runners.values()):
            runner.fail(error)
            self._later(runner.stage.clear())
        for run in tuple(self._overs):
            self._tell_waiting(run, error)

    # ------------------------------------------------------------ time

    def left(self) -> float | None:
        """Seconds until the first attempt, or run, has to be over, whoever sees to that; None if none has."""
        dues = [due for runner in self.runners.values() if (due := runner.deadline) is not None]
        return (min(dues) - self.clock.now()) / 1000 if dues else None

    def _wake(self, run: str) -> None:
        runner = self.runners.get(run)
        if runner is not None:
            runner.post(Look())

    def note_wake(self, run: str, due: int | None) -> None:
        """Remember when a run wants to be looked at."""
        if due is None:
            self._alarms.clear(run)
        else:
            self._alarms.set(run, due)

    def note_sleeper(self, run: Run) -> None:
        """As `note_wake`, for a run that is not loaded; its clock may be ahead of one that was set back."""
        wake_at = run.summary.wake_at
        self.note_wake(run.id, None if wake_at is None else wake_at - max(0, run.updated - self.clock.now()))

    def _wake_or_load(self, run: str) -> None:
        if run in self.runners:
            self._wake(run)
        else:
            self._later(self._load_quietly(run))

    async def _load_quietly(self, run: str) -> None:
        try:
            runner = await self.runner(run)
            if runner.foreign is not None:
                _log.error("the run %s does not go on: %s: %s", run, runner.foreign.code, runner.foreign)
        except PerdureError as error:
            _log.error("the run %s cannot be loaded: %s", run, error)
            self._tell_waiting(run, error)

    # ------------------------------------------------------------ the end

    async def close(self, patience: float) -> None:
        """Let attempts that are at work come to their end, but not for ever; then stop the rest."""
        self._ticker.cancel()
        with suppress(asyncio.CancelledError):
            await self._ticker
        self.room.close()
        await self._come_to_rest(patience)
        self.fail(Closed("the engine was closed", "open it again; runs go on with `resume`"))
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _come_to_rest(self, patience: float) -> None:
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + patience, 0.001
        while any(not each.is_idle for each in self.runners.values()) and self.failure is None:
            if loop.time() >= deadline:
                return
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.1)


def _may_be_let_go(runner: Runner) -> bool:
    """Whether it only waits for people, signals or the clock. Who waits for room or a lock has to be here for it."""
    is_left_alone = runner.is_idle and runner.stuck is None and not runner.state.hungry
    return is_left_alone and status_of(runner.state) in RESTING
