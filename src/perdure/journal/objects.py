"""Artifacts that are too large for a table: files under their digest, written before the commit that names them."""

from collections.abc import Container
from pathlib import Path

from perdure.journal.filesystem import make_private, sync_directory, write_durably


class Objects:
    """A directory `<db>.objects/ab/cdef…` beside the journal."""

    def __init__(self, journal: Path) -> None:
        self._directory = journal.with_name(f"{journal.name}.objects")

    def put(self, digest: str, data: bytes) -> None:
        """Write a value, once."""
        path = self._path(digest)
        if path.is_file() and path.stat().st_size == len(data):
            # Whoever wrote it may have died before its name was durable.
            sync_directory(path.parent)
            return
        make_private(path.parent)
        write_durably(path, data)

    def get(self, digest: str) -> bytes | None:
        """The value, if it is there."""
        try:
            return self._path(digest).read_bytes()
        except FileNotFoundError:
            return None

    def keep_only(self, wanted: Container[str]) -> int:
        """Remove every file that nobody names, also those of turns that were never committed."""
        gone = 0
        for path in self._directory.glob("??/*"):
            if f"{path.parent.name}{path.name}" not in wanted:
                path.unlink(missing_ok=True)
                gone += 1
        return gone

    def _path(self, digest: str) -> Path:
        return self._directory / digest[:2] / digest[2:]
