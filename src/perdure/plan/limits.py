"""How large a plan may be before it is refused with a sentence."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The defaults hold every plan a person or a model would write; raise them where you must."""

    steps: int = 50_000
    """Steps in a document, at any depth."""
    depth: int = 64
    """Groups within groups."""
    bytes: int = 16 * 1024 * 1024
    """Size of the document."""

    @property
    def nesting(self) -> int:
        """Lists and mappings within each other: two for each group, and room for values."""
        return 2 * self.depth + 80
