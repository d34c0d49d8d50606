from itertools import count

import pytest

from perdure.journal import SqliteJournal, open_journal


@pytest.fixture
async def journal(tmp_path):
    async with await SqliteJournal.open(tmp_path / "runs.db") as opened:
        yield opened


@pytest.fixture(params=["memory", "sqlite"])
def make(request, tmp_path):
    """Makes journals of either sort, each new."""
    numbers = count()

    async def made():
        return await open_journal(
            ":memory:" if request.param == "memory" else tmp_path / f"{next(numbers)}" / "runs.db"
        )

    return made
