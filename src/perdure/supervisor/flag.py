"""The kill switch as a file beside a journal: while it is there, and fresh, whoever drives runs is ended."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

PRIVATE: Final = 0o600


def flag_of(journal: Path | str) -> Path:
    """The flag that belongs to a journal."""
    path = Path(journal).expanduser().resolve()
    return path.with_name(f"{path.name}.stop")


@contextmanager
def raised(path: Path) -> Generator[Callable[[], None]]:
    """Keep the flag up as long as the block lasts; what is yielded says that it is still meant."""

    def wave() -> None:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
        try:
            os.utime(file)
        finally:
            os.close(file)

    wave()
    try:
        yield wave
    finally:
        with suppress(FileNotFoundError):
            path.unlink()
