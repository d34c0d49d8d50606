"""E15: both journals keep the laws that ship for authors of others."""

import pytest

from perdure.journal import MemoryJournal, SqliteJournal, open_journal
from perdure.testing.contracts import JOURNAL_LAWS, a_turn


@pytest.mark.parametrize("law", JOURNAL_LAWS, ids=lambda law: law.__name__)
async def test_it_keeps_the_law(law, make):
    await law(make)


async def test_the_door_opens_the_right_one(tmp_path):
    for path, kind in ((":memory:", MemoryJournal), (tmp_path / "a.db", SqliteJournal)):
        journal = await open_journal(path)
        assert isinstance(journal, kind)
        await journal.close()


class Forgetful(MemoryJournal):
    """Breaks one law: it takes any turn."""

    def append(self, turn):
        held = self._runs.get(turn.run)
        return super().append(turn if not held or turn.first_seq == 1 else a_turn(turn.run, held.run.head_seq + 1))


async def test_a_journal_that_breaks_a_law_is_found_out():
    async def made():
        return Forgetful()

    broken = []
    for law in JOURNAL_LAWS:
        try:
            await law(made)
        except AssertionError:
            broken.append(law.__name__)
    assert "a_turn_must_follow" in broken
