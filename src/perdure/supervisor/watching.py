"""What runs in the supervisor's own process. It imports nothing of ours and no code of any user, so that it lives.

The engine sends a heartbeat through a pipe: the seconds until the earliest moment at which something of it has to be
over. Not a number means good-bye; the end of the pipe means that the engine is gone.
"""

import math
import os
import select
import signal
import stat
import struct
import sys
import time
from pathlib import Path

BEAT = struct.Struct("<d")
LOOK = 0.1
"""Seconds between two looks at the flag."""
SCAN = 1.0
"""Seconds between two looks at the processes that the engine has started."""
STILL = 1.0
"""Seconds without a heartbeat after which an event loop counts as blocked."""
FRESH = 10.0
"""Seconds that a flag counts after it was last touched: nobody's flag must not stop everybody for ever."""
MOST_ROUNDS = 200
PAGE = os.sysconf("SC_PAGE_SIZE")
MEGABYTE = 1024 * 1024

Known = tuple[int, int, int]
"""Of a process: its parent, its session, its memory in bytes."""

# ------------------------------------------------------------------------------- processes


def processes() -> dict[int, Known]:
    """Every process by its number. The dead that nobody buried are none."""
    found: dict[int, Known] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] not in (b"Z", b"X"):
                found[int(name)] = (int(fields[1]), int(fields[3]), int(fields[21]) * PAGE)
    return found


def family(engine: int, known: dict[int, Known]) -> set[int]:
    """The engine's children, their children, and all that stand in sessions they have made; neither it nor us."""
    children: dict[int, list[int]] = {}
    for pid, (parent, _, _) in known.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    waiting = [engine]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found and child != os.getpid():
                found.add(child)
                waiting.append(child)
    sessions = sessions_of(engine, found, known)
    return found | {pid for pid in known if known[pid][1] in sessions}


def sessions_of(engine: int, pids: set[int], known: dict[int, Known]) -> set[int]:
    """Sessions that some processes have made, which is not ours and not the one that the engine was started in."""
    ours = {known[engine][1] if engine in known else 0, os.getsid(0)}
    return {known[pid][1] for pid in pids if pid in known} - ours


def kill(pid: int) -> None:
    """End a process, if it is still there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


# ------------------------------------------------------------------------------- watching


class Watch:
    """One engine, watched from its start to its end."""

    def __init__(self, engine: int, pipe: int, flag: str, memory: int, grace: float) -> None:
        self.engine, self.pipe, self.flag = engine, pipe, Path(flag)
        self.memory = memory * MEGABYTE
        self.grace = grace
        self.process = os.pidfd_open(engine)
        self.deadline, self.beat = math.inf, time.monotonic()
        self.sessions: set[int] = set()
        self.scanned = 0.0

    def run(self) -> None:
        """Watch until there is nothing to watch any more."""
        while not (reason := self.reason()):
            ready, _, _ = select.select([self.pipe, self.process], [], [], LOOK)
            if self.process in ready or (self.pipe in ready and not self.hear()):
                if self.is_gone():
                    self.sweep()
                return
        self.end(reason)

    def hear(self) -> bool:
        """Take heartbeats; whether there will be more."""
        told = os.read(self.pipe, 4096)
        if not told:
            return False
        (left,) = BEAT.unpack(told[-BEAT.size :])
        self.beat = time.monotonic()
        self.deadline = self.beat + left
        if math.isnan(left):
            sys.exit(0)
        return True

    def is_gone(self) -> bool:
        """Whether the engine dies as its pipe has; it may also have closed it for a new supervisor."""
        return bool(select.select([self.process], [], [], STILL)[0])

    def reason(self) -> str:
        """Why the engine has to end now; empty if it may go on."""
        now = time.monotonic()
        if self.is_flagged():
            return "the kill switch was used"
        if now - self.beat > STILL and now > self.deadline + self.grace:
            return "its event loop is blocked, and something in it had to be over"
        if now - self.scanned > SCAN:
            self.scanned = now
            return self.scan()
        return ""

    def is_flagged(self) -> bool:
        """Whether somebody has raised the flag just now, who may."""
        try:
            found = self.flag.lstat()
        except OSError:
            return False
        mine = stat.S_ISREG(found.st_mode) and found.st_uid in (os.getuid(), 0)
        return mine and abs(time.time() - found.st_mtime) < FRESH

    def scan(self) -> str:
        """Note the sessions that were made, and see how much memory is taken."""
        known = processes()
        relatives = family(self.engine, known)
        self.sessions = sessions_of(self.engine, relatives, known)
        taken = sum(known[pid][2] for pid in {self.engine, *relatives} if pid in known)
        return f"it takes more memory than it may: {taken // MEGABYTE} MB" if 0 < self.memory < taken else ""

    # ------------------------------------------------------------ ending

    def end(self, reason: str) -> None:
        """Stop the engine, so that it starts nothing more; end all that it has started, and then itself."""
        say(f"perdure: process {self.engine} is ended: {reason}")
        signal.pidfd_send_signal(self.process, signal.SIGSTOP)
        for _ in range(MOST_ROUNDS):
            relatives = family(self.engine, processes())
            if not relatives:
                break
            for pid in relatives:
                kill(pid)
            time.sleep(0.002)
        signal.pidfd_send_signal(self.process, signal.SIGKILL)
        select.select([self.process], [], [], STILL)

    def sweep(self) -> None:
        """The engine is gone: end what is left in the sessions that were made under it."""
        for pid, (_, session, _) in processes().items():
            if session in self.sessions:
                kill(pid)


def say(words: str) -> None:
    """Say it where the engine would; whoever listened may have left."""
    try:
        os.write(2, words.encode() + b"\n")
    except OSError:
        pass


def main() -> None:
    """Watch the process that has started this one."""
    pipe, engine, flag, memory, grace = sys.argv[1:]
    if os.getppid() == int(engine):  # else it is gone already
        Watch(int(engine), int(pipe), flag, int(memory), float(grace)).run()


if __name__ == "__main__":
    main()
