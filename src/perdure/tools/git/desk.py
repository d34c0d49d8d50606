"""The desk of one deed: what is about to be done to a repository, kept before it is done, and objects not yet in it.

A deed is known by its key. Whoever comes again with the same key finds the same ids, and does only what is left.
"""

import hashlib
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from perdure.tools.changes.durable import make_private
from perdure.tools.git.keeping import keep, recall
from perdure.tools.git.layout import Layout

DEEDS: Final = "deeds"
NOTE: Final = "intent.json"
SHOWN: Final = 50_000
"""Bytes of a difference that a person is shown before they agree."""


class Update(msgspec.Struct, frozen=True, gc=False):
    """A ref that is to move from one id to another; an empty id stands for a ref that is not there."""

    ref: str
    old: str
    new: str

    @property
    def back(self) -> "Update":
        """The way back."""
        return Update(self.ref, self.new, self.old)


class Intent(msgspec.Struct, frozen=True):
    """What is about to be done. With it on the disk, doing it twice is doing it once."""

    updates: tuple[Update, ...]
    output: dict[str, Any]
    """What the call gives."""
    shown: str = ""
    """What people see before they agree."""
    done: bool = False
    reached: tuple[str, ...] = ()
    """Addresses of the network that the deed was let to."""
    run: str = ""
    """Whose it is: it stays for as long as that run can be taken back."""
    workspace: str = ""
    """Where the repository is."""
    own: str = ""
    """What belongs to the working tree from which it was done: HEAD and the index; of a copy, its name behind it."""
    ground: str = ""
    """What the commits of a copy were put upon, of which this one is the last; empty: it is none of a copy."""


class Desk:
    """A directory for one deed, in the engine's own state."""

    def __init__(self, state: Path, key: str) -> None:
        self.id: Final = hashlib.sha256(key.encode()).hexdigest()[:32]
        self.place: Final = state / DEEDS / self.id
        self.objects: Final = self.place / "objects"
        self.index: Final = self.place / "index"
        self.files: Final = self.place / "files"

    @property
    def variables(self) -> Mapping[str, str]:
        """With these, git writes objects here and looks for others in the repository."""
        return {"GIT_OBJECT_DIRECTORY": str(self.objects), "GIT_INDEX_FILE": str(self.index)}

    def intent(self) -> Intent | None:
        """What was kept of an earlier try."""
        data = recall(self.place / NOTE)
        return None if data is None else msgspec.json.decode(data, type=Intent)

    def keep(self, intent: Intent) -> Intent:
        """From here on it is known what the deed is."""
        keep(self.place / NOTE, msgspec.json.encode(intent))
        return intent

    def lay_out(self, layout: Layout) -> None:
        """Begin with nothing but a way to the repository's objects."""
        self._clear()
        for each in (self.objects / "info", self.objects / "pack", self.files):
            make_private(each)
        (self.objects / "info" / "alternates").write_text(f"{layout.common}/objects\n", encoding="utf-8")

    def clear(self) -> None:
        """Keep only the intent. The deed is done, so that what cannot be tidied up stays."""
        with suppress(OSError):
            self._clear()

    def _clear(self) -> None:
        for each in self.place.glob("*") if self.place.is_dir() else ():
            if each.is_dir():
                shutil.rmtree(each, ignore_errors=True)
            elif each.name != NOTE:
                each.unlink(missing_ok=True)
