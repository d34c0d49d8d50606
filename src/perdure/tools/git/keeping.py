"""Notes of the engine's own about repositories."""

from pathlib import Path

from perdure.tools.changes.durable import make_private, write_durably


def keep(path: Path, data: bytes) -> None:
    """Write a note, whole or not at all."""
    make_private(path.parent)
    write_durably(path, data)


def recall(path: Path) -> bytes | None:
    """What was kept, if anything was."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
