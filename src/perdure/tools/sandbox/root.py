"""The world that a command sees: a root of its own in which nothing is there that was not put there.

Reading is denied by default. Of the machine there are its programs, read-only; of the network, of other processes, of
people's files and of the engine's own state there is nothing. The sandbox itself is started without an environment,
because what it was started with can be read inside as `/proc/1/environ`.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from perdure.tools.sandbox.command import PROXY_PORT, Bind, Command

BWRAP: Final = "/usr/bin/bwrap"
"""The system's own: where user namespaces are fenced in, the rules name this path."""
USER: Final = 1000
HOME: Final = "/tmp/home"  # noqa: S108  a file system of the sandbox's own
_TOP: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC: Final = (
    "alternatives", "ca-certificates.conf", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime",
    "mime.types", "pki/ca-trust", "pki/tls/certs", "protocols", "services", "ssl/cert.pem", "ssl/certs",
    "ssl/openssl.cnf", "timezone",
)  # fmt: skip
_OURS: Final = ("group", "hosts", "nsswitch.conf", "passwd")
_MASKED: Final = (
    "cmdline", "kcore", "key-users", "keys", "kmsg", "kpagecgroup", "kpagecount", "kpageflags", "latency_stats",
    "sched_debug", "slabinfo", "sysrq-trigger", "timer_list", "timer_stats", "vmallocinfo",
)  # fmt: skip
"""What `/proc` tells of the machine to its root user, who we may be."""
_NAMESPACES: Final = (
    "--new-session", "--unshare-user", "--unshare-all", "--disable-userns", "--cap-drop", "ALL",
    "--uid", str(USER), "--gid", str(USER), "--hostname", "sandbox",
)  # fmt: skip


def options(command: Command, *, seccomp: int, status: int, block: int) -> bytes:
    """What bubblewrap is told, as it reads it from a descriptor.

    Not as words of its command line: everybody on the machine can read those, and the environment may hold secrets.
    """
    words = [*_NAMESPACES, *_system(command), *_seen(command), "--remount-ro", "/"]
    words += ["--chdir", str(command.cwd or command.workspace or "/tmp"), "--clearenv"]  # noqa: S108  as HOME
    for name, value in environment(command).items():
        words += ["--setenv", name, value]
    words += ["--seccomp", str(seccomp), "--json-status-fd", str(status), "--block-fd", str(block)]
    if any("\0" in word for word in words):  # it would be read as two
        raise ValueError("a NUL character in a path or in a variable")
    return b"".join(os.fsencode(word) + b"\0" for word in words)


def arguments(command: Command, told: int, start: Sequence[str]) -> list[str]:
    """The words that start bubblewrap with this command. `start` stands before the command's own words."""
    return [*command.prefix, BWRAP, "--args", str(told), "--", *start, *command.argv]


def environment(command: Command) -> dict[str, str]:
    """All that a command finds in its environment."""
    own = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": HOME,
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",  # noqa: S108  as HOME
        "USER": "user",
        "TERM": "dumb",
    }
    return {**own, **(_proxied() if command.network else {}), **command.env}


def _proxied() -> dict[str, str]:
    address = f"http://127.0.0.1:{PROXY_PORT}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy")
    return {**dict.fromkeys(names, address), "NO_PROXY": "localhost,127.0.0.1", "no_proxy": "localhost,127.0.0.1"}


# ------------------------------------------------------------------------------- the system


def _system(command: Command) -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    yield from _top()
    yield from ("--dir", "/etc")
    for name in _ETC:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    for name in _OURS:
        yield from ("--ro-bind", str(Path(__file__).with_name("etc") / name), f"/etc/{name}")
    size = str(command.limits.scratch)
    yield from ("--dev", "/dev", "--size", size, "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev")  # noqa: S108
    yield from _proc()
    yield from ("--size", size, "--perms", "1777", "--tmpfs", "/tmp", "--dir", HOME)  # noqa: S108  as HOME


def _top() -> Iterator[str]:
    """`/bin` and its kin: links into `/usr` where they are links, directories where they are directories."""
    for name in _TOP:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))


def _proc() -> Iterator[str]:
    """Read-only as a whole: as the machine's root user one could else write `/proc/sys` without any capability."""
    yield from ("--proc", "/proc")
    for name in _MASKED:
        if Path("/proc", name).exists():
            yield from ("--ro-bind", os.devnull, f"/proc/{name}")
    yield from ("--remount-ro", "/proc")


# ------------------------------------------------------------------------------- what it works on


def _seen(command: Command) -> Iterator[str]:
    for bind in sorted(_binds(command), key=lambda each: len(each.inside.parts)):  # what lies deeper lies above
        yield from ("--bind" if bind.writable else "--ro-bind", str(bind.source), str(bind.inside))
    for path in command.hidden:
        if path.is_dir() and not path.is_symlink():
            yield from ("--tmpfs", str(path), "--remount-ro", str(path))
        elif path.is_file() and not path.is_symlink():
            yield from ("--ro-bind", os.devnull, str(path))


def _binds(command: Command) -> Iterator[Bind]:
    if command.workspace is not None:
        source = command.source or command.workspace
        yield Bind(source, command.workspace, command.writable)
        git = command.workspace / ".git"
        if command.writable and git.exists() and not git.is_symlink():  # a link would be followed, out of the workspace
            yield Bind(source / ".git", git)
    yield from command.binds
