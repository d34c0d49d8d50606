"""What the journal costs, as ratios within one run, because disks differ.

A bare loop does one insert and one commit at a time with SQLite at synchronous=FULL. Against it stand turns one after
the other, handed to the writer's thread or committed on the spot, and turns of a hundred runs at once. Then: bytes a
turn, the first page of everything in a large file against a small one, and how fast a run is verified. Rounds are
interleaved, and the median of five counts.
"""

import argparse
import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from figures import Figure, tell
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


async def speed(directory: Path, rounds: int) -> list[Figure]:
    """Ratios to the bare loop."""
    found: list[tuple[float, ...]] = []
    async with await SqliteJournal.open(directory / "speed.db") as journal:
        for n in range(rounds):
            floor, one = bare(directory / f"bare{n}.db"), await one_by_one(journal, f"one{n}")
            alone = await one_by_one(journal, f"alone{n}", alone=True)
            found.append((floor, one, alone, await at_once(journal, f"many{n}")))
    ways = (("turns one after the other", 0.7), ("turns on the spot", 0.7), (f"turns of {RUNS} runs at once", 5))
    ratios = [
        Figure.of(f"{name}: speed, of the bare loop", [each[place] / each[0] for each in found], "x", least=least)
        for place, (name, least) in enumerate(ways, 1)
    ]
    return [
        Figure.of("the bare loop", [each[0] for each in found], "commits/s"),
        *ratios,
        Figure("turns in memory", await one_by_one(MemoryJournal(), "memory"), "turns/s"),
    ]


async def size(directory: Path) -> list[Figure]:
    """Bytes of the file for each small turn of two entries."""
    told: list[Figure] = []
    for runs, turns in ((1, 5_000), (100, 50)):
        path = directory / f"size{runs}.db"
        async with await SqliteJournal.open(path) as journal:
            before = path.stat().st_size
            for n in range(turns):
                await asyncio.gather(*(journal.append(turn(f"r_{run}", 2 * n + 1)) for run in range(runs)))
        each = (path.stat().st_size - before) / (runs * turns)
        own = 2 * len(BODY)
        told.append(
            Figure(f"{runs:,} x {turns:,} turns: disk for a turn, of which {own} are the caller's", each, "bytes")
        )
    return told


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


async def pages(directory: Path, entries: int) -> list[Figure]:
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
        "arrivals": lambda journal: journal.arrived(),
        "arrivals of a run": lambda journal: journal.arrived(runs=["r_00000000"], limit=1),
        "due": lambda journal: journal.due(0),
    }
    told: list[Figure] = []
    for name, look in looks.items():
        here, there = await best(lambda look=look: look(small)), await best(lambda look=look: look(large))
        who = f"first page of {name}, among {entries:,} entries: more than in a small file"
        told.append(Figure(who, there - here, "ms", most=50))
    return told


async def verify(directory: Path) -> list[Figure]:
    """A run of 10,000 entries."""
    async with await SqliteJournal.open(directory / "verify.db") as journal:
        await asyncio.gather(*(journal.append(turn("r_1", 2 * n + 1)) for n in range(5_000)))
        took = await best(lambda: journal.verify("r_1"))
        loaded = await best(lambda: journal.load("r_1"))
    return [Figure("10,000 entries verified", took, "ms"), Figure("10,000 entries loaded", loaded, "ms")]


async def main(entries: int, rounds: int) -> None:
    """Everything, in a directory of its own."""
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        told = [*await speed(directory, rounds), *await size(directory), *await verify(directory)]
        tell([*told, *await pages(directory, entries)])


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--entries", type=int, default=1_000_000, help="in the large file")
    arguments.add_argument("--rounds", type=int, default=ROUNDS)
    given = arguments.parse_args()
    asyncio.run(main(given.entries, given.rounds))
