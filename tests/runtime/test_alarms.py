"""E3: each run is looked at when it is due: not earlier, not twice, and not if it was called off."""

import asyncio
import random

import pytest

from perdure.runtime.alarms import Alarms
from perdure.testing.clock import NOON, FakeClock, run


def rung(*script, until=100):
    """What rings, and in which second, in the middle of it: `(second, run, due)`, a due of None calls it off."""

    async def main():
        clock, found = FakeClock(), []
        alarms = Alarms(clock, lambda each: found.append((each, (clock.now() - NOON) // 1000)))
        ticking = asyncio.create_task(alarms.tick())
        for second, each, due in script:
            await clock.sleep(second - (clock.now() - NOON) / 1000)
            alarms.clear(each) if due is None else alarms.set(each, NOON + due * 1000 + 500)
        await clock.sleep(until - (clock.now() - NOON) / 1000)
        ticking.cancel()
        return found

    return run(main())


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ([(0, "a", 5)], [("a", 5)]),
        ([(0, "a", 5), (1, "b", 3)], [("b", 3), ("a", 5)]),
        ([(0, "a", 5), (1, "a", 9)], [("a", 9)]),
        ([(0, "a", 9), (1, "a", 5)], [("a", 5)]),
        ([(0, "a", 5), (1, "a", None)], []),
        ([(0, "a", 5), (1, "a", None), (2, "a", 7)], [("a", 7)]),
        ([(0, "a", 5), (1, "a", None), (2, "a", 4)], [("a", 4)]),
        ([(0, "a", 5), (6, "a", 8)], [("a", 5), ("a", 8)]),
        ([(0, "b", 5), (0, "a", 9), (1, "a", 3), (2, "a", 50)], [("b", 5), ("a", 50)]),
    ],
)
def test_the_last_word_counts(script, found):
    assert rung(*script) == found


def test_whatever_is_said_each_rings_as_was_said_last():
    for seed in range(300):
        lot = random.Random(seed)
        moments = sorted(lot.sample(range(20), 8))
        script = [(each, lot.choice("abc"), lot.choice([None, *range(each + 1, 60)])) for each in moments]
        wanted = []
        for place, (_, each, due) in enumerate(script):
            later = [second for second, other, _ in script[place + 1 :] if other == each]
            if due is not None and not any(second <= due for second in later):
                wanted.append((due, each))
        assert sorted((second, each) for each, second in rung(*script)) == sorted(wanted), seed


def test_to_put_an_alarm_off_wakes_nobody():
    async def main():
        clock, sleeps = FakeClock(), []

        class Counting(FakeClock):
            async def sleep(self, seconds):
                sleeps.append(seconds)
                await clock.sleep(seconds)

        alarms = Alarms(Counting(), lambda _: None)
        ticking = asyncio.create_task(alarms.tick())
        for number in range(1000):
            alarms.set("a", clock.now() + 60_000 + number)
            await asyncio.sleep(0)
        ticking.cancel()
        return len(sleeps)

    assert run(main()) <= 2
