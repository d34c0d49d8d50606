"""What is to be run in a sandbox, within which limits, and what came of it."""

import signal as signals
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Protocol

from perdure.tools.hands import Tier

MEGA: Final = 1024 * 1024
PROXY_PORT: Final = 3128
"""Where a command finds the way out, if it has one."""
Stream = Literal["stdout", "stderr"]
Hear = Callable[[Stream, bytes], None]


class Proxying(Protocol):
    """The way out of a sandbox: `perdure.tools.net.Proxy`, or something like it."""

    def start(self, listener: socket.socket, /) -> object:
        """Accept on a socket that listens inside the sandbox, until it is stopped."""
        ...

    def stop(self) -> object:
        """Accept nothing more, and end what is under way."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What a command may use up. Where the kernel counts for each process alone, that is said."""

    processes: int = 256
    """At once, threads too."""
    memory: int = 4096 * MEGA
    """Bytes: of all together where there is a control group, else of each process."""
    cpu_seconds: int = 3600
    """Of each process."""
    file_size: int = 1024 * MEGA
    """Bytes of one file."""
    disk: int = 2048 * MEGA
    """Bytes that a staged command may have written."""
    files: int = 4096
    """Open in each process at once."""
    scratch: int = 512 * MEGA
    """Bytes of `/tmp` and of `/dev/shm`, which are memory."""
    output: int = MEGA
    """Bytes that are kept of each stream: the first half and the last half; all of it is read."""


@dataclass(frozen=True, slots=True)
class Bind:
    """A file or directory that is there inside."""

    source: Path
    at: Path | None = None
    """Where it is seen; None: where it is outside."""
    writable: bool = False

    @property
    def inside(self) -> Path:
        """Where it is seen."""
        return self.at or self.source


@dataclass(frozen=True, slots=True)
class Command:
    """A command, and all of the world that it sees."""

    argv: Sequence[str]
    workspace: Path | None = None
    """Seen inside at the same path; None: there is no workspace."""
    source: Path | None = None
    """What is seen at the workspace's path in its place: a stage."""
    writable: bool = False
    """Whether the workspace can be written. What is written is there at once, unless it is a stage."""
    binds: Sequence[Bind] = ()
    """What else is seen. Later ones lie over earlier ones."""
    hidden: Sequence[Path] = ()
    """Files and directories that are seen empty. A link is seen as it is: what it leads to decides."""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """The whole environment, but for PATH, HOME, LANG, TMPDIR and the like, which it may replace."""
    stdin: bytes = b""
    seconds: float | None = None
    limits: Limits = Limits()
    network: Proxying | None = None
    """The way out; None: there is no network."""
    cwd: Path | None = None
    """None: the workspace, or `/tmp`."""
    prefix: Sequence[str] = ()
    """What starts the sandbox: a program that makes the stage."""
    tier: Tier = "bwrap"
    keep: Sequence[int] = ()
    """Descriptors that the command inherits, by their numbers here."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command."""

    code: int
    """As a shell tells it: 128 and the signal's number if one has ended it."""
    stdout: bytes
    stderr: bytes
    truncated: bool
    """Whether something in the middle of a stream was not kept."""
    seconds: float
    sandboxed: Tier
    stopped: str = ""
    """Why we ended it: `time`, `disk`; empty: it ended by itself."""

    @property
    def signal(self) -> str:
        """The name of the signal that ended it."""
        return _name_of(self.code - 128) if self.code > 128 else ""  # noqa: PLR2004  as shells count


def _name_of(number: int) -> str:
    return signals.Signals(number).name if number in set(signals.Signals) else ""
