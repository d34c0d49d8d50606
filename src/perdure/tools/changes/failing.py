"""What is said when a set was not carried out: whose bytes stand where, and what could be made of both."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from perdure.tools.changes.applying import Trouble
from perdure.tools.changes.conflict import Conflict
from perdure.tools.changes.images import Image, Images
from perdure.tools.changes.merging import merged
from perdure.tools.changes.tree import Tree
from perdure.tools.failure import ToolFailure

FEW: Final = 3
MOST: Final = 50
"""Conflicts that are told in full."""


class Failing:
    """Makes failures of conflicts."""

    def __init__(self, tree: Tree, images: Images) -> None:
        self._tree: Final = tree
        self._images: Final = images

    def failure(self, trouble: Trouble, account: Callable[[], Any], *, fresh: bool) -> ToolFailure:
        """Why a set was not carried out. `fresh`: it was begun just now, so what others wrote holds none of it."""
        conflicts = [each for each in dict.fromkeys((trouble.cause, *trouble.torn)) if isinstance(each, Conflict)]
        if trouble.torn or (conflicts and not fresh):
            why = "; ".join(map(said, dict.fromkeys((trouble.cause, *trouble.torn))))
            detail = {"conflicts": self._details(conflicts), "files": account()}
            return ToolFailure("in_doubt", f"the change set is not whole: {why}", detail=detail)
        if conflicts:
            return self.conflict(conflicts)
        cause = trouble.cause
        if isinstance(cause, ToolFailure):
            return cause
        return ToolFailure("unavailable", f"nothing was changed: {said(cause)}")

    def conflict(self, conflicts: Sequence[Conflict]) -> ToolFailure:
        """Others were there first, and everything is as they want it."""
        told = "; ".join(map(str, conflicts[:FEW])) + (f"; and {len(conflicts) - FEW} more" if conflicts[FEW:] else "")
        return ToolFailure(
            "logic", f"nothing was changed: {told}; read it again", detail={"conflicts": self._details(conflicts)}
        )

    def _details(self, conflicts: Sequence[Conflict]) -> list[dict[str, Any]]:
        return [self._detail(each) for each in conflicts[:MOST]]

    def _detail(self, conflict: Conflict) -> dict[str, Any]:
        """Three versions by digest, and where both changes keep clear of each other, what they make together."""
        change = conflict.change
        base, ours = self._bytes(change.before), self._bytes(change.after)
        theirs = self._theirs(change.path, conflict.now)
        if base is None or ours is None or theirs is None:
            return conflict.detail
        both = merged(base, ours, theirs)
        return conflict.detail if both is None else {**conflict.detail, "merged": both}

    def _bytes(self, image: Image | None) -> bytes | None:
        with suppress(ToolFailure):  # what stood there at first may never have been kept here
            return None if image is None or image.kind != "file" else self._images.read(image.digest)
        return None

    def _theirs(self, path: str, now: Image | None) -> bytes | None:
        if now is None or now.kind != "file":
            return None
        try:
            kept = self._tree.image(path, self._images)
        except (OSError, ToolFailure):
            return None
        return self._bytes(kept) if kept == now else None


def said(error: Exception) -> str:
    """In words, without the number that the system has for it."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename} cannot be changed: {error.strerror}"
    return str(error)
