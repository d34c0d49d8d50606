import pytest

from perdure.journal import SqliteJournal


@pytest.fixture
async def journal(tmp_path):
    async with await SqliteJournal.open(tmp_path / "runs.db") as opened:
        yield opened
