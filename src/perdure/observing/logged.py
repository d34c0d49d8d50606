"""Logging: lines about what happens, to standard error or to a file, while runs are carried on."""

import asyncio
import logging
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import ClassVar, Final, TextIO

from perdure.errors import PerdureError
from perdure.observing.following import Copied, Following, news
from perdure.observing.lines import JsonFormatter, line_of, written
from perdure.ports import Journal

STDERR: Final = "stderr"
_FLUSH: Final = 2.0
_PRIVATE: Final = 0o600


class NoLog(PerdureError):
    """The file for the log cannot be written."""

    code: ClassVar[str] = "PRD6071"
    exit_code: int = 6


@asynccontextmanager
async def logged(journal: Journal, copied: Copied, to: str) -> AsyncGenerator[None]:
    """While this lasts, there is a line for each fact that comes, and for what this program says of itself."""
    stream = _opened(to)
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("perdure")
    logger.addHandler(handler)
    leaving, begun = asyncio.Event(), await journal.last_arrival()
    task = asyncio.create_task(_tell(journal, copied, begun, handler.stream.write, leaving))
    try:
        yield
    finally:
        leaving.set()
        await asyncio.wait([task], timeout=_FLUSH)
        task.cancel()
        with suppress(asyncio.CancelledError, OSError):
            await task
        logger.removeHandler(handler)
        with suppress(OSError):
            stream.flush()
        if stream is not sys.stderr:
            stream.close()


def _opened(to: str) -> TextIO:
    if to == STDERR:
        return sys.stderr
    path = Path(to).expanduser()
    try:
        path.touch(mode=_PRIVATE)
        return path.open("a", encoding="ascii", buffering=1)
    except (OSError, ValueError) as error:
        told = f"lines cannot be added to {path}: {getattr(error, 'strerror', None) or error}"
        raise NoLog(told, "let log.to name a file that you can write, or stderr") from error


async def _tell(
    journal: Journal, copied: Copied, number: int, write: Callable[[str], object], leaving: asyncio.Event
) -> None:
    following = Following(journal, copied)
    while True:
        is_last = leaving.is_set()
        async for told in following.after(number):
            number = told.turn.number
            lines = (line_of(entry, told.story) for entry in told.turn.entries if entry.seq > told.copied)
            text = "".join(f"{written(line)}\n" for line in lines if line is not None)
            with suppress(OSError, ValueError):  # a full disk, or a reader that has gone: runs go on
                write(text)
        if is_last:
            return
        await news(journal, number, leaving)
