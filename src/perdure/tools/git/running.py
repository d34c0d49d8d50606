"""Starting git: the one place where its process begins and ends.

It gets an environment of ours alone, and a bound on time and output. It runs in the sandbox, where it sees its
repository, writes only where the job says, and has no network but the proxy that a job may bring; where the user's
settings have given the sandbox up, it is a process group that is ended as a whole: first asked, so that git removes its
lock files, then killed.
"""

import asyncio
import contextlib
import os
import signal
import socket
import stat
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from perdure.tools.failure import ToolFailure
from perdure.tools.git.hardening import ENVIRONMENT, OPTIONS
from perdure.tools.git.refusing import ABSENT, refusal
from perdure.tools.hands import Tier
from perdure.tools.sandbox import running as sandbox
from perdure.tools.sandbox.command import Bind, Command, Limits, Proxying, Ran, Stream
from perdure.tools.sandbox.errors import SandboxFailed
from perdure.tools.sandbox.outlet import needed

PLACES: Final = ("/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git")
"""Where git may be. The search path is not asked: a workspace may have put itself there."""
SECONDS: Final = 120.0
GRACE: Final = 2.0
"""Seconds to end after being asked."""
MOST: Final = 64 * 1024 * 1024
"""Bytes of output."""
SAID: Final = 10_000
"""Bytes of complaint that are kept."""
CHUNK: Final = 65_536
PROXIES: Final = ("http_proxy", "https_proxy")
SIGNALLED: Final = 128
"""Codes above it tell of a signal, as shells have it."""


Hear = Callable[[bytes], bool]
"""Takes a piece of what git says, and must not raise. False: it is enough, end it."""


@dataclass(frozen=True)
class Job:
    """One start of git."""

    arguments: Sequence[str]
    place: Path
    """The directory to work in."""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    """Beside those that every git process has."""
    given: bytes | Path = b""
    """What it reads: bytes, or a file."""
    seconds: float = SECONDS
    most: int = MOST
    cut: bool = False
    """Whether output beyond `most` is left out; else it is a failure."""
    sees: Sequence[Path] = ()
    """Directories that it may read, in the sandbox."""
    changes: Sequence[Path] = ()
    """Directories that it may write to, in the sandbox."""
    tier: Tier = "none"
    network: Proxying | None = None
    """The way out; None: there is no network."""
    hear: Hear | None = None
    """Who takes what it says as it comes; then none of it is kept."""


@dataclass(frozen=True)
class Said:
    """What came of it."""

    code: int
    out: bytes
    err: str
    was_cut: bool = False


@lru_cache(maxsize=1)
def program() -> str:
    """The git of this machine."""
    for each in PLACES:
        with contextlib.suppress(OSError):
            found = os.stat(each)  # noqa: PTH116  what a link leads to is what is started
            if stat.S_ISREG(found.st_mode) and found.st_uid == 0 and not found.st_mode & 0o022:
                return each
    raise refusal(ABSENT, "unavailable", f"there is no git in {', '.join(PLACES)}: install it")


async def run(job: Job) -> Said:
    """Start git and wait for its end. Whoever cancels this ends it."""
    said = await (_plainly(job) if job.tier == "none" else _sandboxed(job))
    if said.was_cut and not job.cut and job.hear is None:
        raise ToolFailure("invalid", f"git {_verb(job)} said more than {job.most:,} bytes: ask for less")
    return said


async def _sandboxed(job: Job) -> Said:
    given = await asyncio.to_thread(job.given.read_bytes) if isinstance(job.given, Path) else job.given
    binds = [*(Bind(each) for each in job.sees), *(Bind(each, writable=True) for each in job.changes)]
    binds += needed() if job.network else []
    command = Command(
        [program(), *OPTIONS, *job.arguments], binds=binds, cwd=job.place, env={**ENVIRONMENT, **job.variables},
        stdin=given, seconds=job.seconds, limits=Limits(output=2 * (job.most + 1)), tier=job.tier,
        network=job.network,
    )  # fmt: skip
    heard = Heard(job.hear) if job.hear else None
    try:
        ran = await sandbox.run(command, heard and heard.out, heard and heard.enough)
    except SandboxFailed as error:
        raise ToolFailure("unavailable", f"{error.code}: {error.message} ({error.help})") from None
    if ran.stopped and not (heard and heard.enough()):
        raise _late(job)
    if heard:
        return Said(0 if heard.enough() else _code(ran), b"", _err(ran), was_cut=bool(heard.enough()))
    return Said(_code(ran), ran.stdout[: job.most], _err(ran), was_cut=len(ran.stdout) > job.most)


def _code(ran: Ran) -> int:
    return SIGNALLED - ran.code if ran.code > SIGNALLED else ran.code


def _err(ran: Ran) -> str:
    return ran.stderr[:SAID].decode("utf-8", "replace").strip()


class Heard:
    """What a sandboxed git says, on its way to who takes it."""

    def __init__(self, hear: Hear) -> None:
        self._hear: Final = hear
        self._enough = False

    def out(self, stream: Stream, more: bytes) -> None:
        """Hand a piece on."""
        if stream == "stdout" and not self._enough:
            self._enough = not self._hear(more)

    def enough(self) -> str:
        """Why it is to be ended; empty: it may go on."""
        return "enough" if self._enough else ""


async def _plainly(job: Job) -> Said:
    if job.network is None:
        return await _alone(job)
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    job.network.start(listener)
    try:
        return await _alone(replace(job, variables={**job.variables, **dict.fromkeys(PROXIES, address)}))
    finally:
        await asyncio.to_thread(job.network.stop)


async def _alone(job: Job) -> Said:
    process = await _started(job)
    try:
        async with asyncio.timeout(job.seconds):
            return await _heard(process, job)
    except TimeoutError:
        raise _late(job) from None
    finally:
        if process.returncode is None:
            await asyncio.shield(_ended(process))


async def _started(job: Job) -> Process:
    given = open(job.given, "rb") if isinstance(job.given, Path) else None  # noqa: ASYNC230, PTH123, SIM115  handed on
    try:
        return await asyncio.create_subprocess_exec(
            program(), *OPTIONS, *job.arguments,
            cwd=job.place, env={**ENVIRONMENT, **job.variables}, start_new_session=True,
            stdin=given or (PIPE if job.given else DEVNULL), stdout=PIPE, stderr=PIPE,
        )  # fmt: skip
    except OSError as error:
        raise ToolFailure("unavailable", f"git could not be started: {error}") from None
    finally:
        if given:
            given.close()


async def _heard(process: Process, job: Job) -> Said:
    assert process.stdout is not None  # noqa: S101  for the types
    assert process.stderr is not None  # noqa: S101  for the types
    (out, over), (err, _), _ = await asyncio.gather(
        _read(process.stdout, job.most, lambda: _signal(process, signal.SIGTERM), job.hear),
        _read(process.stderr, SAID),
        _feed(process, job),
    )
    code = await process.wait()
    return Said(0 if over else code, out, err.decode("utf-8", "replace").strip(), was_cut=over)


async def _read(
    stream: asyncio.StreamReader, most: int, stop: Callable[[], None] | None = None, hear: Hear | None = None
) -> tuple[bytes, bool]:
    """What is said, up to a bound, and whether there was more. The rest is read too: a full pipe would hold git up."""
    kept, over = bytearray(), False
    while more := await stream.read(CHUNK):
        kept += b"" if hear else more
        is_enough = not hear(more) if hear and not over else len(kept) > most
        if is_enough and not over:
            over = True
            if stop is not None:
                stop()
        del kept[most:]
    return bytes(kept), over


async def _feed(process: Process, job: Job) -> None:
    if process.stdin is None or isinstance(job.given, Path):
        return
    with contextlib.suppress(ConnectionError):  # it may have ended without reading; its code says why
        process.stdin.write(job.given)
        await process.stdin.drain()
    process.stdin.close()


async def _ended(process: Process) -> None:
    _signal(process, signal.SIGTERM)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), GRACE)
    _signal(process, signal.SIGKILL)
    await process.wait()


def _signal(process: Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _late(job: Job) -> ToolFailure:
    return ToolFailure("timeout", f"git {_verb(job)} took longer than {job.seconds:g} seconds")


def _verb(job: Job) -> str:
    return next((word for word in job.arguments if not word.startswith("-")), "")
