"""The tables of a journal: made in a file that gets its name when it is whole, brought forward by numbered steps."""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from perdure.journal.driver import Connect, Connection, all_or_nothing
from perdure.journal.filesystem import PRIVATE_FILE, move_durably
from perdure.ports import Newer, NoJournal

APPLICATION: Final = 0x50524455
"""`PRDU`, in the header of the file, so that nobody takes it for another program's."""


def steps() -> list[str]:
    """The migrations, in order; the first one makes an empty file a journal."""
    files = Path(__file__).parent.glob("*.sql")  # `importlib.resources` takes longer to load than all of this room
    return [file.read_text(encoding="utf-8") for file in sorted(files, key=lambda file: file.name)]


def create(path: Path, connect: Connect) -> None:
    """Make a new journal. The caller holds the lock; what an earlier try left behind is thrown away."""
    draft = path.with_name(f"{path.name}.new")
    for left in (draft, *(draft.with_name(draft.name + end) for end in ("-journal", "-wal", "-shm"))):
        left.unlink(missing_ok=True)
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE))
    db = connect(draft, "rw")
    try:
        db.execute("PRAGMA synchronous = EXTRA")
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        migrate(db, 0, steps())
        db.execute("PRAGMA journal_mode = WAL").fetchone()
    finally:
        db.close()
    move_durably(draft, path)


def version(db: Connection) -> int:
    """The version of a journal; raises if the file is something else."""
    application, found = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if application != APPLICATION:
        raise NoJournal("the file is a database, but not a journal", "choose another file")
    if found > len(steps()):
        raise Newer(
            f"the journal has version {found}, this release knows {len(steps())}",
            "use the release that wrote it, or a newer one",
        )
    return found


def bring_forward(db: Connection, path: Path, wanted: Sequence[str]) -> None:
    """Do the steps that an older journal lacks, with a copy of it beside the file."""
    found = version(db)
    if found < len(wanted):
        copy = path.with_name(f"{path.name}.v{found}")
        copy.unlink(missing_ok=True)
        db.execute("VACUUM INTO ?", (str(copy),))
        copy.chmod(PRIVATE_FILE)
        migrate(db, found, wanted)


def migrate(db: Connection, found: int, wanted: Sequence[str]) -> None:
    """Each step and its number in one transaction."""
    for number, script in enumerate(wanted[found:], found + 1):
        statements = [*_statements(script), f"PRAGMA user_version = {number}"]
        all_or_nothing(db, _do, db, statements)


def _do(db: Connection, statements: Sequence[str]) -> None:
    for each in statements:
        db.execute(each)


def _statements(script: str) -> list[str]:
    found, text = list[str](), ""
    for line in script.splitlines(keepends=True):
        text += line
        if sqlite3.complete_statement(text):
            found.append(text)
            text = ""
    return found
