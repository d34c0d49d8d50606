"""E11 X9: what is counted goes on where it was: nothing is lost and nothing counts twice, whoever dies when."""

import random

import pytest
from told import GOLDEN, NAMES

from perdure import Engine, Plan
from perdure.documents.listing import fork_of
from perdure.documents.stats import counted
from perdure.journal import MemoryJournal, SqliteJournal
from perdure.observing import metrics as m
from perdure.observing.meter import Meter
from perdure.observing.place import Place, directory_beside

TWO = Plan.model_validate({"steps": [{"id": each, "tool": "flow.echo", "with": {"value": 1}} for each in ("a", "b")]})
ASK = Plan.model_validate(
    {"steps": [{"id": "sure", "ask": "Sure?"}, {"id": "a", "tool": "flow.echo", "with": {"value": 1}}]}
)


def meter(journal, path):
    return Meter(journal, lambda run: fork_of(run)[1], Place(path))


async def goldens(journal, names):
    for name in names:
        await journal.take_in((GOLDEN / f"{name}.jsonl").read_bytes().splitlines(keepends=True))


def whole(counts):
    """All numbers, in no order; sums of times are rounded, for they depend on it."""
    data = counts.data()
    sizes = [[*about, round(total, 3)] for *about, total in data["histograms"]]
    return sorted(map(str, data["numbers"])), sorted(map(str, sizes))


async def test_x9_however_often_it_is_begun_anew_it_counts_what_is_there(tmp_path):
    for seed in range(10):
        draw, journal, path = random.Random(seed), MemoryJournal(), tmp_path / str(seed) / "counted.json"
        names = draw.sample(NAMES, len(NAMES))
        seen = 0.0
        while names:
            await goldens(journal, [names.pop() for _ in range(min(len(names), draw.randint(1, 4)))])
            one = meter(journal, path)
            for _ in range(draw.randint(1, 4)):
                await one.catch_up(draw.choice([-1.0, 60.0]))
            total = one.counts.total(m.STEPS)
            assert total >= seen, "what somebody has seen is never taken back"
            seen = total
        last = meter(journal, path)
        assert await last.catch_up(60)
        assert whole(last.counts) == whole((await counted(journal)).counts)


async def test_x9_runs_that_go_on_over_a_restart_are_counted_once(tmp_path):
    path = tmp_path / "observed" / "counted.json"
    async with Engine.open() as engine:
        run = await engine.start(ASK)
        await run.rested()
        first = meter(engine.journal, path)
        assert await first.catch_up()
        assert (first.counts.total(m.STARTED), first.counts.total(m.RUNS)) == (1, 0)
        await engine.answer(run.id, "q_sure_1", True)
        await run.result()
        again = meter(engine.journal, path)
        assert await again.catch_up()
        assert (again.counts.total(m.STARTED), again.counts.total(m.RUNS)) == (1, 1)
        assert again.counts.total(m.STEPS, tool="ask") == 1
        assert again.counts.whole(m.ANSWER_SECONDS).count == 1, "that it was asked is known, though it was before"
        assert whole(again.counts) == whole((await counted(engine.journal)).counts)


async def test_x9_a_fork_counts_what_it_does_itself(tmp_path):
    async with Engine.open() as engine:
        run = await engine.start(TWO)
        await run.result()
        one = meter(engine.journal, tmp_path / "counted.json")
        await one.catch_up()
        fork = await engine.fork(run.id, at=3)
        await fork.result()
        for each in (one, meter(engine.journal, tmp_path / "none.json")):
            assert await each.catch_up()
            assert each.counts.total(m.STARTED) == 2
            assert whole(each.counts) == whole((await counted(engine.journal)).counts)


async def test_x9_runs_that_are_forgotten_stay_counted(tmp_path):
    async with Engine.open() as engine:
        await (await engine.start(TWO)).result()
        await meter(engine.journal, tmp_path / "counted.json").catch_up()
        await engine.journal.sweep(2**60)
        await (await engine.start(TWO)).result()
        one = meter(engine.journal, tmp_path / "counted.json")
        assert await one.catch_up()
        assert one.counts.total(m.RUNS, status="succeeded") == 2


@pytest.mark.parametrize("noted", [b"", b"[]", b"{", b'{"number": 3}', b'{"number": "x", "run": 1, "counts": {}}'])
async def test_a_note_that_cannot_be_read_is_none(tmp_path, noted):
    path = tmp_path / "counted.json"
    path.write_bytes(noted)
    journal = MemoryJournal()
    await goldens(journal, ["plain"])
    one = meter(journal, path)
    assert await one.catch_up()
    assert one.counts.total(m.RUNS) == 1


async def test_a_note_about_another_journal_is_none(tmp_path):
    path, journal = tmp_path / "counted.json", MemoryJournal()
    await goldens(journal, ["plain", "order"])
    await meter(journal, path).catch_up()
    for names in (["order", "plain", "people"], ["people"]):
        other = MemoryJournal()
        await goldens(other, names)
        one = meter(other, path)
        assert await one.catch_up()
        assert one.counts.total(m.RUNS) == (await counted(other)).counts.total(m.RUNS)


async def test_a_place_that_cannot_be_written_stops_nothing(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    journal = MemoryJournal()
    await goldens(journal, ["plain"])
    one = meter(journal, tmp_path / "file" / "counted.json")
    assert await one.catch_up()
    await goldens(journal, ["order"])
    assert await one.catch_up()
    assert one.counts.total(m.RUNS) == 2
    assert len(caplog.records) == 1


def test_places_are_beside_the_journal(tmp_path):
    assert directory_beside(tmp_path / "runs.db.hands") == tmp_path / "runs.db.observed"
    assert directory_beside(tmp_path / "scratch") is None
    assert directory_beside(None) is None


async def test_commits_are_timed(tmp_path):
    took = []
    async with await SqliteJournal.open(tmp_path / "runs.db") as journal:
        journal.time_commits(took.append)
        async with Engine.open(journal=journal) as engine:
            await (await engine.start(TWO)).result()
    assert took
    assert all(each > 0 for each in took)
