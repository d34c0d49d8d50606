"""Many runs at once: all come to their end, none is left behind, limits hold, and who only waits costs nothing (R14).

E3.
"""

import asyncio
import random
import resource
from collections import Counter, defaultdict

import pytest

from perdure import Context, Engine, Plan, tool
from perdure.journal import MemoryJournal
from perdure.runtime.host import MOST_RESTING
from perdure.runtime.room import Limits, Room
from perdure.testing.clock import FakeClock, run
from perdure.testing.crashes import Disk
from perdure.testing.scripted import Scripted

STEPS = 20
MEGABYTES = 600


class Crowd:
    """Counts who is at work, and in which order everybody came to it."""

    def __init__(self):
        self.order, self.working, self.most = [], Counter(), Counter()

    async def act(self, context, what):
        names = ("all", context.run, what)
        self.order.append(context.run)
        for name in names:
            self.working[name] += 1
            self.most[name] = max(self.most[name], self.working[name])
        await asyncio.sleep(0)
        for name in names:
            self.working[name] -= 1

    def longest_wait(self):
        """The most attempts of others between two of the same run, once it has begun."""
        last, longest = {}, 0
        for place, name in enumerate(self.order):
            longest = max(longest, place - last.get(name, place))
            last[name] = place
        return longest


CROWD = Crowd()


@tool(name="load.plain", repeat="safe")
async def plain(context: Context) -> int:
    """Do next to nothing."""
    await CROWD.act(context, "plain")
    return context.visit


@tool(name="load.scarce", repeat="safe", limit=3)
async def scarce(context: Context) -> int:
    """Do next to nothing, but not for everybody at once."""
    await CROWD.act(context, "scarce")
    return context.visit


@pytest.fixture(autouse=True)
def crowd():
    global CROWD  # noqa: PLW0603  tools find it here
    CROWD = Crowd()
    return CROWD


def serial(name="load.plain", steps=STEPS):
    return Plan.model_validate({"steps": [{"id": f"s{n}", "tool": name} for n in range(steps)]})


@pytest.mark.campaign("a thousand runs at once", "R14 I10", of="runs", times=1000, lot=False)
async def test_a_thousand_runs_at_once_come_to_their_end(tmp_path, crowd, trials):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _, place in trials.places(tmp_path, 1):
        place.mkdir()
        crowd.order.clear()
        await a_thousand_runs(place / "runs.db")
        assert Counter(Counter(crowd.order).values()) == {STEPS: 1_000}, "every step of every run, once"
        assert crowd.longest_wait() <= 3_000, "nobody waits longer than it takes to serve everybody a few times"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < MEGABYTES, f"{grown:.0f} MB"


async def a_thousand_runs(path):
    async with Engine.open(path, tools=[plain], limits=Limits(total=64)) as engine:
        handles = await asyncio.gather(*(engine.start(serial()) for _ in range(1_000)))
        results = await asyncio.gather(*(handle.result() for handle in handles))
        assert Counter(result.status for result in results) == {"succeeded": 1_000}
        assert engine.host.runners == {}


@pytest.mark.parametrize("limits", [Limits(run=3, total=7), Limits(run=1, total=2), Limits(run=50, total=1)])
def test_limits_hold_and_everybody_is_served(limits, crowd):
    async def work():
        wide = {
            "steps": [
                {
                    "id": "g",
                    "parallel": [{"id": f"p{n}", "tool": f"load.{('plain', 'scarce')[n % 2]}"} for n in range(20)],
                }
            ]
        }
        async with Engine.open(tools=[plain, scarce], limits=limits) as engine:
            plans = [Plan.model_validate(wide) if n % 2 else serial() for n in range(40)]
            handles = [await engine.start(plan) for plan in plans]
            for handle in handles:
                assert (await handle.result()).ok
            assert engine.host.room._taken == 0
            assert not +engine.host.room._by_tool

    run(work())
    assert crowd.most.pop("all") <= limits.total
    assert crowd.most.pop("scarce", 0) <= min(3, limits.total)
    crowd.most.pop("plain")
    assert max(crowd.most.values()) <= limits.run
    assert crowd.longest_wait() <= 20 * 40


def test_runs_that_wait_are_let_go_of_and_come_back():
    async def work():
        disk, script = MemoryJournal(), Scripted(default=1)
        kinds = [{"wait": "1h"}, {"ask": "Shall we?"}, {"wait": {"signal": "bell"}}]
        plans = [Plan.model_validate({"steps": [{"id": "w", **kind}, {"id": "b", "agent": "x"}]}) for kind in kinds]
        async with Engine.open(journal=Disk(disk), clock=FakeClock(), performer=script) as engine:
            handles = [await engine.start(plans[n % 3]) for n in range(3 * MOST_RESTING)]
            await asyncio.sleep(1)
            assert len(engine.host.runners) <= MOST_RESTING
            for handle in handles[1::3]:
                await handle.answer("q_w_1", "approved")
            for handle in handles[2::3]:
                await handle.signal("bell", 5)
            results = [await handle.result() for handle in handles]
            assert {result.status for result in results} == {"succeeded"}
            assert engine.host.runners == {}
        assert len(script.made) == len(handles)

    run(work())


def test_a_run_that_waits_for_room_is_not_let_go_of():
    async def work():
        async def slow(_):
            await asyncio.sleep(1)

        async with Engine.open(clock=FakeClock(), performer=Scripted(default=slow), limits=Limits(total=1)) as engine:
            plan = Plan.model_validate({"steps": [{"id": "a", "agent": "x"}]})
            handles = [await engine.start(plan) for _ in range(2 * MOST_RESTING)]
            for handle in handles:
                assert (await handle.result()).ok

    run(work())


# ------------------------------------------------------------------------------- the room alone


class Runs:
    """Runs that want slots, in a room of their own."""

    def __init__(self, limits, wants, draw):
        self.room = Room(limits, self.wake)
        self.wants = {name: Counter(tools) for name, tools in wants.items()}
        self.woken, self.working, self.draw = [], [], draw
        self.served = defaultdict(list)
        self.turns = 0

    def wake(self, name):
        self.woken.append(name)

    def look(self, name):
        """One turn of a run: begin what may begin."""
        self.turns += 1
        moment = self.room.moment(name, 0)
        slots, left = moment.slots, dict(moment.tools)
        for tool_ in list((+self.wants[name]).elements()):
            if slots > 0 and left.get(tool_, 1) > 0:
                slots -= 1
                left[tool_] = left.get(tool_, 1_000) - 1
                self.wants[name][tool_] -= 1
                self.room.take(name, tool_)
                self.working.append((name, tool_))
                self.served[name].append(self.turns)
        self.room.want(name, +self.wants[name])

    def step(self):
        """Somebody who was woken looks, or an attempt ends."""
        if self.woken and self.draw.random() < 0.6:
            self.look(self.woken.pop(self.draw.randrange(len(self.woken))))
        elif self.working:
            name, tool_ = self.working.pop(self.draw.randrange(len(self.working)))
            self.room.give(name, tool_)
            self.room.want(name, +self.wants[name])
        else:
            return bool(self.woken)
        return True


@pytest.mark.parametrize("seed", range(60))
def test_a_room_serves_everybody_and_leaves_nothing_idle(seed):
    draw = random.Random(seed)
    limits = Limits(
        run=draw.choice((1, 3, 100)), total=draw.choice((1, 2, 5, 20)), tools={"scarce": draw.choice((1, 2))}
    )
    wants = {
        f"r{n}": draw.choices(("a", "b", "scarce"), k=draw.randrange(1, 30)) for n in range(draw.choice((2, 5, 30)))
    }
    runs = Runs(limits, wants, draw)
    for name in wants:
        runs.look(name)
    while runs.step():
        assert len(runs.working) <= limits.total
        assert sum(tool_ == "scarce" for _, tool_ in runs.working) <= limits.tools["scarce"]
        assert max(Counter(name for name, _ in runs.working).values(), default=0) <= limits.run
    assert all(not +left for left in runs.wants.values()), "everybody got what it wanted"
    first = [served[0] for served in runs.served.values()]
    assert max(first) <= 12 * len(wants), "nobody waits for the others to be done"


def test_what_one_does_not_take_is_offered_to_the_next():
    woken = []
    room = Room(Limits(total=1), woken.append)
    room.take("a", "")
    room.want("b", [""])
    room.want("c", [""])
    room.give("a", "")
    assert woken == ["b"]
    assert room.moment("c", 0).slots == 0, "the place is kept for the one who was woken"
    room.want("b", [])
    assert woken == ["b", "c"]
    room.leave("c")
    assert room.moment("a", 0).slots == 1
