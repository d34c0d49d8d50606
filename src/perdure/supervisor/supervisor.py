"""The engine's side of its supervisor: start it, send it heartbeats, say good-bye."""

import asyncio
import logging
import math
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

BEAT: Final = struct.Struct("<d")
EVERY: Final = 0.2
"""Seconds between two heartbeats."""
AGAIN: Final = 5.0
"""Seconds before a supervisor that has died is replaced by another one."""
_WATCHING: Final = Path(__file__).with_name("watching.py")
_log = logging.getLogger("perdure.supervisor")

Left = Callable[[], float | None]
"""Seconds until something in the engine has to be over, whatever happens; None if nothing has."""


class Supervisor:
    """Watches this process from outside, as long as the block lasts. If it dies, the engine goes on with a new one."""

    def __init__(self, flag: Path, left: Left, memory: int = 0, grace: float = 5.0) -> None:
        self._flag = flag
        self._left = left
        self._memory = memory
        self._grace = grace
        self._pipe = -1
        self._process: subprocess.Popen[bytes] | None = None
        self._beating: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        """The process that watches."""
        return self._process.pid if self._process else None

    async def __aenter__(self) -> Self:
        self._start()
        self._go_on()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._beating is not None:
            self._beating.cancel()
        self._leave()

    def _start(self) -> None:
        hear, self._pipe = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._pipe, False)
        words = [str(hear), str(os.getpid()), str(self._flag), str(self._memory), str(self._grace)]
        try:
            self._process = subprocess.Popen(  # noqa: S603  a file of ours, with this interpreter
                [sys.executable, "-I", "-S", str(_WATCHING), *words],
                pass_fds=[hear], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True, cwd="/",
            )  # fmt: skip
        finally:
            os.close(hear)

    def beat(self) -> bool:
        """Say that the event loop is alive, and until when it may be silent; whether somebody hears it.

        To be called before something begins that might never give the loop a turn again.
        """
        left = self._left()
        try:
            os.write(self._pipe, BEAT.pack(math.inf if left is None else left))
        except BlockingIOError:
            return True  # it has not listened for a while; what it has heard is enough
        except OSError:
            return False
        return True

    def _go_on(self) -> None:
        alive = self.beat()
        if not alive:
            self._replace()
        self._beating = asyncio.get_running_loop().call_later(EVERY if alive else AGAIN, self._go_on)

    def _replace(self) -> None:
        """It is dead: what it guarded against is rare, so the engine goes on."""
        _log.warning("the supervisor has died; another one is started")
        self._leave()
        try:
            self._start()
        except OSError as error:
            _log.warning("no supervisor can be started: %s", error)

    def _leave(self) -> None:
        if self._pipe >= 0:
            with suppress(OSError):
                os.write(self._pipe, BEAT.pack(math.nan))
            os.close(self._pipe)
            self._pipe = -1
        if self._process is not None:
            self._bury(self._process)
            self._process = None

    def _bury(self, process: "subprocess.Popen[bytes]") -> None:
        try:
            process.wait(1.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
