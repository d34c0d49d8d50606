"""A change set in the making: what files hold now, and what they shall hold."""

import base64
import binascii
from typing import Final

from perdure.plan.problems import did_you_mean
from perdure.tools.changes.desk import Desk
from perdure.tools.changes.images import Image
from perdure.tools.changes.sets import Change, ChangeSet
from perdure.tools.changes.text import Encoding, Text
from perdure.tools.changes.walking import names_near
from perdure.tools.failure import ToolFailure

PLAIN: Final = 0o644
RUNNABLE: Final = 0o755
DIRECTORY: Final = 0o755
LONGEST: Final = 10_000_000
"""Bytes of a file that is edited as text."""


class Draft:
    """Files by path. Nothing in the workspace changes before the set is carried out."""

    def __init__(self, desk: Desk, *paths: str) -> None:
        self._desk: Final = desk
        desk.check_reads(*dict.fromkeys(paths))
        self._before: Final[dict[str, Image | None]] = {path: desk.tree.fitting(path, desk.images) for path in paths}
        self._after: Final[dict[str, Image | None]] = dict(self._before)

    def image(self, path: str) -> Image | None:
        """What stands under a path that was named in the beginning, as drafted so far."""
        return self._after[path]

    def file(self, path: str) -> Image:
        """As `image`, of a file that must be there."""
        found = self._after[path]
        if found is None:
            raise ToolFailure("invalid", f"there is no file {path}{_hint(self._desk, path)}")
        _refuse_no_file(path, found)
        return found

    def text(self, path: str, encoding: Encoding = "utf-8") -> Text:
        """The text of a file."""
        found = self.file(path)
        if found.size > LONGEST:
            raise ToolFailure("invalid", f"{path} has {found.size:,} bytes; {LONGEST:,} are the most for a text")
        return Text.read(path, self._desk.images.read(found.digest), encoding)

    def write(self, path: str, data: bytes, mode: int | None = None) -> None:
        """Have a file hold these bytes; its mode stays unless one is given."""
        old = self._after[path]
        if old is not None:
            _refuse_no_file(path, old)
        kept = old.mode if old is not None else PLAIN
        self._after[path] = Image("file", self._desk.images.put(data), kept if mode is None else mode, len(data))

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path it is about."""
        return tuple(self._before)

    def rename(self, old: str, new: str) -> None:
        """Have another path hold what this one holds. Nothing is overwritten."""
        if self._after[old] is None:
            self.file(old)
        if (there := self._after[new]) is not None:
            raise ToolFailure("logic", f"{new} is there already; it is a {there.kind}, and nothing is overwritten")
        self._after[old], self._after[new] = None, self._after[old]

    def set(self, path: str, image: Image | None) -> None:
        """Have a path hold an image, or nothing."""
        self._after[path] = image

    def changes(self) -> ChangeSet:
        """The set, with the directories that new files need."""
        files = [Change(path, before, self._after[path]) for path, before in self._before.items()]
        return ChangeSet((*self._directories(), *files))

    def _directories(self) -> list[Change]:
        wanted = {parent for path, after in self._after.items() if after is not None for parent in parents_of(path)}
        made = Image("directory", "", DIRECTORY, 0)
        return [Change(path, None, made) for path in sorted(wanted - set(self._before)) if self._is_missing(path)]

    def _is_missing(self, path: str) -> bool:
        found = self._desk.tree.image(path)
        if found is not None and found.kind != "directory":
            raise ToolFailure("invalid", f"{path} is a {found.kind}; nothing can be put below it")
        return found is None


def _refuse_no_file(path: str, found: Image) -> None:
    if found.kind != "file":
        hint = "; name the file it leads to" if found.kind == "link" else ""
        raise ToolFailure("invalid", f"{path} is a {found.kind}, not a file{hint}")


def parents_of(path: str) -> list[str]:
    """The directories on the way to a path."""
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]


def _hint(desk: Desk, path: str) -> str:
    hint = did_you_mean(path, names_near(desk.tree))
    return f"; {hint}" if hint else ""


def from_base64(text: str) -> bytes:
    """Bytes that were written as text."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ToolFailure("invalid", f"base64: {error}") from None
