"""Values as they were read, before they are known to have any shape."""

import gc
from collections.abc import Generator, Mapping
from contextlib import contextmanager
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


@contextmanager
def undisturbed() -> Generator[None]:
    """Make many objects that stay, without the collector walking over all of them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
