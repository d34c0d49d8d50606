"""E10: the power goes at any moment: what was acknowledged is there, what was not is whole or absent (R3)."""

import random
import shutil
from itertools import count
from pathlib import Path

import pytest
from power_cuts import found, limit, lost, worked
from simulated_disk import image

from perdure.journal import SqliteJournal, store
from perdure.testing.contracts import a_turn

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
    limit(monkeypatch)


@pytest.mark.campaign("power cuts: writes that are lost, torn, out of order", "I1 I5 I6", of="images", times=250)
@pytest.mark.usefixtures("small_limits")
async def test_no_acknowledged_turn_is_lost(workplace, monkeypatch, trials):
    for seed, place in trials.places(workplace, 8):
        draw = random.Random(seed)
        with monkeypatch.context() as recorded:
            log, _, acknowledged = await worked(place, draw, recorded)
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
        log, _, acknowledged = await worked(workplace / "lax", draw, recorded)
    cuts = [draw.randrange(len(log) + 1) for _ in range(60)]
    losses = [lost(found(image(log, cut, draw, 0), workplace / "image"), acknowledged, cut) for cut in cuts]
    assert any(losses)


@pytest.mark.usefixtures("small_limits")
async def test_after_a_power_cut_the_journal_goes_on(workplace, monkeypatch):
    draw = random.Random(2)
    with monkeypatch.context() as recorded:
        log, *_ = await worked(workplace / "work", draw, recorded)
    for _ in range(10):
        heads = found(image(log, draw.randrange(len(log) // 2, len(log)), draw, 0.5), workplace / "image")
        async with await SqliteJournal.open(workplace / "image" / "runs.db") as journal:
            for run, head in heads.items():
                await journal.append(a_turn(run, head + 1))
                assert (await journal.verify(run)).bad_seq is None
