"""Sparing the collector: what a program has loaded when it opens its first engine is not looked through again."""

import gc
from functools import cache


@cache
def spare_what_is_loaded() -> None:
    """Set aside all that there is: classes, functions and modules stay for the life of a process.

    Looking through them takes tens of milliseconds, in which no run goes on. Once is enough, and more would do harm:
    what is set aside again and again is never found to be garbage.
    """
    gc.freeze()
