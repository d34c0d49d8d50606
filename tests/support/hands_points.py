"""Points in the life of an engine with hands: every system call that can change a disk, of every thread it has."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

WRITING = (
    "write", "pwrite64", "pwritev", "openat", "openat2", "fsync", "fdatasync", "ftruncate", "fallocate", "rename",
    "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "link", "linkat", "symlink", "symlinkat",
    "chmod", "fchmod", "fchmodat", "fchown", "setxattr", "fsetxattr", "utimensat",
)  # fmt: skip
MAKING = ("O_CREAT", "O_TRUNC", "O_WRONLY", "O_RDWR")
"""What opening a file must be for, to count as writing."""
SENDING = ("sendto", "sendmsg", "writev")
_NO_DISK = re.compile(r'\d+<(pipe|socket|anon_inode|/memfd|/sys|/proc)|.*"/(sys|proc|dev)/')
_CALL = re.compile(r"(\d+) +(\w+)\((.*)")


class Point(NamedTuple):
    """The nth call of a name in a thread, from the gate on."""

    thread: str
    name: str
    n: int
    what: str = ""
    """What it was given, for people."""

    def trace(self, log, **what):
        """strace's words to have something done at this point."""
        told = ":".join(f"{name}={value}" for name, value in what.items())
        inject = f"-einject={self.name}:{told}:when={self.n}"
        return {"thread": self.thread, "log": str(log), "options": [f"-etrace={self.name}", inject]}


def looking(log):
    """strace's words to see everything and do nothing."""
    return {"thread": "", "log": str(log), "options": ["-y", "-s99", f"-etrace={','.join((*WRITING, *SENDING))}"]}


def points_in(log, *, sent=False):
    """What a process did, in order, as far as it changes a disk; or tells others something, if that counts."""
    threads = {str(tid): name for name, tid in json.loads(Path(f"{log}.threads").read_text()).items()}
    seen, found = Counter(), []
    for tid, name, what in _CALL.findall(Path(log).read_text()):
        seen[tid, name] += 1
        makes = not name.startswith("open") or any(word in what for word in MAKING)
        if makes and (sent or not (name in SENDING or _NO_DISK.match(what))):
            found.append(Point(threads.get(tid, ""), name, seen[tid, name], what[:600]))
    return found
