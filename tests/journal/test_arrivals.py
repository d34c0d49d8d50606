"""Turns of all runs have one order, in a file as in memory: what is forgotten, brought in or migrated keeps to it."""

import asyncio
import random
import sqlite3
from contextlib import closing

import pytest
from msgspec.structs import replace

from perdure.journal import SqliteJournal, open_journal, store
from perdure.ports import Older, Summary
from perdure.testing.contracts import NOON, OVER, RUNNING, a_turn


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


def rows(path, sql):
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        return db.execute(sql).fetchall()


def shown(turns):
    return [(turn.run, turn.entries[0].seq) for turn in turns]


# ------------------------------------------------------------ any history


class History:
    """A journal that lives through anything, and somebody who follows it by pages and is cut off now and then."""

    def __init__(self, seed, path):
        self.draw, self.path = random.Random(f"arrivals {seed}"), path
        self.journal, self.heads, self.over = None, {}, set()
        self.written = 0
        self.kept, self.seen = {}, []
        """What is there, by run; and what the follower has seen."""
        self.order = []

    def turn(self, run):
        """The next turn of a run, unlike any other."""
        self.written += 1
        first = self.heads.get(run, 0) + 1
        turn = a_turn(run, first, self.draw.randint(1, 3), body=b"%d" % self.written)
        self.heads[run] = turn.entries[-1].seq
        self.over.discard(run)
        if self.draw.random() < 0.3:
            turn = replace(turn, summary=OVER)
            self.over.add(run)
        elif first > 1:
            turn = replace(turn, summary=RUNNING)
        return turn

    def note(self, turns):
        for turn in turns:
            self.kept.setdefault(turn.run, []).append(turn.entries[0].body)
            self.order.append(turn.entries[0].body)

    async def write(self):
        turn = self.turn(f"r_{self.draw.randrange(6)}")
        await self.journal.append(turn, alone=self.draw.random() < 0.5)
        self.note([turn])

    async def write_many(self):
        turns = [self.turn(f"r_{self.draw.randrange(6)}") for _ in range(self.draw.randint(2, 30))]
        outcomes = [self.journal.append(turn) for turn in turns]
        refused = self.journal.append(a_turn("r_0", 10_000))
        await asyncio.gather(*outcomes)
        assert (await asyncio.gather(refused, return_exceptions=True))[0] is not None
        self.note(turns)

    async def begin(self):
        self.written += 2
        run = f"r_{self.written}_new"
        turns = [a_turn(run, 1, body=b"%d new" % self.written), a_turn(run, 2, body=b"%d second" % self.written)]
        await self.journal.begin([turns[0], replace(turns[1], summary=OVER)])
        self.heads[run] = 2
        self.over.add(run)
        self.note(turns)

    async def sweep(self):
        swept = await self.journal.sweep(NOON * 2)
        assert swept.runs == len(self.over)
        for run in self.over:
            del self.kept[run], self.heads[run]
        self.over.clear()

    async def carry(self):
        """Out, away and in again: the same turns come anew."""
        if self.over:
            run = self.draw.choice(sorted(self.over))
            lines = [line async for line in self.journal.export(run)]
            bodies, head = self.kept[run], self.heads[run]
            await self.sweep()
            await self.journal.take_in(lines)
            self.kept[run], self.heads[run] = bodies, head
            self.over.add(run)
            self.order += bodies

    async def reopen(self):
        if self.journal is not None:
            await self.journal.close()
        self.journal = await SqliteJournal.open(self.path)

    async def look(self):
        """A page; sometimes it is lost on its way, and asked for again."""
        after = self.seen[-1].number if self.seen else 0
        page = await self.journal.arrived(after, self.draw.randint(1, 40))
        if self.draw.random() < 0.7:
            self.seen += page
        return page

    async def live(self, steps):
        await self.reopen()
        doings = [self.write] * 6 + [self.write_many] * 2 + [self.look] * 4
        doings += [self.begin, self.sweep, self.carry, self.reopen]
        for _ in range(steps):
            await self.draw.choice(doings)()
        while await self.look():
            pass
        await self.judge()

    async def judge(self):
        numbers = [each.number for each in self.seen]
        assert numbers == sorted(set(numbers)), "nothing comes twice or too late"
        bodies, late = [each.entries[0].body for each in self.seen], iter(self.order)
        assert all(body in late for body in bodies), "everything comes in the order in which it was kept"
        last = await self.journal.arrived(limit=self.written + len(self.order))
        there = [each.entries[0].body for each in last]
        assert sorted(there) == sorted(body for run in self.kept.values() for body in run)
        assert {each.number for each in last} <= set(numbers), "nothing is missed"
        assert numbers[-1:] <= [await self.journal.last_arrival()]
        await self.journal.close()
        assert rows(self.path, "SELECT count(*) FROM arrivals WHERE place IN (SELECT place FROM turns)") == [
            (len(there),)
        ]


@pytest.mark.parametrize("seed", range(12))
async def test_whoever_follows_gets_each_turn_once_whatever_happens(seed, path):
    await History(seed, path).live(60)


# ------------------------------------------------------------ the file


async def test_numbers_of_what_is_gone_are_not_given_again(path):
    async with await SqliteJournal.open(path) as journal:
        await journal.append(a_turn("r_1", 1))
        await journal.append(replace(a_turn("r_2", 1), summary=OVER))
        await journal.sweep(NOON * 2)
    async with await SqliteJournal.open(path) as journal:
        assert await journal.last_arrival() == 2
        await journal.append(a_turn("r_3", 1))
        assert [(each.number, each.run) for each in await journal.arrived()] == [(1, "r_1"), (3, "r_3")]
        assert (await journal.run("r_3")).number == 3, "nor are those of runs"


async def test_a_sweep_that_was_killed_halfway_is_brought_to_its_end_by_the_next(path, monkeypatch):
    monkeypatch.setattr(store, "NUMBERS", 3)
    async with await SqliteJournal.open(path) as journal:
        for n in range(10):
            await journal.append(replace(a_turn(f"r_{n}", 1), summary=OVER if n % 2 else RUNNING))
        assert await journal._do(lambda each: each.forget_runs(NOON * 2, 0, 100)) == 5
    async with await SqliteJournal.open(path) as journal:
        assert len(rows(path, "SELECT * FROM arrivals")) == 10
        await journal.append(a_turn("r_10", 1))
        assert shown(await journal.arrived()) == [(f"r_{n}", 1) for n in range(0, 12, 2)]
        await journal.sweep(NOON * 2)
        assert len(rows(path, "SELECT * FROM arrivals")) == 6


async def test_an_older_file_gets_an_order_of_what_it_has(path):
    async with await SqliteJournal.open(path) as journal:
        for run, first, at in (
            ("r_1", 1, NOON),
            ("r_2", 1, NOON + 100),
            ("r_1", 2, NOON + 50),
            ("r_2", 2, NOON - 86_400_000),  # the clock was set back
            ("r_1", 3, NOON + 90),
        ):
            await journal.append(a_turn(run, first, at=at))
    for sql in ("DROP TABLE arrivals", "DROP TABLE given", "PRAGMA user_version = 3"):
        rows(path, sql)
    reader = await SqliteJournal.open(path, read_only=True)
    assert len(await reader.read("r_1")) == 3, "an older file can be read"
    for asked in (reader.arrived(), reader.last_arrival(), reader.arrives(0, 1)):
        with pytest.raises(Older, match="no order over its runs"):
            await asked
    async with await SqliteJournal.open(path) as journal:
        await journal.append(a_turn("r_2", 3))
        wanted = [("r_1", 1), ("r_1", 2), ("r_1", 3), ("r_2", 1), ("r_2", 2), ("r_2", 3)]
        assert shown(await journal.arrived()) == wanted, "by time, but never against the order of a run"
    assert path.with_name("runs.db.v3").exists()


async def test_a_turn_that_cannot_be_read_ends_nothing_for_others(path):
    async with await SqliteJournal.open(path) as journal:
        for run in ("r_1", "r_2"):
            await journal.append(a_turn(run, 1))
    rows(path, "UPDATE turns SET body = x'ff' WHERE run = 1")
    async with await SqliteJournal.open(path) as journal:
        assert [(each.run, len(each.entries)) for each in await journal.arrived()] == [("r_1", 0), ("r_2", 1)]
        assert (await journal.verify("r_1")).bad_seq == 1


async def test_any_number_may_be_asked_for(make):
    journal = await make()
    await journal.append(a_turn("r_1", 1))
    for after, count in ((-(2**80), 1), (2**80, 0), (2**63 - 1, 0)):
        assert len(await journal.arrived(after)) == count
    assert len(await journal.arrived(runs=[f"r_{n}" for n in range(1_000)])) == 1
    await journal.close()


# ------------------------------------------------------------ waiting


async def test_those_who_wait_are_woken_by_a_turn_of_any_run(make):
    journal = await make()
    await journal.append(a_turn("r_1", 1))
    waiting = [asyncio.create_task(journal.arrives(1, 600)) for _ in range(3)]
    await asyncio.sleep(0)
    await journal.append(a_turn("r_2", 1))
    assert await asyncio.wait_for(asyncio.gather(*waiting), 60) == [True] * 3
    assert await journal.arrives(0, 600), "what is there is not waited for"
    assert not await journal.arrives(2, 0.01)
    await journal.close()


async def test_whoever_only_reads_looks_again_while_it_waits(path):
    async with await SqliteJournal.open(path) as journal:
        await journal.append(a_turn("r_1", 1))
        reader = await open_journal(path, read_only=True)
        waiting = [asyncio.create_task(reader.arrives(1, 600)), asyncio.create_task(reader.grown("r_2", 0, 600))]
        await asyncio.sleep(0)
        await journal.append(replace(a_turn("r_2", 1), summary=Summary("running")))
        assert await asyncio.wait_for(asyncio.gather(*waiting), 60) == [True] * 2
        assert shown(await reader.arrived(1)) == [("r_2", 1)]
