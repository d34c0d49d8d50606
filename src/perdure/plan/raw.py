"""Values as they were read, before they are known to have any shape."""

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
