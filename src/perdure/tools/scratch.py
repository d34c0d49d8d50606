"""Directories for a while: held by a lock that the kernel lets go of when their process dies, however it dies.

So whoever makes the next one can tell what dead processes have left, and removes it.
"""

import contextlib
import fcntl
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

OURS: Final = "perdure-"
"""What the name of a directory begins with where others have theirs, too."""
_NAME: Final = re.compile(r"[0-9a-f]{16}")


@contextmanager
def scratch() -> Generator[Path]:
    """A directory where the system has such, gone afterwards."""
    with held(Path(tempfile.gettempdir()).resolve(), OURS) as place:
        yield place


@contextmanager
def held(home: Path, prefix: str = "") -> Generator[Path]:
    """A directory that is gone afterwards, as are those that dead processes have left there."""
    sweep(home, prefix)
    place, lock = _made(home, prefix)
    try:
        yield place
    finally:
        try:
            remove(place)
        finally:
            os.close(lock)


def _made(home: Path, prefix: str) -> tuple[Path, int]:
    """Made, and held. Whoever sweeps in between takes it for one that was left; then another one is made."""
    while True:
        place = home / f"{prefix}{secrets.token_hex(8)}"
        place.mkdir(mode=0o700)
        with contextlib.suppress(FileNotFoundError):
            lock = _opened(place)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if place.exists():
                return place, lock
            os.close(lock)


def sweep(home: Path, prefix: str = "") -> None:
    """Remove directories that nobody holds."""
    for place in left_in(home, prefix):
        with contextlib.suppress(OSError):
            remove(place)


def left_in(home: Path, prefix: str = "") -> Iterator[Path]:
    """Directories that nobody holds; each is held for as long as it is looked at."""
    for place in list(_ours(home, prefix)):
        with contextlib.suppress(OSError):
            lock = _opened(place)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield place
            finally:
                os.close(lock)


def _opened(place: Path) -> int:
    return os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)


def _ours(home: Path, prefix: str) -> Iterator[Path]:
    """Directories that we have made: of this user, closed to others, and named as no person names one."""
    for entry in _entries(home) if home.is_dir() else ():
        if entry.name.startswith(prefix) and _NAME.fullmatch(entry.name, len(prefix)):
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
                if private and status.st_uid == os.geteuid():
                    yield Path(entry.path)


def remove(root: Path) -> None:
    """Remove a tree however deep it is and whatever its modes: directories are drawn up to the top one by one."""
    waiting, number, mark = [root], 0, secrets.token_hex(4)  # who was killed at it has left other names
    while waiting:
        directory = waiting.pop()
        for entry in _entries(directory):
            if stat.S_ISDIR(entry.stat(follow_symlinks=False).st_mode):
                number += 1
                drawn = root / f".drawn-{mark}-{number}"
                Path(entry.path).chmod(0o700)
                waiting.append(Path(entry.path).rename(drawn))
            else:
                Path(entry.path).unlink()
        if directory != root:
            directory.rmdir()
    root.rmdir()


def all_in(top: Path) -> Iterator[os.DirEntry[str]]:
    """All that is there, as far as it can be looked at while others write."""
    waiting = [str(top)]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                yield entry


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a directory, as far as they can be looked at."""
    with contextlib.suppress(OSError):
        if not stat.S_ISDIR((status := path.lstat()).st_mode):
            return status.st_size
    return sum(_bytes(entry) for entry in all_in(path))


def _bytes(entry: os.DirEntry[str]) -> int:
    with contextlib.suppress(OSError):
        return 0 if entry.is_dir(follow_symlinks=False) else entry.stat(follow_symlinks=False).st_size
    return 0


def _entries(directory: Path) -> list[os.DirEntry[str]]:
    with os.scandir(directory) as found:
        return list(found)
