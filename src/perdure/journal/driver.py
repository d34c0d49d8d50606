"""The few things that are asked of SQLite, so that another build of it, or a failing disk, can stand in."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, ParamSpec, Protocol, TypeVar

Mode = Literal["rwc", "rw", "ro", "immutable"]
Value = str | bytes | int | None
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


class Cursor(Protocol):
    """The outcome of a statement."""

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""
        ...

    def fetchone(self) -> Any:
        """The next row."""
        ...

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        ...


class Connection(Protocol):
    """An open database, without transactions of its own making."""

    def execute(self, sql: str, parameters: Sequence[Value] = ..., /) -> Cursor:
        """Do one statement."""
        ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Value]], /) -> Cursor:
        """Do one statement for many rows."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


Connect = Callable[[Path, Mode], Connection]


def connect(path: Path, mode: Mode) -> Connection:
    """Open a file with the SQLite of the standard library. One thread at a time uses it, but not always the same."""
    how = "immutable=1" if mode == "immutable" else f"mode={mode}"
    return sqlite3.connect(f"{path.as_uri()}?{how}", uri=True, isolation_level=None, check_same_thread=False)


def all_or_nothing(
    db: Connection, work: Callable[Arguments, Result], *arguments: Arguments.args, **named: Arguments.kwargs
) -> Result:
    """Do some work in a transaction.

    It takes the write lock at once, because a read that turns into a write could not wait for it.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        result = work(*arguments, **named)
        db.execute("COMMIT")
    except BaseException:
        with suppress(Exception):  # some errors have rolled back by themselves; the first one is what matters
            db.execute("ROLLBACK")
        raise
    return result
