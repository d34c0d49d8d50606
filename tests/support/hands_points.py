"""Points in the life of an engine with hands: every system call that can change a disk, of every thread it has."""

import ctypes
import json
import os
import re
import subprocess
import threading
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
PR_SET_PTRACER = 0x59616D61
"""For machines where a process may look only at its own children."""
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


def traceable():
    """Let anybody look at this process; its threads by name."""
    ctypes.CDLL(None).prctl(PR_SET_PTRACER, ctypes.c_ulong(-1), 0, 0, 0)
    return {each.name: each.native_id for each in threading.enumerate()} | {"MainThread": os.getpid()}


def attached(trace, threads):
    """strace at the side of one thread of a process, told by the beginning of its name, or of all of them."""
    Path(f"{trace['log']}.threads").write_text(json.dumps(threads))
    pid = next(each for name, each in threads.items() if name.startswith(trace["thread"] or "MainThread"))
    whole = [] if trace["thread"] else ["-f", "-bexecve"]
    words = ["strace", *whole, "-p", str(pid), "-o", trace["log"], *trace["options"]]
    tracer = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    said = tracer.stderr.readline()
    assert "attached" in said, said
    return tracer
