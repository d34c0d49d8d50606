"""A world for whole engines: tools with effects, processes that die, disks that fail, people who interfere.

One seed is one history. Time is virtual, so a history of hours takes milliseconds and is the same each time.
"""

import asyncio
import itertools
import random
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field

from plans_by_lot import drawn, share

import perdure.engine.engine as front
from perdure import Context, Engine, ToolFailure, tool
from perdure.core import events as e
from perdure.core.calls import Outcome
from perdure.engine import forking
from perdure.errors import PerdureError
from perdure.journal import MemoryJournal
from perdure.plan.model.parts import Policy
from perdure.ports import DiskFull, JournalError, Suspect
from perdure.runtime.room import Limits
from perdure.testing.clock import FakeClock
from perdure.testing.crashes import Disk, Fault
from perdure.testing.replays import assert_replays, folded

HANGS = 10_000.0
OVER = {"succeeded", "failed", "cancelled", "rolled_back"}
LIVES = (0, 1, 1, 2, 2, 3, 5)
FRAIL = {"never", "keyed"}
"""What it matters for whether it was done."""
ASKING = Policy.model_validate({"tools": {"ask": ["sim.never"]}})
MOST_NUDGES = 400
"""How often a run without faults may need something from outside before it counts as one that does not end."""
MOST_SECONDS = 172_800
"""And how long it may take, by its own clock."""
MOST_TRIES = 10
"""So often a person lets a step be tried that hangs each time."""


@dataclass(frozen=True)
class Effect:
    """Something that happened in the world and cannot be taken away."""

    kind: str
    run: str
    step: str
    visit: int
    attempt: int
    key: str


@dataclass
class World:
    """What is so outside of every process."""

    seed: int
    draw: random.Random
    limits: Limits
    frail: bool = False
    """Whether what was done is often not told: the line breaks, the answer comes too late, the process has time to die."""
    life: int = 0
    """Which process lives; those before it are dead and do nothing any more."""
    effects: list[Effect] = field(default_factory=list)
    keys: dict = field(default_factory=lambda: defaultdict(set))
    tries: Counter = field(default_factory=Counter)
    working: dict = field(default_factory=dict)
    holders: dict = field(default_factory=lambda: defaultdict(Counter))
    intents: set = field(default_factory=set)
    """Attempts that a journal knows of."""
    committed: set = field(default_factory=set)
    """Visits that a journal knows to have ended well."""
    seen: Counter = field(default_factory=Counter)
    broken: list = field(default_factory=list)
    """Laws that were broken. What is raised in a tool is only a failure of its step, so it is kept here."""

    def law(self, holds, text):
        if not holds:
            self.broken.append(text)

    def written(self, turn):
        """A turn is on the disk."""
        for entry in turn.entries:
            if entry.type == "attempt_started":
                event = e.decode(entry.type, entry.body)
                self.intents.add((turn.run, event.step, event.visit, event.attempt, event.deed))
            elif entry.type == "attempt_ended":
                event = e.decode(entry.type, entry.body)
                if event.failure is None and event.approval is None:
                    self.committed.add((turn.run, event.step, event.visit, event.deed))
            elif entry.type == "question_asked" and b'"doubt"' in entry.body:
                self.seen["doubts"] += 1

    def ends_as(self, step, visit, *, hangs):
        """What becomes of a visit, whoever tries it: how many tries fail first, and what then."""
        luck = share(self.seed, step, visit, "luck")
        if luck < 0.08:
            return 99, "fails"
        if luck < 0.12 and hangs:
            return 99, "hangs"
        return (1 + (luck < 0.16)) * (luck < 0.22), "works"

    def value(self, step, visit):
        size = share(self.seed, step, visit, "size")
        value = {"of": step, "visit": visit}
        return {**value, "long": "x" * 2000} if size < 0.1 else value

    async def perform(  # noqa: PLR0913, PLR0917  where an attempt stands, and what it holds
        self,
        kind,
        run,
        step,
        visit,
        attempt,
        key,
        *,
        lock="",
        holder="",
        limited=True,
        deed="do",
        hangs=False,
        in_time=False,
    ):
        """One try, as the world sees it."""
        life = self.life
        name = (run, step, visit, attempt, deed)
        self.law(name in self.intents, f"{name} began before it was known")
        self.law((run, step, visit, deed) not in self.committed, f"{name} was done already")
        self.keys[run, step, visit, deed].add(key)
        self.law(len(self.keys[run, step, visit, deed]) == 1, f"{name} has another key")
        self.begin(name, kind, lock, (run, holder), limited)
        try:
            await self.work(kind, name, key, life, hangs, in_time)
        finally:
            if life == self.life:
                self.end(name, lock, (run, holder))
        return self.value(step, visit)

    async def work(self, kind, name, key, life, hangs, in_time):  # noqa: PLR0913, PLR0917  as above
        run, step, visit, attempt, deed = name
        await asyncio.sleep(self.draw.choice((0, 0, 0.01, 0.5, 2)))
        fails, how = self.ends_as(step, visit, hangs=hangs) if deed == "do" else (0, "works")
        self.tries[run, step, visit] += life == self.life
        if how == "hangs":
            await asyncio.sleep(HANGS)
        if self.tries[run, step, visit] <= fails:
            raise ToolFailure("transient" if how == "works" else "logic", "not this time")
        line = share(self.seed, *name, "line") if self.frail and deed == "do" and kind in FRAIL else 1
        if line < 0.1:
            raise ToolFailure("in_doubt", "the line broke before")
        if life == self.life:
            self.effects.append(Effect(kind, run, step, visit, attempt, key))
            if kind == "never":
                twice = [each for each in self.effects if each.key == key and each.run == run]
                self.law(len(twice) == 1, f"{name} was done twice")
        await self.tell(line, in_time)
        await asyncio.sleep(self.draw.choice((0, 0, 0.01, 1)))

    async def tell(self, line, in_time):
        """It was done; but whoever waits for it may never hear of that."""
        if line < 0.2:
            raise ToolFailure("in_doubt", "the line broke after")
        if line < 0.5 and in_time:
            await asyncio.sleep(HANGS)
        if line < 0.8:
            await asyncio.sleep(3)

    def begin(self, name, kind, lock, holder, limited):
        if limited:
            self.working[name] = kind
            self.law(len(self.working) <= self.limits.total, f"too many at once: {self.working}")
            mine = sum(each[0] == name[0] for each in self.working)
            self.law(mine <= self.limits.run, f"too many of {name[0]} at once: {self.working}")
            scarce = sum(each == "scarce" for each in self.working.values())
            self.law(scarce <= 1, f"too many calls of one tool at once: {self.working}")
        if lock:
            self.holders[lock][holder] += 1
            self.law(len(+self.holders[lock]) == 1, f"{lock} is held by {+self.holders[lock]}")

    def end(self, name, lock, holder):
        self.working.pop(name, None)
        if lock:
            self.holders[lock][holder] -= 1

    def bury(self):
        """The process is dead."""
        self.life += 1
        self.working.clear()
        self.holders.clear()

    def happened(self, run, step, visit):
        """Whether somebody did it: the run, or one that it is a fork of."""
        done = (
            (each.step, each.visit) == (step, visit) and f"{run}_".startswith(f"{each.run}_") for each in self.effects
        )
        return any(done)


WORLD: World


def _tool(kind, repeat, limit=None):
    async def act(  # noqa: PLR0913, PLR0917  where an attempt stands, and what it holds
        context: Context, n: int = 0, lock: str = "", holder: str = "", item: object = None, seen: object = None
    ) -> object:
        """Do something that leaves a trace."""
        at = (context.run, context.step, context.visit, context.attempt, context.key)
        in_time = context.seconds_left is not None
        hangs = in_time and kind != "never"
        return await WORLD.perform(kind, *at, lock=lock, holder=holder, hangs=hangs, in_time=in_time)

    return tool(name=f"sim.{kind}", repeat=repeat, limit=limit)(act)


@tool(name="sim.undo", repeat="keyed")
async def undo(of: str, context: Context) -> None:
    """Take back what a step did."""
    at = (context.run, context.step, context.visit, context.attempt, context.key)
    await WORLD.perform("undo", *at, limited=False, deed="undo")


class Thinker:
    """Performs models and agents."""

    async def perform(self, attempt):
        at = (attempt.run, attempt.step, attempt.visit, attempt.number, attempt.key)
        try:
            value = await WORLD.perform("safe", *at, hangs=attempt.seconds is not None)
            again = attempt.visit == 1 and attempt.call.arguments.get("task") == "once more?"
            return Outcome(value, exit="again" if again else "success")
        except ToolFailure as failure:
            return Outcome(exit="failure", failure=failure.failure)


TOOLS = [_tool("safe", "safe"), _tool("keyed", "keyed"), _tool("never", "never"), _tool("scarce", "safe", 1), undo]


# ------------------------------------------------------------------------------- one history


class History:
    """One seed: some runs, some processes one after another, and in the end one that is left in peace."""

    def __init__(self, seed, *, peaceful=False, changes=False, frail=False):
        global WORLD  # noqa: PLW0603  tools are made once, and find the world they are in here
        self.seed, self.peaceful = seed, peaceful
        self.changes = changes
        """Whether plans are revised and runs are forked."""
        draw = self.draw = random.Random(seed)
        total = draw.choice((1, 2, 4, 256))
        self.limits = Limits(run=draw.choice((1, 2, 64)), total=total, grace=2.0)
        WORLD = self.world = World(seed, random.Random(seed + 1), self.limits, frail=frail)
        self.policy = ASKING if frail and share(seed, "asks") < 0.3 else None
        """Whether a person is asked before each deed that must not be repeated."""
        self.plans = [drawn(draw.randrange(2000)) for _ in range(draw.choice((1, 1, 2, 3)))]
        self.lives = 0 if peaceful else draw.choice(LIVES)
        self.shaky = draw.choice((0.0, 0.02, 0.1, 0.3))
        self.slow = draw.choice((0.0, 0.0, 0.02, 0.3))
        self.nosy = draw.choice((0, 1, 4, 10))
        self.cancels = draw.random() < 0.25
        self.disk = MemoryJournal()
        self.clock = FakeClock()
        self.runs = [f"r_{number}" for number in range(len(self.plans))]
        self.known = set()
        """Runs whose start was acknowledged."""
        self.heard = []
        """What people were told is written down."""
        self.messages = itertools.count()
        self.full = False

    async def pass_by(self):
        for _ in range(self.lives):
            await self.one_life()
            if self.draw.random() < 0.3:
                self.clock.set_by(self.draw.choice((-86_400, -5, 60)))
            await asyncio.sleep(self.draw.choice((0, 0.1, 5)))
        await self.last_life()
        await self.look_back()

    # ------------------------------------------------------------ processes

    def engine(self, disk, patience=0.0):
        return Engine.open(
            journal=disk,
            tools=TOOLS,
            performer=Thinker(),
            clock=self.clock,
            limits=self.limits,
            policy=self.policy,
            resume=True,
            patience=patience,
        )

    async def one_life(self):
        """A process that dies, or is closed, or loses its disk."""
        dead = asyncio.Event()
        disk = Disk(self.disk, self.plot, self.delay)
        disk.died = dead.set
        patience = self.draw.choice((0.0, 0.0, 3.0))
        try:
            async with self.engine(disk, patience) as engine:
                tasks = [asyncio.create_task(self.begin(engine, n)) for n in range(len(self.plans))]
                tasks += [asyncio.create_task(self.meddle(engine)) for _ in range(self.nosy)]
                tasks += [asyncio.create_task(self.fill_up(engine))]
                with suppress(TimeoutError):
                    async with asyncio.timeout(self.draw.choice((0.001, 0.02, 1, 10, 5000))):
                        await dead.wait()
                if self.draw.random() < 0.7:
                    disk.die()
                if disk.dead:
                    self.world.bury()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        except Suspect:
            pass  # the disk failed while the process was starting
        finally:
            self.full = False
            self.world.bury()
            self.world.seen["lives"] += 1

    def plot(self, number, turn):
        """What the disk does to a turn."""
        if self.full:
            return Fault("fail", DiskFull("no room"))
        if self.draw.random() >= self.shaky:
            self.world.written(turn)
            return None
        what = self.draw.choices(("lose", "keep", "fail", "doubt"), (3, 3, 3, 1))[0]
        self.world.seen[what] += 1
        if what == "fail":
            return Fault("fail", DiskFull("no room"))
        if what == "doubt":
            self.world.written(turn)
            return Fault("doubt", Suspect("the disk failed"))
        if what == "keep":
            self.world.written(turn)
        return Fault(what)

    def delay(self):
        return self.draw.random() * self.slow if self.slow and self.draw.random() < 0.7 else 0.0

    async def fill_up(self, engine):
        """Sometimes the disk is full for a while; then somebody makes room and resumes."""
        if self.draw.random() < 0.8:
            return
        await asyncio.sleep(self.draw.random() * 3)
        self.full = True
        self.world.seen["full"] += 1
        await asyncio.sleep(self.draw.random() * 5)
        self.full = False
        for run in sorted(self.known):
            with suppress(PerdureError):
                await engine.resume(run)

    async def begin(self, engine, number):
        run = self.runs[number]
        if run in self.known:
            return
        await asyncio.sleep(self.draw.choice((0, 0, 0.01, 1)))
        with suppress(JournalError):
            if not [each for each in await self.disk.runs() if each.id == run]:
                front.new_id = lambda *_: run
                await engine.start(self.plans[number], seed=self.seed)
            self.known.add(run)

    # ------------------------------------------------------------ people

    async def meddle(self, engine):
        """Somebody says something to a run."""
        await asyncio.sleep(self.draw.choice((0, 0.005, 0.3, 2, 8)))
        if not self.known:
            return
        run = self.draw.choice(sorted(self.known))
        by = f"m{next(self.messages)}"
        words, often = ["pause", "signal", "answer", "cancel", "cancel step"], [3, 3, 4, self.cancels, self.cancels]
        if self.changes:
            words, often = [*words, "revise", "fork"], [*often, 8, 2]
        what = self.draw.choices(words, often)[0]
        with suppress(PerdureError):
            await self.say(engine, run, what, by)
            if what not in {"answer", "cancel step", "fork"}:
                self.heard.append((run, by))
        if what == "pause":
            await asyncio.sleep(self.draw.choice((0, 1, 20)))
            with suppress(PerdureError):
                await engine.resume(run)

    async def say(self, engine, run, what, by):
        self.world.seen[what] += 1
        match what:
            case "pause":
                await engine.pause(run, by=by)
            case "signal":
                await engine.signal(run, self.draw.choice(("bell", "horn")), "ding", by=by)
            case "cancel":
                await engine.cancel(run, by=by)
            case "cancel step":
                state = (await engine.result(run))._state
                live = sorted(key for key, cell in state.cells.items() if key and cell.status == "active")
                if live:
                    await engine.cancel(run, step=self.draw.choice(live))
            case "revise":
                state = (await engine.result(run))._state
                await engine.revise(run, [edit_by_lot(state, by, self.draw)], by=by)
            case "fork":
                await self.fork(engine, run, by)
            case _:
                await self.answer_all(engine, run, most=1)

    async def fork(self, engine, run, by):
        """Let a run go its own way, from where it stands or from earlier on. Once it is told, it is there."""
        name = f"{run}_{by}"
        head = (await engine.journal.run(run)).head_seq
        forking.new_id = lambda *_: name
        made = await engine.fork(run, at=self.draw.choice((None, None, self.draw.randint(1, head))), by=by)
        self.world.law(made.id == name, f"{made.id} is not {name}")
        self.heard.append((name, by))
        self.known.add(name)

    async def answer_all(self, engine, run, most=100):
        """Answer truthfully what is asked."""
        state = (await engine.result(run))._state
        for question in list(state.questions.values())[:most]:
            with suppress(PerdureError):
                await engine.answer(run, question.question, self.answer_to(run, question))

    def answer_to(self, run, question):
        if question.about != "doubt":
            choices = question.choices or ("approved", "rejected")
            return choices[share(self.seed, question.step, question.visit) < 0.7]
        if self.world.happened(run, question.step, question.visit):
            return {"choice": "happened", "output": self.world.value(question.step, question.visit)}
        hopeless = self.world.tries[run, question.step, question.visit] > MOST_TRIES
        return "give_up" if hopeless else "not_happened"

    # ------------------------------------------------------------ the end

    async def last_life(self):
        """No faults any more: every run comes to its end, or says what it waits for."""
        disk = Disk(self.disk, lambda _, turn: self.world.written(turn))
        async with self.engine(disk) as engine:
            for number in range(len(self.plans)):
                await self.begin(engine, number)
            self.runs = sorted(each.id for each in await self.disk.runs())  # forks may be there of which nobody heard
            assert self.known <= set(self.runs)
            await asyncio.gather(
                *(self.see_through(engine, run) for run in self.runs)
            )  # one may wait for another's lock
            for run in self.runs if self.world.frail else ():
                await self.open_again(engine, run)

    async def open_again(self, engine, run):
        """Somebody wants what did not end well to go on after all."""
        with suppress(PerdureError):
            await engine.retry(run)
            self.world.seen["reopened"] += 1
        await self.see_through(engine, run)

    async def see_through(self, engine, run):
        """Do what a run waits for until it is over; one that is tried for ever is seen by its time."""
        async with asyncio.timeout(MOST_SECONDS):
            await self.nudge(engine, run)

    async def nudge(self, engine, run):
        for _ in range(MOST_NUDGES):
            result = await engine.run(run).rested()
            state = result._state
            if result.status in OVER:
                return
            if state.paused_at is not None:
                await engine.resume(run)
            elif state.questions:
                await self.answer_all(engine, run)
            elif any(state.waiting.values()) and not state.wake_at:
                await engine.signal(run, next(name for name, cells in state.waiting.items() if cells), "ding")
            elif state.wake_at is not None:
                await asyncio.sleep(max(0.002, (state.wake_at - engine.host.runners[run].now()) / 1000))
            else:
                raise AssertionError(f"{run} waits for nothing that has a name: {result.status}")
        raise AssertionError(f"{run} does not end")

    async def look_back(self):
        """Hold the journals against the laws."""
        assert self.world.broken == []
        for run in self.runs:
            state = await assert_replays(self.disk, run)
            facts = [(each.type, e.decode(each.type, each.body)) for each in await self.disk.read(run, limit=1_000_000)]
            self.world.seen["facts"] += len(facts)
            assert facts[-1][0] == "run_ended"
            _no_new_intent_after_the_stop(facts)
            _one_end_each(facts)
            written = {getattr(event, "by", "") for _, event in facts}
            assert [by for about, by in self.heard if about == run and by not in written] == [], (
                "acknowledged, and lost"
            )
            assert state.ended is not None

    async def outcome(self):
        """What became of each run, in a form that can be compared."""
        found = []
        for run in self.runs:
            state = await folded(self.disk, run)
            types = Counter(each.type for each in await self.disk.read(run, limit=1_000_000))
            exits = {key: cell.result.exit for key, cell in state.cells.items() if cell.result and key}
            races = b'"for":40' in self.plans[self.runs.index(run)].canonical_json()
            if (
                races
                or types["step_stopping"]
                or set(exits.values()) & {"failure", "exhausted", "expired", "cancelled"}
            ):
                found.append(None)  # what is stopped, and how far it came, is a matter of timing
            else:
                found.append((state.ended.status, exits, _outputs(state)))
        return found


def edit_by_lot(state, name, draw):
    """An edit that may fit or not."""
    known = sorted(state.cells[""].scope.outline.index.by_id)
    beside = draw.choice(known)
    kind = draw.choice(("safe", "keyed", "never", "scarce"))
    step = {"id": name, "tool": f"sim.{kind}", "with": {"n": 1}}
    group = {"id": name, "parallel": [{**step, "id": f"{name}a"}, {**step, "id": f"{name}b"}]}
    return draw.choice(
        (
            {"insert": step, "after": beside},
            {"insert": draw.choice((step, group)), "into": ""},
            {"insert": {**step, "undo": {"tool": "sim.undo", "with": {"of": name}}}, "before": beside},
            {"remove": beside},
            {"replace": beside, "step": {**step, "id": draw.choice((beside, name))}},
            {"amend": beside, "fields": {"title": name}},
            {"amend": "", "fields": {"limit": draw.randint(1, 3)}},
        )
    )


def _outputs(state):
    from perdure.core.seeing import output_of

    return {key: output_of(state, cell) for key, cell in state.cells.items()}


def _no_new_intent_after_the_stop(facts):
    stopped = False
    for type_, event in facts:
        stopped = (stopped or type_ == "run_stopping") and type_ not in {"run_forked", "run_reopened"}
        assert not (stopped and type_ == "attempt_started" and event.deed == "do"), "it began after the stop"


def _one_end_each(facts):
    under_way = set()
    for type_, event in facts:
        if type_ == "run_forked":
            under_way.clear()  # it is under way in the other run
        elif type_ == "attempt_started":
            under_way.add((event.step, event.visit, event.attempt, event.deed))
        elif type_ in {"attempt_ended", "attempt_lost"}:
            under_way.remove((event.step, event.visit, event.attempt, event.deed))
    assert not under_way
