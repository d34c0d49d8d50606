"""A journal at work on a disk whose power goes: what was begun and acknowledged by then, and what is found after it."""

import asyncio
import shutil
from itertools import count

from journal_writer import heads_in
from msgspec.structs import replace
from simulated_disk import Disk, RecordedOs

from perdure.journal import SqliteJournal, batch, filesystem, log, schema
from perdure.testing.contracts import a_turn, an_artifact

NUMBERS = count()


def limit(monkeypatch):
    """Checkpoints and files come often, so that a short workload meets them."""
    monkeypatch.setattr(log, "WORTH_A_CHECKPOINT", 60_000)
    monkeypatch.setattr(log, "FIRST", 9_000)
    monkeypatch.setattr(batch, "INLINE", 4_000)


async def worked(place, draw, monkeypatch, rounds=25):
    """A workload on a recorded disk: its log, and for each turn that was begun and acknowledged the place in the log,
    the run, the seq."""
    disk, begun, acknowledged = Disk(place, f"power{next(NUMBERS)}"), [], []
    for module in (filesystem, schema):
        monkeypatch.setattr(module, "os", RecordedOs(disk))
    journal = await SqliteJournal.open(place / "runs.db", connect=disk.connect)
    commit = journal._store.commit

    def noted(turns):
        begun.extend((len(disk.log), turn.run, turn.entries[-1].seq) for turn in turns)
        outcomes = commit(turns)
        acknowledged.extend((len(disk.log), turn.run, turn.entries[-1].seq) for turn in turns)
        assert outcomes == [None] * len(turns)
        return outcomes

    journal._store.commit = noted
    heads = {}
    for _ in range(rounds):
        await asyncio.gather(*(journal.append(turn) for turn in some_turns(draw, heads)))
    done = list(disk.log)
    await journal.close()
    return done, begun, acknowledged


def some_turns(draw, heads):
    for run in draw.sample(["r_1", "r_2", "r_3"], draw.randrange(1, 4)):
        size, values = draw.randrange(1, 4), []
        if draw.random() < 0.3:
            values = [an_artifact(draw.randbytes(draw.choice([900, 3_000, 9_000])))]
        turn = a_turn(run, heads.get(run, 0) + 1, size, body=draw.randbytes(draw.choice([20, 200, 2_000])))
        heads[run] = heads.get(run, 0) + size
        yield replace(turn, artifacts=values)


def found(files, place):
    """What a reader finds in an image: the head of each run, after all of it was verified."""
    shutil.rmtree(place, ignore_errors=True)
    for name, data in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    return heads_in(place / "runs.db")


def lost(heads, acknowledged, cut):
    return [each for each in acknowledged if each[0] <= cut and heads.get(each[1], 0) < each[2]]
