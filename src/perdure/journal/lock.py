"""One process writes a file: a lock that the kernel lets go of when the process dies."""

import fcntl
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

from perdure.journal.filesystem import PRIVATE_FILE
from perdure.ports import Locked


class FileLock:
    """`<db>.lock`, held from now until `release`. Its text is for people; only the kernel's lock counts."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._file, 1_000, 0)
            os.close(self._file)
            raise Locked(
                _told(path, holder), "let that process do it, or end it first; reading is always open"
            ) from None
        note = {"pid": os.getpid(), "host": socket.gethostname(), "since": int(time.time())}
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, json.dumps(note).encode() + b"\n", 0)

    def release(self) -> None:
        """Let go. The file stays, because removing it would let two processes hold two locks."""
        os.close(self._file)


def _told(path: Path, note: bytes) -> str:
    journal = path.with_suffix("").name
    try:
        holder: dict[str, Any] = json.loads(note)
        since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(holder["since"]))
        return f"{journal} is written by process {holder['pid']} on {holder['host']} since {since}"
    except (ValueError, KeyError, TypeError):
        return f"{journal} is written by another process"
