"""A command at work in a sandbox: how it is begun, and how it is ended for good.

Laws, held by the tests:

1. The command does not begin before its limits are set and its first process is held by us and by the warden. Until
   then it waits for a word on its input; if we die before we say it, the sandbox ends by itself and nothing was run.
2. When `end` returns or raises, no process of the command is left. Killing the first process of the namespace kills
   all of them, and the kernel tells us when they are gone.
3. When we die, the warden kills the sandbox.
"""

import asyncio
import contextlib
import os
import sys
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from pathlib import Path
from typing import Final

from perdure.tools.sandbox.command import Command
from perdure.tools.sandbox.ending import GRACE, Held, surely
from perdure.tools.sandbox.errors import SandboxFailed
from perdure.tools.sandbox.limits import Group, confine
from perdure.tools.sandbox.outlet import Outlet
from perdure.tools.sandbox.root import arguments, environment, options
from perdure.tools.sandbox.seccomp import program
from perdure.tools.sandbox.status import Status
from perdure.tools.sandbox.warden import WARDEN

GO: Final = b"go\n"
_WAIT_FOR_WORD: Final = ("/bin/sh", "-c", 'read -r word || exit 125; exec "$@"', "sh")
"""`read` takes one byte at a time, so that the rest of the input is left for the command."""
PATIENCE: Final = 20.0
"""Seconds for a sandbox to come up."""
LONGEST_LINE: Final = 16 * 1024 * 1024
_OWN: Final = Path(__file__).parent


async def spawn(command: Command, longest_line: int = LONGEST_LINE) -> "Sandboxed":
    """Start a command and leave it running. Whoever asked for it closes it."""
    made = Sandboxed(command)
    try:
        await made.start(longest_line)
    except BaseException:
        await made.close()
        raise
    return made


class Sandboxed:
    """A command at work in a sandbox."""

    def __init__(self, command: Command) -> None:
        self._command: Final = command
        self._life = -1
        """Our end of the pipe that the sandbox waits at; while it is open, we are there."""
        self._status: Status | None = None
        self._held: Held | None = None
        """The first process of the sandbox."""
        self._outer: Held | None = None
        """The process that we have started."""
        self._group = Group(None)
        self._outlet = Outlet(command.network) if command.network else None
        self._transport: asyncio.SubprocessTransport | None = None
        self._process: Process | None = None
        self._ended = False

    # --------------------------------------------------------------- starting

    async def start(self, longest_line: int) -> None:
        """Set it up, set its limits, and say the word."""
        theirs: list[int] = []
        try:
            words = self._words(theirs)
            await surely(self._exec(words, [*theirs, *self._command.keep], longest_line))
        finally:
            for each in theirs:
                os.close(each)
        if self._command.tier == "bwrap":
            await self._confine()
        else:
            self._group = Group.around(self._started.pid, self._command.limits)
        self.stdin.write(GO)
        if self._outlet is not None:
            await self._outlet.open()

    def _words(self, theirs: list[int]) -> list[str]:
        """What to start, with the descriptors it needs in `theirs`."""
        waiting, self._life = os.pipe2(os.O_CLOEXEC)
        theirs.append(waiting)
        if self._command.tier != "bwrap":
            return _supervised(self._command, waiting)
        self._status, telling = Status.piped()
        theirs += [telling, _in_memory(program())]
        theirs.append(_in_memory(options(self._command, seccomp=theirs[2], status=telling, block=waiting)))
        told = theirs[3]
        start = self._outlet.start(theirs) if self._outlet else _WAIT_FOR_WORD
        return arguments(self._command, told, start)

    async def _exec(self, words: list[str], descriptors: list[int], longest_line: int) -> None:
        """With an empty environment: what a sandbox is started with can be read inside.

        Not to be cancelled: that would kill bubblewrap, whose child then waits for it for ever.
        """
        loop = asyncio.get_running_loop()
        env = environment(self._command) if self._command.tier != "bwrap" else {}
        self._transport, protocol = await loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(longest_line, loop),
            *words,
            stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env, cwd="/", start_new_session=True, pass_fds=descriptors,
        )  # fmt: skip
        self._process = Process(self._transport, protocol, loop)
        with contextlib.suppress(ProcessLookupError):  # it may be over already
            self._outer = Held(self._process.pid)

    async def _confine(self) -> None:
        assert self._status is not None  # noqa: S101  for the types
        try:
            pid = await self._status.first()
            self._held = Held(pid)
            WARDEN.entrust(self._held.descriptor)
            self._group = confine(pid, self._command.limits)
            os.write(self._life, b"x")
        except (SandboxFailed, OSError) as error:
            raise SandboxFailed(await self._last_words(error), "`perdure doctor` tells what is missing") from None

    async def _last_words(self, error: Exception) -> str:
        try:
            async with asyncio.timeout(GRACE):
                said = (await self.stderr.read(4096)).decode("utf-8", "replace").strip()
        except TimeoutError:
            said = ""
        return f"the sandbox could not be set up: {said or error}"

    # --------------------------------------------------------------- while it runs

    @property
    def _started(self) -> Process:
        assert self._process is not None  # noqa: S101  for the types
        return self._process

    @property
    def stdin(self) -> asyncio.StreamWriter:
        """Where it reads from."""
        assert self._started.stdin is not None  # noqa: S101  for the types
        return self._started.stdin

    @property
    def stdout(self) -> asyncio.StreamReader:
        """What it says."""
        assert self._started.stdout is not None  # noqa: S101  for the types
        return self._started.stdout

    @property
    def stderr(self) -> asyncio.StreamReader:
        """What it complains about."""
        assert self._started.stderr is not None  # noqa: S101  for the types
        return self._started.stderr

    @property
    def code(self) -> int:
        """What it ended with, as a shell tells it."""
        code = self._process.returncode if self._process is not None else None
        return 137 if code is None else 128 - code if code < 0 else code

    @property
    def began(self) -> bool:
        """Whether the command was begun at all."""
        return self._status is None or self._status.started or self.code > 128  # noqa: PLR2004  it was killed

    async def wait(self) -> int:
        """Until it has ended by itself. What it left behind lives until `close`, and may hold its pipes open."""
        if self._outer is not None:
            await self._outer.gone()
        await _returned(self._started)
        return self.code

    # --------------------------------------------------------------- ending

    async def close(self) -> None:
        """End it, and read no more of what it has said."""
        try:
            await self.end()
        finally:
            if self._transport is not None:
                self._transport.close()

    async def end(self) -> None:
        """End it, whatever it does. When this returns, or raises, nothing of it is left but what it has said."""
        if not self._ended:
            self._ended = True
            await surely(self._end())

    async def _end(self) -> None:
        try:
            if self._held is not None and not await self._held.end():
                raise SandboxFailed("a process could not be killed", "it is stuck in the kernel; look at its disk")
            if self._life != -1:  # whoever still waits for a word hears that there will be none
                os.close(self._life)
            await self._leave()
        finally:
            self._let_go()
            if self._outlet is not None:
                await self._outlet.close()

    async def _leave(self) -> None:
        """Wait for the process that we have started; it ends when what it has started is gone."""
        if self._process is None or self._transport is None:
            return
        with contextlib.suppress(OSError, RuntimeError):
            self.stdin.close()
        try:
            async with asyncio.timeout(GRACE if self._held else PATIENCE):
                await _returned(self._process)
                if self._held is None:  # what we could not hold has our pipes open until it is gone
                    await _hung_up(self._transport)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._transport.kill()
            self._transport.close()
            await self._process.wait()

    def _let_go(self) -> None:
        self._group.remove()
        for each in (self._held, self._outer):
            if each is not None:
                each.close()
        if self._status is not None:
            self._status.close()


async def _returned(process: Process) -> None:
    """Until it is reaped. Its pipes may still be open: then `wait` would wait for those who hold them."""
    while process.returncode is None:  # noqa: ASYNC110  there is no event for it in all versions
        await asyncio.sleep(0.001)


def _in_memory(data: bytes) -> int:
    made = os.memfd_create("perdure", os.MFD_CLOEXEC)
    os.write(made, data)
    os.lseek(made, 0, os.SEEK_SET)
    return made


def _supervised(command: Command, life: int) -> list[str]:
    """The words that start a command below the supervisor of the lower tiers."""
    from perdure.tools.sandbox.landlock import described  # noqa: PLC0415  a lower tier is rarely asked for

    return [sys.executable, "-I", "-S", str(_OWN / "landlock.py"), described(command, life), "--", *command.argv]


async def _hung_up(transport: asyncio.SubprocessTransport) -> None:
    """Until nobody can say anything any more. It is not read: whoever listens goes on listening."""
    pipe = transport.get_pipe_transport(1)
    while pipe is not None and not pipe.is_closing():  # noqa: ASYNC110  there is no event for it
        await asyncio.sleep(0.001)
