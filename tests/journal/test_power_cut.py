"""E10: the power goes at any moment: what was acknowledged is there, what was not is whole or absent (R3)."""

import asyncio
import random
import shutil
from itertools import count
from pathlib import Path

import pytest
from journal_writer import heads_in
from msgspec.structs import replace
from simulated_disk import Disk, RecordedOs, image

from perdure.journal import SqliteJournal, batch, filesystem, log, schema, store
from perdure.testing.contracts import a_turn, an_artifact

MEMORY = Path("/dev/shm")  # noqa: S108  images are many and small
NUMBERS = count()


@pytest.fixture
def workplace(tmp_path):
    place = (MEMORY if MEMORY.is_dir() else tmp_path) / f"perdure-power-{tmp_path.parent.name}-{next(NUMBERS)}"
    place.mkdir(mode=0o700)
    yield place
    shutil.rmtree(place)


@pytest.fixture
def small_limits(monkeypatch):
    """Checkpoints and files come often, so that a short workload meets them."""
    monkeypatch.setattr(log, "WORTH_A_CHECKPOINT", 60_000)
    monkeypatch.setattr(log, "FIRST", 9_000)
    monkeypatch.setattr(batch, "INLINE", 4_000)


async def worked(place, draw, monkeypatch, rounds=25):
    """A workload on a recorded disk: its log, and for each acknowledgement the place in the log, the run, the seq."""
    disk, acknowledged = Disk(place, f"power{next(NUMBERS)}"), []
    for module in (filesystem, schema):
        monkeypatch.setattr(module, "os", RecordedOs(disk))
    journal = await SqliteJournal.open(place / "runs.db", connect=disk.connect)
    commit = journal._store.commit

    def noted(turns):
        outcomes = commit(turns)
        acknowledged.extend((len(disk.log), turn.run, turn.entries[-1].seq) for turn in turns)
        assert outcomes == [None] * len(turns)
        return outcomes

    journal._store.commit = noted
    heads = {}
    for _ in range(rounds):
        await asyncio.gather(*(journal.append(turn) for turn in some_turns(draw, heads)))
    log = list(disk.log)
    await journal.close()
    return log, acknowledged


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


@pytest.mark.campaign("power cuts: writes that are lost, torn, out of order", "I1 I5 I6", of="images", times=250)
@pytest.mark.usefixtures("small_limits")
async def test_no_acknowledged_turn_is_lost(workplace, monkeypatch, trials):
    for seed, place in trials.places(workplace, 8):
        draw = random.Random(seed)
        with monkeypatch.context() as recorded:
            log, acknowledged = await worked(place, draw, recorded)
        for _ in range(250):
            cut = draw.randrange(len(log) + 1)
            heads = found(image(log, cut, draw, draw.choice([0, 0.5, 0.9])), workplace / "image")
            assert lost(heads, acknowledged, cut) == [], f"cut {cut}"


@pytest.mark.usefixtures("small_limits")
async def test_the_simulation_can_tell_a_journal_that_does_not_sync(workplace, monkeypatch):
    lax = tuple("synchronous = NORMAL" if "synchronous" in each else each for each in store._PRAGMAS)
    monkeypatch.setattr(store, "_PRAGMAS", lax)
    draw = random.Random(1)
    with monkeypatch.context() as recorded:
        log, acknowledged = await worked(workplace / "lax", draw, recorded)
    cuts = [draw.randrange(len(log) + 1) for _ in range(60)]
    losses = [lost(found(image(log, cut, draw, 0), workplace / "image"), acknowledged, cut) for cut in cuts]
    assert any(losses)


@pytest.mark.usefixtures("small_limits")
async def test_after_a_power_cut_the_journal_goes_on(workplace, monkeypatch):
    draw = random.Random(2)
    with monkeypatch.context() as recorded:
        log, _ = await worked(workplace / "work", draw, recorded)
    for _ in range(10):
        heads = found(image(log, draw.randrange(len(log) // 2, len(log)), draw, 0.5), workplace / "image")
        async with await SqliteJournal.open(workplace / "image" / "runs.db") as journal:
            for run, head in heads.items():
                await journal.append(a_turn(run, head + 1))
                assert (await journal.verify(run)).bad_seq is None
