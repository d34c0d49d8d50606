"""Memories without a file: the same tables and the same searches, in a database that is made when somebody looks."""

import json
import sqlite3
import weakref
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import TypeVar

from perdure.journal import recalling, schema
from perdure.journal.driver import Connection
from perdure.journal.faults import is_of_tables, no_memory
from perdure.journal.memories import AT_ONCE, Index, put, take_away, take_away_outcomes
from perdure.ports import OF_RUNS, Memory, UnknownMemory

Result = TypeVar("Result")


class Unfiled:
    """What a journal in memory remembers. Runs end often and somebody looks rarely, so rows are made then."""

    def __init__(self) -> None:
        self._fresh: list[Memory] = []

    @cached_property
    def _db(self) -> Connection:
        db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, db.close)  # Python 3.13 warns of one that only goes away
        schema.migrate(db, 0, schema.steps())
        return db

    @cached_property
    def _index(self) -> Index:
        return Index(self._db)

    def put(self, memories: Iterable[Memory]) -> None:
        """Keep memories."""
        self._fresh += memories

    def _looked(self, look: Callable[[Connection], Result]) -> Result:
        try:
            for each in self._fresh:
                put(self._db, [each])
                self._index.waits = True
            self._fresh.clear()
            return look(self._db)
        except Exception as error:
            if is_of_tables(error):
                raise no_memory(error) from error
            raise

    def search(self, text: str, kinds: Sequence[str], limit: int) -> list[Memory]:
        """By their words."""

        def look(db: Connection) -> list[Memory]:
            while self._index.waits:
                self._index.waits = self._index.catch_up(AT_ONCE) == AT_ONCE
            return recalling.search(db, text, kinds, limit)

        return self._looked(look)

    def page(self, kinds: Sequence[str], before: int | None, limit: int) -> list[Memory]:
        """Newest first."""
        return self._looked(lambda db: recalling.page(db, kinds, before, limit))

    def forget(self, memory: str) -> None:
        """By its id."""
        number = self._looked(lambda db: take_away(db, memory))
        if number is None:
            raise UnknownMemory(f"there is no memory {memory}")
        self._index.take_out([number])

    def forget_outcomes(self, runs: Collection[str]) -> None:
        """Of runs that are not among these."""
        if "_db" not in vars(self):
            self._fresh = [each for each in self._fresh if each.kind not in OF_RUNS or each.run in runs]
            return
        ids = json.dumps([*runs])
        gone = self._looked(lambda db: take_away_outcomes(db, "SELECT value FROM json_each(?)", ids))
        self._index.take_out(gone)
