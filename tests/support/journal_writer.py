"""Processes that write a journal until they are killed. What is acknowledged goes through a pipe to their parent."""

import asyncio
import json
import os
import random

from msgspec.structs import replace

from perdure.journal import SqliteJournal
from perdure.journal.driver import connect
from perdure.journal.reader import Reader
from perdure.ports import Filter, Locked, NoJournal
from perdure.testing.contracts import a_turn, an_artifact

RUNS = ("r_1", "r_2", "r_3")
ENTRIES = 3
"""A turn has so many; a head that is no multiple of it would be half a turn."""


def write_for_ever(path, seed, pipe):
    """Write to all runs at once and report each acknowledgement."""
    asyncio.run(_write_for_ever(path, random.Random(seed), pipe))


async def _write_for_ever(path, draw, pipe):
    journal = await SqliteJournal.open(path)
    pipe.send(("open", journal._store._token))
    heads = {run.id: run.head_seq for run in await journal.runs()}
    await asyncio.gather(*(_write_run(journal, run, heads.get(run, 0), draw, pipe) for run in RUNS))


async def _write_run(journal, run, head, draw, pipe):
    token = journal._store._token
    while True:
        body = json.dumps({"token": token, "pid": os.getpid(), "pad": "x" * draw.randrange(500)}).encode()
        turn = a_turn(run, head + 1, ENTRIES, body=body)
        if draw.random() < 0.1:
            turn = replace(turn, artifacts=[an_artifact(draw.randbytes(draw.choice([5_000, 1_200_000])))])
        await journal.append(turn)
        head += ENTRIES
        pipe.send((run, head))


def contend(path, seed, pipe):
    """Try to get the journal until it works, then write."""
    while True:
        try:
            write_for_ever(path, seed, pipe)
        except Locked:
            continue


def hold(path, pipe):
    """Open, let go of the lock (as a process that was thought dead), and write when told to."""
    asyncio.run(_hold(path, pipe))


async def _hold(path, pipe):
    journal = await SqliteJournal.open(path)
    await journal.append(a_turn("r_1", 1))
    pipe.send("open")
    while (order := pipe.recv()) != "end":
        if order == "let go":
            journal._closing.close()
            pipe.send("gone")
            continue
        try:
            await journal.append(a_turn("r_1", order))
            pipe.send("kept")
        except Exception as error:  # noqa: BLE001  whatever it is, the parent wants to know
            pipe.send(type(error).__name__)


def heads_in(path):
    """The head of each run in a file, after all of it was verified."""
    reader = Reader(path, connect)
    try:
        runs = reader.runs(Filter(), None, 100)
    except NoJournal:
        return {}
    for run in runs:
        assert reader.verify(run.id).bad_seq is None
    return {run.id: run.head_seq for run in runs}
