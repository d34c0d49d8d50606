"""Sparing the collector: what was loaded before an engine was opened is not looked through while it is open."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

_open = 0


@contextmanager
def spared() -> Generator[None]:
    """Set aside all that there is: classes, functions and modules stay for the life of a process.

    Looking through them takes tens of milliseconds, in which no run goes on. Who has set something aside already knows
    better, and is left alone. What is set aside is given back when the last engine is closed.
    """
    global _open  # noqa: PLW0603  there is one collector in a process
    if not _open and gc.get_freeze_count():
        yield
        return
    _open += 1
    if _open == 1:
        gc.freeze()
    try:
        yield
    finally:
        _open -= 1
        if not _open:
            gc.unfreeze()
