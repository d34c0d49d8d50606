"""The supervisor of the lower tiers: where no namespaces can be had and the user has said that less will do.

It stands alone: it is started by its path, starts the command as its child, and stays with it. It adopts whatever its
descendants leave behind, and when the command ends, or the engine lets go of its pipe, it kills them all before it ends
itself. The tier `landlock` fences files in by Landlock and system calls by the same filter; there is no network. Not
covered: names of processes, sizes and times of files outside can be seen. The tier `none` fences in nothing.
"""

import contextlib
import ctypes
import json
import os
import platform
import resource
import select
import signal
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from perdure.tools.sandbox.command import Command

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_SET_NO_NEW_PRIVS, _SET_SECCOMP, _SUBREAPER = 38, 22, 36
READ: Final = 0b1101
"""Run, read a file, list a directory."""
_ALL_BY_VERSION: Final = ((1, (1 << 13) - 1), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
_ON_FILES: Final = 0b111 | 1 << 14 | 1 << 15
"""What can be said of a path that is no directory."""
_TCP: Final = 0b11
_SCOPES: Final = 0b11
"""Abstract sockets and signals stay among those who are fenced in together."""
LEAST: Final = 6
"""The first version that keeps signals in."""
_libc: Final = ctypes.CDLL(None, use_errno=True)


def described(command: "Command", life: int) -> str:
    """All that the supervisor has to know, as one word."""
    from perdure.tools.sandbox.seccomp import program  # noqa: PLC0415  this file also runs alone

    workspace = command.source or command.workspace
    seen = [bind for bind in command.binds if not bind.writable]
    written = [bind.source for bind in command.binds if bind.writable]
    written += [workspace] if workspace and command.writable else []
    return json.dumps(
        {
            "life": life,
            "fenced": command.tier == "landlock",
            "read": [*_system(), *(str(each.source) for each in seen), *([str(workspace)] if workspace else [])],
            "write": [str(each) for each in written],
            "cwd": str(command.source or command.cwd or command.workspace or "/"),
            "filter": program(internet=False).hex(),
            "limits": {
                "NPROC": command.limits.processes, "DATA": command.limits.memory, "AS": 4 * command.limits.memory,
                "CPU": command.limits.cpu_seconds, "FSIZE": command.limits.file_size, "NOFILE": command.limits.files,
                "CORE": 0,
            },
        }
    )  # fmt: skip


def _system() -> list[str]:
    """Programs, and the few files that libraries cannot do without."""
    etc = ("alternatives", "ld.so.cache", "localtime", "ssl/certs", "ssl/openssl.cnf", "passwd", "group", "hosts")
    return ["/usr", "/bin", "/sbin", "/lib", "/lib64", *(f"/etc/{each}" for each in etc), "/dev/urandom", "/dev/zero"]


def version() -> int:
    """Which Landlock the kernel has; 0: none."""
    return max(0, _libc.syscall(_CREATE, None, ctypes.c_size_t(0), 1))


# ------------------------------------------------------------------------------- the supervisor


def main(told: Mapping[str, Any], command: list[str]) -> int:
    """Start it, wait for its end or for ours, leave nothing behind."""
    _libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    if b"".join(iter(lambda: os.read(0, 1) or b"\n", b"\n")) != b"go":
        return 125
    child = os.fork()
    if child == 0:
        _become(told, command)
    os.close(0)
    held = os.pidfd_open(child)
    select.select([held, told["life"]], [], [])
    ended = _end_all(child)
    return 128 + os.WTERMSIG(ended) if os.WIFSIGNALED(ended) else os.WEXITSTATUS(ended)


def _end_all(child: int) -> int:
    """Kill until there is nobody left; what the child ended with."""
    status, first = 9, True
    while True:
        for pid in _descendants(os.getpid()):
            if not (first and pid == child and _is_over(child)):
                _kill(pid)
        first = False
        try:
            pid, seen = os.waitpid(-1, 0)
        except ChildProcessError:
            return status
        status = seen if pid == child else status


def _is_over(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    waiting = [pid]
    while waiting:
        try:
            text = " ".join(each.read_text() for each in Path(f"/proc/{waiting.pop()}/task").glob("*/children"))
        except OSError:
            continue
        waiting += (below := [int(word) for word in text.split()])
        found += below
    return found


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


# ------------------------------------------------------------------------------- the command


def _become(told: Mapping[str, Any], command: list[str]) -> None:
    try:
        os.setsid()
        os.close(told["life"])
        os.chdir(told["cwd"])
        for name, value in told["limits"].items():
            _limit(name, value)
        _libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if told["fenced"]:
            _fence(told["read"], told["write"])
            _filter(bytes.fromhex(told["filter"]))
        os.execvp(command[0], command)  # noqa: S606  this is what it is for
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror or error}\n")
        sys.stderr.flush()
        os._exit(127 if error.filename is None else 125)


def _limit(name: str, value: int) -> None:
    """Processes are counted for the user as a whole here, so those who are there already come on top."""
    number = getattr(resource, f"RLIMIT_{name}")
    hard = resource.getrlimit(number)[1]
    wanted = value + _mine() if name == "NPROC" else value
    least = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(number, (least, least))


def _mine() -> int:
    found = 0
    for each in Path("/proc").iterdir():
        try:
            found += len(list((each / "task").iterdir())) if each.stat().st_uid == os.getuid() else 0
        except OSError:
            continue
    return found


def _fence(read: list[str], write: list[str]) -> None:
    have = version()
    if have < LEAST:
        raise OSError(0, f"Landlock {LEAST} is needed, here is {have}", "landlock")
    every = sum(bits for since, bits in _ALL_BY_VERSION if have >= since)
    attributes = struct.pack("QQQ", every, _TCP, _SCOPES)
    rules = _called(_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    for path in read:
        _allow(rules, path, READ)
    for path in [*write, "/dev/null"]:
        _allow(rules, path, every)
    _called(_RESTRICT, rules, 0)
    os.close(rules)


def _allow(rules: int, path: str, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    allowed = access if Path(path).is_dir() else access & _ON_FILES
    _called(_ADD, rules, 1, struct.pack("=Qi", allowed, place), 0)
    os.close(place)


def _filter(text: bytes) -> None:
    kept = ctypes.create_string_buffer(text, len(text))
    program = struct.pack("HxxxxxxP", len(text) // 8, ctypes.addressof(kept))
    if _libc.prctl(_SET_SECCOMP, 2, program, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the filter is refused", "seccomp")


def _called(number: int, *arguments: object) -> int:
    result = _libc.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), f"landlock on {platform.machine()}")
    return result


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1]), sys.argv[3:]))
