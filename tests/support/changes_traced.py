"""Processes with strace at their side: killed, or lied to, at a system call."""

import re
import subprocess
from collections import Counter

from changes_world import begin, victim

WRITING = (
    "write", "openat", "openat2", "fsync", "rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat",
    "linkat", "symlinkat", "fchmod", "fchmodat", "fchown", "fcntl", "flock", "rmdir",
)  # fmt: skip


class Traced:
    """A process that waits for a word, with strace at its side."""

    def __init__(self, strace, processes, *options):
        self._strace, self._processes, self._options = strace, processes, options

    def run(self, work, *arguments):
        ours, theirs = self._processes.Pipe()
        process = self._processes.Process(target=victim, args=(theirs, work, *arguments))
        process.start()
        theirs.close()
        pid = ours.recv()
        command = [self._strace, "-f", "-p", str(pid), f"-etrace={','.join(WRITING)}", *self._options]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracer:
            assert "attached" in tracer.stderr.readline(), "strace may not look at this process"
            ours.send("go")
            told = tracer.stderr.read()
        process.join(60)
        code = process.exitcode
        process.close()
        ours.close()
        return code, told


def calls_in(told):
    """How often each system call was made."""
    return Counter(re.findall(r"^(?:\[pid +\d+\] )?(\w+)\(", told, re.MULTILINE))


def points(strace, processes, tmp_path, work, *options):
    begin(tmp_path / "whole")
    code, told = Traced(strace, processes, *options).run(work, tmp_path / "whole")
    assert code == 0, told
    return [(name, n) for name, count in calls_in(told).items() if name in WRITING for n in range(1, count + 1)]
