"""A whole set: all of it, or none of it, or an exact account of what stands where."""

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from perdure.tools.changes.conflict import Conflict
from perdure.tools.changes.directories import bring
from perdure.tools.changes.images import Image, Images
from perdure.tools.changes.placing import Placing
from perdure.tools.changes.sets import Change, ChangeSet
from perdure.tools.changes.tree import Tree
from perdure.tools.failure import ToolFailure

GRACE: Final = 0.004
"""Seconds after the last swap before it is believed: who had just opened a file by its name has it open by then."""


class Trouble(Exception):
    """The set was not carried out. `torn`: files that could not be brought back, and why."""

    def __init__(self, cause: Exception, torn: Sequence[Conflict | OSError]) -> None:
        super().__init__(str(cause))
        self.cause: Final = cause
        self.torn: Final = torn

    @property
    def is_broken(self) -> bool:
        """Whether it was the disk that kept files from being brought back: then a later try may succeed."""
        return any(isinstance(each, OSError) for each in self.torn)


class Applying:
    """Carries out one set. Safe to begin again after a crash at any moment."""

    def __init__(self, tree: Tree, images: Images, tag: str, changes: ChangeSet, *, fresh: bool = False) -> None:
        self._fresh: Final = fresh
        """Nobody has begun with it before."""
        self._reached = -1
        self._tree: Final = tree
        self._tag: Final = tag
        self._changes: Final = changes
        self._placing: Final = Placing(tree, images, tag)
        self.notes: list[str] = []
        """What a person should know of."""

    @property
    def weak(self) -> bool:
        """Whether the file system could not keep others' saves safe in every moment."""
        return self._placing.weak

    def place(self) -> None:
        """Bring everything into place, or everything back: `Trouble`."""
        try:
            for each in self._changes.made:
                with _about(each):
                    bring(self._tree, self._tag, each)
            for n, each in enumerate(self._changes.files):
                self._reached = n
                with _about(each):
                    self._placing.place(n, each)
            time.sleep(GRACE)
            for n, each in enumerate(self._changes.files):
                self._placing.check(n, each)
        except (Conflict, OSError, ToolFailure) as cause:
            raise Trouble(cause, self._back(cause)) from cause

    def finish(self) -> None:
        """After the point of no return: what was swapped out goes, and so do directories that are empty now."""
        for n, each in enumerate(self._changes.files):
            if kept := self._placing.clear(n, each):
                self.notes.append(f"{each.path}: what somebody wrote at the last moment is kept as {kept}")
        self._close(self._changes.closed)
        if self._placing.lost:
            self.notes.append(f"attributes that could not be kept: {', '.join(self._placing.lost)}")

    def _close(self, changes: Sequence[Change]) -> None:
        """What others keep from it is told. A disk that fails is no reason to leave the rest, but to come again."""
        failed: list[OSError] = []
        for each in changes:
            try:
                with _about(each):
                    if not bring(self._tree, self._tag, each):
                        self.notes.append(f"{each.path}: stays, because there is something in it")
            except (Conflict, PermissionError) as error:
                self.notes.append(f"{each.path}: stays as it is: {error}")
            except OSError as error:
                failed.append(error)
        if failed:
            raise failed[0]

    def _back(self, cause: Exception) -> list[Conflict | OSError]:
        """Bring everything back, whatever happens on the way; what could not be."""
        torn: list[Conflict | OSError] = [cause] if isinstance(cause, Conflict) and cause.torn else []
        for n, each in reversed(list(enumerate(self._changes.files))):
            untouched = self._fresh and n > self._reached
            if not untouched and not (isinstance(cause, Conflict) and cause.change is each):
                torn += self._file_back(n, each)
        try:
            self._close([each.inverse for each in reversed(self._changes.made)])
        except OSError as error:
            torn.append(error)
        return torn

    def _file_back(self, n: int, change: Change) -> list[Conflict | OSError]:
        try:
            with _about(change):
                self._placing.put_back(n, change)
        except Conflict as found:
            return [found]
        except (OSError, ToolFailure) as error:
            return [error if isinstance(error, OSError) else OSError(str(error))]
        return []

    def account(self) -> list[dict[str, Any]]:
        """Which file stands where."""
        return [{"path": each.path, "state": _state(each, self._now(each))} for each in self._changes.changes]

    def _now(self, change: Change) -> Image | None:
        try:
            return self._tree.image(change.path)
        except (OSError, ToolFailure):
            return Image("file", "unreadable", 0, 0)


@contextmanager
def _about(change: Change) -> Generator[None]:
    """What goes wrong goes wrong with the file that people know, not with the draft that lies beside it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, change.path) from error


def _state(change: Change, now: Image | None) -> str:
    return "before" if now == change.before else "after" if now == change.after else "other"
