"""Whose file it is: each process that takes it bumps a number, and each commit looks at that number."""

from perdure.journal.driver import Connection, all_or_nothing
from perdure.ports import Fenced


def take_over(db: Connection) -> int:
    """Make the file ours; the number that says so."""
    return all_or_nothing(db, _bump, db)


def _bump(db: Connection) -> int:
    db.execute("UPDATE owner SET token = token + 1")
    return _owner(db)


def _owner(db: Connection) -> int:
    return db.execute("SELECT token FROM owner").fetchone()[0]


def check_owner(db: Connection, token: int) -> None:
    """Raise if another process has the file. Inside a transaction, so that it stays true until the commit."""
    if _owner(db) != token:
        raise Fenced("another process has taken this journal over", "open it again")
