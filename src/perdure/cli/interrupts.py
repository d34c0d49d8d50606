"""Ctrl-C and SIGTERM: once means to stop at a safe point, twice to leave at once."""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from contextlib import suppress
from types import FrameType
from typing import Any, Final, NoReturn, Self, TypeVar

import click

from perdure.cli.codes import INTERRUPTED

_SHOW_CURSOR: Final = "\x1b[?25h"
_HEARD: Final = (signal.SIGINT, signal.SIGTERM)
Answer = TypeVar("Answer")


class Interrupts:
    """Hears signals as long as the block lasts, also while a tool holds up the event loop."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        """Somebody wants to stop."""
        self._count = 0
        self._loop = asyncio.get_running_loop()
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._before = {each: signal.signal(each, self._hear) for each in _HEARD}
        return self

    def __exit__(self, *_: object) -> None:
        for each, before in self._before.items():
            signal.signal(each, before)

    def _hear(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002  the signature of a signal's handler
        self._count += 1
        if self._count > 1:
            leave_at_once()
        self._loop.call_soon_threadsafe(self.asked.set)


def leave_at_once() -> NoReturn:
    """End this process without another word. What is in the journal stays right: that is what it is for."""
    with suppress(OSError, ValueError, RuntimeError):
        if sys.stderr.isatty():
            sys.stderr.write(_SHOW_CURSOR)
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(INTERRUPTED)


def _as_ctrl_c(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the signature of a signal's handler
    signal.raise_signal(signal.SIGINT)


def carried_out(work: Coroutine[Any, Any, Answer]) -> Answer:
    """What comes of some work; Ctrl-C ends the command with the exit code for that, and SIGTERM does the same.

    Also where a shell that started it in the background has Ctrl-C ignored.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _as_ctrl_c)
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        click.get_current_context().exit(INTERRUPTED)
        raise AssertionError from None  # click has left
