"""The journal: facts in order, kept in a file or in memory.

`open_journal("runs.db")` keeps them in SQLite, `open_journal(":memory:")` only as long as the process lives. Both
fulfil the seams `perdure.ports.Journal` and `perdure.ports.Memories`.
"""

from pathlib import Path

from perdure.journal.following import follow as follow
from perdure.journal.listing import every_run as every_run
from perdure.journal.memory import MemoryJournal as MemoryJournal
from perdure.journal.sqlite import SqliteJournal as SqliteJournal

AnyJournal = MemoryJournal | SqliteJournal
"""Both also remember what runs have taught: `perdure.ports.Memories`."""


async def open_journal(path: Path | str, *, read_only: bool = False, network: bool = False) -> AnyJournal:
    """The journal at a path, made if it is not there. Only one process at a time can open it to write."""
    if str(path) == ":memory:":
        return MemoryJournal()
    return await SqliteJournal.open(path, read_only=read_only, network=network)
