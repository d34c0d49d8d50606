"""Databases in memory end with whoever made them: from Python 3.13 on one that is left open is a warning."""

import gc
import sqlite3

import pytest

from perdure.agents.requests.searching import Search
from perdure.journal.unfiled import Unfiled


@pytest.mark.parametrize("make", [Unfiled, lambda: Search({"name": 1.0}, {"a": {"name": "tides"}})])
def test_a_database_in_memory_is_closed_when_nobody_has_it_any_more(make):
    made = make()
    db = made._db
    assert db.execute("SELECT 1").fetchone() == (1,)
    del made
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.execute("SELECT 1")
