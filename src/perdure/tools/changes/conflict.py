"""Somebody else has changed a file. Their bytes come first, always."""

from typing import Any

import msgspec

from perdure.tools.changes.images import Image
from perdure.tools.changes.sets import Change


class Conflict(Exception):
    """A name holds what nobody expected there. Whoever raises it has left that file as its last writer wanted it."""

    def __init__(
        self, change: Change, why: str, now: Image | None = None, kept: str = "", *, torn: bool = False
    ) -> None:
        super().__init__(f"{change.path} {why}")
        self.change = change
        self.why = why
        self.now = now
        self.kept = kept
        """Digest of bytes that stand under no name any more, but were somebody's; empty: there are none."""
        self.torn = torn
        """Whether their bytes may be built on ours: then nobody can say that the file is as it was."""

    @property
    def detail(self) -> dict[str, Any]:
        """As JSON, with what is needed to put three versions side by side."""
        found = {"before": self.change.before, "after": self.change.after, "now": self.now}
        told: dict[str, Any] = {"path": self.change.path, "why": self.why}
        told |= {name: msgspec.to_builtins(image) for name, image in found.items()}
        return {**told, "kept": self.kept} if self.kept else told
