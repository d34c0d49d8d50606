"""What the journal costs, as ratios within one run, because disks differ.

A bare loop does one insert and one commit at a time with SQLite at synchronous=FULL. Against it stand turns one after
the other, handed to the writer's thread or committed on the spot, and turns of a hundred runs at once. Then: bytes a
turn, the first page of everything in a large file against a small one, and how fast a run is verified. Rounds are
interleaved, and the median of five counts.
"""

import argparse
import asyncio
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec.structs import replace

from perdure.journal import MemoryJournal, SqliteJournal
from perdure.ports import Entry, Filter, Journal, Summary, Turn

ROUNDS = 5
TURNS = 1_000
RUNS = 100
BODY = b'{"step":"fetch","visit":1,"attempt":1,"exit":"success","output":{"words":120}}'
RUNNING = Summary("running", goal="Measure the journal", counters=b'{"steps":20}')


def turn(run: str, first: int, count: int = 2) -> Turn:
    """What a small step writes: its end, and the start of the next one."""
    entries = [Entry(run, seq, "AttemptEnded", 1_800_000_000_000 + seq, BODY) for seq in range(first, first + count)]
    return Turn(run, first, entries, summary=RUNNING if first == 1 else None)


def bare(path: Path) -> float:
    """Commits a second of the bare loop, with the same bytes."""
    db = sqlite3.connect(path, isolation_level=None)
    for sql in ("journal_mode = WAL", "synchronous = FULL"):
        db.execute(f"PRAGMA {sql}").fetchall()
    db.execute("CREATE TABLE entries (seq INTEGER PRIMARY KEY, body BLOB)")
    start = time.perf_counter()
    for n in range(TURNS):
        db.execute("INSERT INTO entries VALUES (?, ?)", (n, BODY * 2))
    took = time.perf_counter() - start
    db.close()
    return TURNS / took


async def one_by_one(journal: Journal, name: str, *, alone: bool = False) -> float:
    """Turns a second of one run that waits for each."""
    start = time.perf_counter()
    for n in range(TURNS):
        await journal.append(turn(name, 2 * n + 1), alone=alone)
    return TURNS / (time.perf_counter() - start)


async def at_once(journal: Journal, name: str) -> float:
    """Turns a second of many runs, each waiting for its own."""

    async def run(number: int) -> None:
        for n in range(TURNS * 10 // RUNS):
            await journal.append(turn(f"{name}_{number}", 2 * n + 1))

    start = time.perf_counter()
    await asyncio.gather(*map(run, range(RUNS)))
    return TURNS * 10 / (time.perf_counter() - start)


async def speed(directory: Path) -> None:
    """Ratios to the bare loop."""
    found: list[tuple[float, ...]] = []
    async with await SqliteJournal.open(directory / "speed.db") as journal:
        for n in range(ROUNDS):
            floor, one = bare(directory / f"bare{n}.db"), await one_by_one(journal, f"one{n}")
            alone = await one_by_one(journal, f"alone{n}", alone=True)
            found.append((floor, one, alone, await at_once(journal, f"many{n}")))
    print(f"bare loop           {statistics.median(each[0] for each in found):10,.0f} commits/s")
    told = (("one after the other", 0.7), ("on the spot", 0.7), (f"{RUNS} runs at once", 5))
    for place, (name, aim) in enumerate(told, 1):
        turns = statistics.median(each[place] for each in found)
        ratio = statistics.median(each[place] / each[0] for each in found)
        print(f"{name:20}{turns:10,.0f} turns/s   {ratio:5.2f} x the bare loop (aim {aim})")
    print(f"in memory           {await one_by_one(MemoryJournal(), 'memory'):10,.0f} turns/s")


async def size(directory: Path) -> None:
    """Bytes of the file for each small turn of two entries."""
    for runs, turns in ((1, 5_000), (100, 50)):
        path = directory / f"size{runs}.db"
        async with await SqliteJournal.open(path) as journal:
            before = path.stat().st_size
            for n in range(turns):
                await asyncio.gather(*(journal.append(turn(f"r_{run}", 2 * n + 1)) for run in range(runs)))
        each = (path.stat().st_size - before) / (runs * turns)
        print(f"{runs:4} runs x {turns:5}    {each:10,.0f} bytes/turn, of which {2 * len(BODY)} are the caller's")


async def fill(path: Path, entries: int) -> None:
    """A file with many runs of fifty entries, some with a question."""
    async with await SqliteJournal.open(path) as journal:
        for start in range(0, entries // 50, 256):
            numbers = range(start, min(start + 256, entries // 50))
            await asyncio.gather(*(journal.append(_filling(number)) for number in numbers))


def _filling(number: int) -> Turn:
    status = Summary(("succeeded", "waiting")[number % 50 == 0], f"Goal {number}", f"s_{number % 97}", over=True)
    asked = [f"q_{number}"] if number % 50 == 0 else []
    return replace(turn(f"r_{number:08}", 1, 50), summary=status, asked=asked)


async def best(work: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds of the best of some tries."""
    times: list[float] = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        await work()
        times.append((time.perf_counter() - start) * 1_000)
    return min(times)


async def pages(directory: Path, entries: int) -> None:
    """First pages in a large file against a small one."""
    for name, count in (("small", 1_000), ("large", entries)):
        await fill(directory / f"{name}.db", count)
    small = await SqliteJournal.open(directory / "small.db", read_only=True)
    large = await SqliteJournal.open(directory / "large.db", read_only=True)
    looks: dict[str, Callable[[SqliteJournal], Awaitable[object]]] = {
        "entries": lambda journal: journal.read("r_00000000", limit=50),
        "runs": lambda journal: journal.runs(),
        "runs by status": lambda journal: journal.runs(Filter(statuses=["waiting"])),
        "runs by session": lambda journal: journal.runs(Filter(session="s_3")),
        "runs by both": lambda journal: journal.runs(Filter(statuses=["waiting"], session="s_3")),
        "runs since": lambda journal: journal.runs(Filter(since=1_900_000_000_000)),
        "questions": lambda journal: journal.questions(),
        "a run by prefix": lambda journal: journal.run("r_00000011"),
        "due": lambda journal: journal.due(0),
    }
    print(f"first page of         small file   {entries:,} entries (aim: within 50 ms)")
    for name, look in looks.items():
        here, there = await best(lambda look=look: look(small)), await best(lambda look=look: look(large))
        print(f"  {name:20}{here:8.2f} ms {there:12.2f} ms")


async def verify(directory: Path) -> None:
    """Microseconds for each entry, of a run of 10,000."""
    async with await SqliteJournal.open(directory / "verify.db") as journal:
        await asyncio.gather(*(journal.append(turn("r_1", 2 * n + 1)) for n in range(5_000)))
        took = await best(lambda: journal.verify("r_1"))
        loaded = await best(lambda: journal.load("r_1"))
    print(f"verify              {took / 10:10.2f} us/entry ({took:.0f} ms for 10,000), load {loaded:.0f} ms")


async def main(entries: int) -> None:
    """Everything, in a directory of its own."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as place:
        directory = Path(place)
        await speed(directory)
        await size(directory)
        await verify(directory)
        await pages(directory, entries)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--entries", type=int, default=1_000_000, help="in the large file")
    asyncio.run(main(arguments.parse_args().entries))
