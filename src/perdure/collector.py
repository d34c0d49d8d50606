"""Python's collector of garbage: held back where much is made that stays, and spared what a program has loaded."""

import gc
from functools import cache


class Undisturbed:
    """Make many objects that stay, without the collector walking over all of them again and again."""

    __slots__ = ("_was_on",)

    def __enter__(self) -> None:
        self._was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._was_on:
            gc.enable()


@cache
def spare_what_is_loaded() -> None:
    """Set aside all that there is: classes, functions and modules stay for the life of a process.

    It is called when the first engine is opened. Looking through them takes tens of milliseconds, in which no run goes
    on. Once is enough, and more would do harm: what is set aside again and again is never found to be garbage.
    """
    gc.freeze()
