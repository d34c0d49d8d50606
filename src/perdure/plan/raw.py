"""Values as they were read, before they are known to have any shape."""

import gc
from collections.abc import Mapping
from typing import Any, Final, TypeGuard

Raw = Any
OBJECT: Final[type] = dict
"""What JSON gives for an object: quicker to see than whether something is a mapping, where that counts."""


def is_mapping(value: Raw) -> TypeGuard[Mapping[str, Raw]]:
    """Whether a value is a mapping; its keys were texts in the document."""
    return isinstance(value, Mapping)


def is_list(value: Raw) -> TypeGuard[list[Raw] | tuple[Raw, ...]]:
    """Whether a value is a list."""
    return isinstance(value, (list, tuple))


class Undisturbed:
    """Make many objects that stay, without the collector walking over all of them again and again."""

    __slots__ = ("_was_on",)

    def __enter__(self) -> None:
        self._was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._was_on:
            gc.enable()
