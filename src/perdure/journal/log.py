"""SQLite's log beside the file: brought in before it gets long, and laid out ahead of what is written."""

from pathlib import Path
from typing import Final

from perdure.journal.ballast import has_plenty
from perdure.journal.driver import Connection, all_or_nothing
from perdure.journal.faults import told
from perdure.ports import DiskFull

LIMIT: Final = 16 * 1024 * 1024
WORTH_A_CHECKPOINT: Final = 4 * 1024 * 1024
FIRST: Final = 64 * 1024
"""So long it grows by itself; a process that writes only a little is not worth more."""
TIMES: Final = 5
"""How much longer it is made then, each time that it is full."""
PATIENCE: Final = 5_000
"""Milliseconds to wait for another program that writes."""
_PATIENCE_WITH_READERS: Final = 50
"""Milliseconds to wait for readers before the log is cut; turns wait meanwhile, and the next try comes soon."""
_FILL: Final = "INSERT INTO artifacts (digest, size, data) VALUES (x'', 0, zeroblob(?))"


class _Enough(Exception):
    """Takes back what was written."""


class Log:
    """`<db>-wal`. Whoever commits says how much; whoever has time tends it."""

    def __init__(self, path: Path, db: Connection) -> None:
        self._path = path.with_name(f"{path.name}-wal")
        self._db = db
        self._full_at = FIRST
        self.written = 0
        """About how much since the last checkpoint; the file is reused and does not tell."""

    @property
    def wants_care(self) -> bool:
        """Whether there is something to tend."""
        return self.written >= self._full_at or self.written >= WORTH_A_CHECKPOINT

    def tend(self) -> None:
        """Bring it in, or make it longer."""
        if self.written >= WORTH_A_CHECKPOINT:
            self.written = 0
            self._checkpoint("TRUNCATE" if self._size() > LIMIT else "PASSIVE")
        elif self.written >= self._full_at:
            self._lay_out()

    def _checkpoint(self, kind: str) -> None:
        """SQLite does it by itself within a commit, but never says if the disk failed."""
        self._db.execute(f"PRAGMA busy_timeout = {_PATIENCE_WITH_READERS}").fetchall()
        self._db.execute(f"PRAGMA wal_checkpoint({kind})").fetchall()
        self._db.execute(f"PRAGMA busy_timeout = {PATIENCE}").fetchall()
        self._full_at = max(_nearly(self._size()), FIRST)

    def _lay_out(self) -> None:
        """Make the file longer by much at once: a commit that makes it a little longer costs twice what others cost."""
        size = self._size()
        wanted = min(TIMES * max(size, self._full_at), WORTH_A_CHECKPOINT * 8 // 7)
        if size < wanted and has_plenty(self._path.parent):
            self._fill(wanted - self.written)
        self._full_at = _nearly(wanted)

    def _fill(self, size: int) -> None:
        """Write something and take it back. What was meant to be written stays in the log, behind all that counts."""
        usual = self._db.execute("PRAGMA cache_size").fetchone()[0]
        self._db.execute("PRAGMA cache_size = 10").fetchall()  # pages that do not fit into memory go into the log
        try:
            all_or_nothing(self._db, self._write, size)
        except _Enough:
            pass
        except Exception as error:
            if not isinstance(told(error), DiskFull):  # if there is no room ahead, it grows as it is written
                raise
        finally:
            self._db.execute(f"PRAGMA cache_size = {usual}").fetchall()

    def _write(self, size: int) -> None:
        self._db.execute(_FILL, (size,))
        raise _Enough

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0


def _nearly(size: int) -> int:
    """Seven eighths: what is written is not counted exactly, and the end should not come unseen."""
    return size - size // 8
