"""One process writes a file: a lock that the kernel lets go of when the process dies."""

import fcntl
import json
import os
import socket
import time
from pathlib import Path
from typing import Any, Final

from perdure.journal.filesystem import PRIVATE_FILE
from perdure.ports import Locked

_LONGEST_NOTE: Final = 1_000
PAUSE: Final = 0.01
BRIEF: Final = 0.02
"""Seconds that somebody may share the lock who only asks."""
LINGERING: Final = 5.0
"""Seconds that what a dead process has started may hold its lock."""


class FileLock:
    """`<db>.lock`, held from now until `release`. Its text is for people; only the kernel's lock counts."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        if not _is_ours(self._file):
            note = os.pread(self._file, _LONGEST_NOTE, 0)
            os.close(self._file)
            raise Locked(_told(path, note), "let that process do it, or end it first; reading is always open")
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": int(time.time())}
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, json.dumps(holder).encode() + b"\n", 0)

    def release(self) -> None:
        """Let go. The file stays, because removing it would let two processes hold two locks."""
        os.close(self._file)


def _is_ours(file: int) -> bool:
    """Take the lock. Who only asks who holds it shares it for a moment, so a refusal counts when it is repeated.

    A process that was killed while it started another has left its lock there until that one has become its program.
    """
    until = time.monotonic() + (LINGERING if _is_dead(file) else BRIEF)
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                return False
            time.sleep(PAUSE)
        else:
            return True


def _is_dead(file: int) -> bool:
    """Whether the process that has written its name here surely is no more."""
    try:
        holder: dict[str, Any] = json.loads(os.pread(file, _LONGEST_NOTE, 0))
        if holder["host"] == socket.gethostname():
            os.kill(holder["pid"], 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError, ValueError, KeyError, TypeError):
        pass
    return False


def writer_of(journal: Path) -> str:
    """Who writes a journal, in a sentence; empty if nobody does."""
    path = journal.with_name(f"{journal.name}.lock")
    if not path.is_file():
        return ""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _told(path, os.pread(file, _LONGEST_NOTE, 0))
    finally:
        os.close(file)
    return ""


def _told(path: Path, note: bytes) -> str:
    journal = path.with_suffix("").name
    try:
        holder: dict[str, Any] = json.loads(note)
        since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(holder["since"]))
        return f"{journal} is written by process {holder['pid']} on {holder['host']} since {since}"
    except (ValueError, KeyError, TypeError):
        return f"{journal} is written by another process"
