"""Many who watch many runs, and are cut off again and again: what each was told is what the journal has. R22, E11."""

import asyncio
import random

import httpx2
import pytest
from served import ASK, WAIT, begun, kept, listening, seen, serving, turns_in

pytestmark = pytest.mark.anyio
LEFT = 0.2
"""How often a watcher leaves after a turn."""


class Watcher:
    """Somebody who leaves when it suits them, and comes back for what they have missed."""

    def __init__(self, url, chance, runs, after):
        self.url, self.chance, self.runs, self.after, self.told, self.times = url, chance, runs, after, [], 0

    @property
    def place(self):
        return self.told[-1][0] if self.told else self.after

    async def watch(self, end):
        """Until the number has come that is the last there will ever be."""
        async with httpx2.AsyncClient(timeout=120) as client:
            while not (end.done() and self.place >= end.result()):
                self.times += 1
                await self._once(client, end)

    async def _once(self, client, end):
        said = {"headers": {"Last-Event-ID": str(self.place)}} if self.chance.random() < 0.5 else {}
        params = {"run": self.runs, "after": self.place}
        async with client.stream("GET", f"{self.url}/v1/events", params=params, **said) as answer:
            assert answer.status_code == 200
            async for turn in turns_in(answer.aiter_lines()):
                if turn is not None:
                    self.told.append(turn)
                if end.done() and self.place >= end.result():
                    return
                if self.chance.random() < LEFT:
                    return
                if self.chance.random() < LEFT:
                    await asyncio.sleep(0.01)  # slower than others, at times


async def live(client, chance, runs):
    """What happens meanwhile: runs begin, go on, are stopped."""
    for _ in range(runs):
        run = await begun(client, chance.choice([ASK, WAIT]), rested=chance.random() < 0.5)
        match chance.randrange(4):
            case 0:
                await client.engine.signal(run, "go")
            case 1:
                await client.engine.cancel(run)
            case 2:
                await client.engine.pause(run)
            case _:
                pass
    await client.engine.stop()


@pytest.mark.campaign("watchers of all runs, cut off at any moment", "E11", of="watchers", times=12)
async def test_e11_what_each_watcher_was_told_is_what_the_journal_has(trials, tmp_path):
    watchers, runs = (12, 8) if trials.is_quick else (200, 100)
    for seed in trials(1):
        chance = random.Random(seed)
        async with serving({}, path=tmp_path / f"{seed}.db") as client, listening(client.app) as url:
            client.app.state.here.following.quiet = 0.05
            first = await begun(client, WAIT)
            end = asyncio.get_running_loop().create_future()
            many = [
                Watcher(url, random.Random(chance.random()), [first] if n % 4 == 3 else [], n % 3 and 1)
                for n in range(watchers)
            ]
            tasks = [asyncio.create_task(each.watch(end)) for each in many]
            await live(client, chance, runs)
            last = await client.engine.journal.arrived(0, 1, [first])
            of_first = (await client.engine.journal.arrived(0, 10_000, [first]))[-1].number
            assert last
            end.set_result(of_first)
            await asyncio.gather(*tasks)
            every = await kept(client.engine.journal)
        for each in many:
            wanted = [turn for turn in every if turn[0] > each.after and (not each.runs or turn[1] in each.runs)]
            told = seen(each.told)
            assert told == wanted[: len(told)], f"after {each.times} times"
            assert told[-1][0] >= of_first
