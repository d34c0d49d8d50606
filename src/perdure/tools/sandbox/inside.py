"""Runs inside a sandbox that is being tried: attempts what must work and what must not, and says what it found.

It stands alone: it is started by its path. For each thing it tries it says an empty text, if that went as it should, or
what happened instead. Everything forbidden that it tries is aimed at a bait, so that success does no harm.
"""

import contextlib
import ctypes
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, Final

_libc: Final = ctypes.CDLL(None, use_errno=True)
_NEW_USER: Final = 0x10000000
MOST: Final = 200
"""Processes to start before giving up hope for a limit."""
Bait = Mapping[str, Any]
_FEW: Final = 2


def _writes_here(_: Bait) -> str:
    Path("probe").write_text("written")
    return ""


def _runs_programs(_: Bait) -> str:
    with _child() as is_child:
        if is_child:
            os.execv("/bin/sh", ["sh", "-c", "exit 7"])  # noqa: S606  whatever is there
    return "" if is_child.code == 7 else f"/bin/sh ended with {is_child.code}"  # noqa: PLR2004  as it was told


def _keeps_secrets(bait: Bait) -> str:
    with contextlib.suppress(OSError):
        return f"{bait['secret']} can be read: {Path(bait['secret']).read_text()}"
    return ""


def _keeps_shadow(_: Bait) -> str:
    with contextlib.suppress(OSError):
        return f"/etc/shadow can be read, {len(Path('/etc/shadow').read_bytes())} bytes"
    return ""


def _stays_in(bait: Bait) -> str:
    """What can be written there may be ours alone, so it is looked for outside."""
    with contextlib.suppress(OSError):
        Path(bait["outside"], "probe").write_text("written")
    return ""


def _hides_environments(bait: Bait) -> str:
    for each in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if bait["canary"].encode() in each.read_bytes():
                return f"{each} shows what we were started with"
    return ""


def _keeps_settings(_: Bait) -> str:
    """A setting is written back as it is."""
    setting = Path("/proc/sys/kernel/core_pattern")
    with contextlib.suppress(OSError):
        setting.write_text(setting.read_text())
        return f"{setting} can be written"
    return ""


def _has_no_network(bait: Bait) -> str:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", bait["port"]), 1):
        return "the network of this machine can be reached"
    return ""


def _has_no_unix_sockets(_: Bait) -> str:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX):
        return "a Unix socket can be made"
    return ""


def _has_pairs(_: Bait) -> str:
    for each in socket.socketpair():
        each.close()
    return ""


def _makes_no_namespaces(_: Bait) -> str:
    with _child() as is_child:
        if is_child:
            os._exit(int(_libc.unshare(_NEW_USER) == 0))
    return "a user namespace can be made" if is_child.code else ""


def _traces_nobody(_: Bait) -> str:
    with _child() as is_child:
        if is_child:
            os._exit(int(_libc.ptrace(0, 0, 0, 0) == 0))
    return "processes can be traced" if is_child.code else ""


def _reaches_nobody(bait: Bait) -> str:
    with contextlib.suppress(OSError):
        os.kill(bait["engine"], 0)
        return "the engine's process can be reached"
    return ""


def _inherits_nothing(_: Bait) -> str:
    found: list[int] = []
    for each in range(3, 1024):
        with contextlib.suppress(OSError):
            os.fstat(each)
            found.append(each)
    return f"descriptors are left open: {found}" if found else ""


def _is_counted(_: Bait) -> str:
    children: list[int] = []
    try:
        for _number in range(MOST):
            if (pid := os.fork()) == 0:
                time.sleep(60)
                os._exit(0)
            children.append(pid)
    except OSError:
        return ""
    finally:
        for each in children:
            os.kill(each, signal.SIGKILL)
            os.waitpid(each, 0)
    return f"{MOST} processes could be started, with a limit of {os.environ.get('PROBE_PROCESSES')}"


class _Child:
    """A child process; true within it."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.code = 0

    def __bool__(self) -> bool:
        return self._pid == 0

    def wait(self) -> None:
        self.code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


@contextlib.contextmanager
def _child() -> Generator[_Child]:
    child = _Child(os.fork())
    yield child
    child.wait()


PROBES: Final[Mapping[str, Callable[[Bait], str]]] = {
    "writes in the workspace": _writes_here,
    "runs programs": _runs_programs,
    "has connected pairs of sockets": _has_pairs,
    "reads no file outside": _keeps_secrets,
    "reads no passwords": _keeps_shadow,
    "tries to write outside": _stays_in,
    "sees no environment but its own": _hides_environments,
    "changes no setting of the machine": _keeps_settings,
    "has no network": _has_no_network,
    "has no Unix sockets": _has_no_unix_sockets,
    "makes no namespaces": _makes_no_namespaces,
    "traces no process": _traces_nobody,
    "reaches no process outside": _reaches_nobody,
    "inherits no descriptors": _inherits_nothing,
    "is limited in its processes": _is_counted,
}


def main(bait: Bait) -> None:
    """Try everything and say what came of it."""
    sys.stdout.write(json.dumps({name: _tried(probe, bait) for name, probe in PROBES.items()}))


def _tried(probe: Callable[[Bait], str], bait: Bait) -> str:
    try:
        return probe(bait)
    except Exception as error:  # noqa: BLE001  whatever it was, it did not go as it should
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
