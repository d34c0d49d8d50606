"""Journals of earlier releases: each is still read, and tells the same as ever (R17)."""

import json
from pathlib import Path

import pytest
from golden_runs import RUNS, expected_of

from perdure.core.events import EVENTS
from perdure.journal import MemoryJournal, SqliteJournal
from perdure.testing.replays import assert_replays

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in HERE.glob("*.jsonl"))


def lines_of(name):
    return (HERE / f"{name}.jsonl").read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("name", NAMES)
async def test_an_old_journal_tells_the_same_as_ever(name, tmp_path):
    async with await SqliteJournal.open(tmp_path / "runs.db") as journal:
        taken = await journal.take_in(lines_of(name))
        state = await assert_replays(journal, taken.id)
    expected = json.loads((HERE / f"{name}.json").read_text())
    assert json.loads(json.dumps(expected_of(state))) == expected


async def test_every_kind_of_fact_is_among_them():
    seen = set()
    for name in NAMES:
        journal = MemoryJournal()
        taken = await journal.take_in(lines_of(name))
        seen |= {entry.type for entry in await journal.read(taken.id)}
    assert seen == set(EVENTS)


def test_every_recipe_has_its_journal():
    assert {recipe.__name__ for recipe in RUNS} == set(NAMES)
