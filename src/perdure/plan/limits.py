"""How large a plan may be before it is refused with a sentence."""

from dataclasses import dataclass
from typing import Final

DEEPEST: Final = 80
"""Beyond this the parsers below us give up."""


@dataclass(frozen=True)
class Limits:
    """The defaults hold every plan a person or a model would write; raise them where you must."""

    steps: int = 50_000
    """Steps in a document, at any depth."""
    depth: int = 64
    """Groups within groups; at most 80."""
    bytes: int = 16 * 1024 * 1024
    """Size of the document."""

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= DEEPEST:
            raise ValueError(f"a limit on depth is from 1 to {DEEPEST}")

    @property
    def nesting(self) -> int:
        """Lists and mappings within each other: three for each sub-plan, and room for values."""
        return 3 * self.depth + 80
