"""Sparing the collector: what was loaded before an engine was opened is not looked through while it is open."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

_open = 0


@contextmanager
def spared() -> Generator[None]:
    """Set aside all that there is: classes, functions and modules stay for the life of a process.

    Looking through them takes tens of milliseconds, in which no run goes on. When the last engine is closed, what was
    set aside is given back.
    """
    global _open  # noqa: PLW0603  there is one collector in a process
    _open += 1
    if _open == 1:
        gc.freeze()
    try:
        yield
    finally:
        _open -= 1
        if not _open:
            gc.unfreeze()
