"""Which change sets nobody can take back any more, and which of the kept bytes no change set names."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from perdure.tools.changes.images import Images
from perdure.tools.changes.sets import ChangeSet
from perdure.tools.remaining import Remaining


class Named(msgspec.Struct, frozen=True):
    """What every record of changes says: what was changed, and for whom."""

    changes: ChangeSet
    run: str = ""

    @property
    def digests(self) -> Iterator[str]:
        """The bytes that are needed to make the changes, and to take them back."""
        for each in self.changes.changes:
            yield from (image.digest for image in (each.before, each.after) if image)


class Left(NamedTuple):
    """What may go, in this order."""

    records: list[Path]
    objects: list[Path]


def left_by(directories: Iterable[Path], images: Images, remaining: Remaining) -> Left:
    """Look through all records and all kept bytes."""
    gone: list[Path] = []
    needed: set[str] | None = set()
    for path in (path for each in directories for path in each.glob("*.json")):
        named = _read(path)
        if not _is_needed(path, named, remaining):
            gone.append(path)
        elif named is None:
            needed = None  # it cannot be read, so nobody knows which bytes it needs
        elif needed is not None:
            needed.update(named.digests)
    return Left(gone, [] if needed is None else list(images.others(needed, remaining.before)))


def _is_needed(path: Path, named: Named | None, remaining: Remaining) -> bool:
    with suppress(FileNotFoundError):  # somebody has taken it back meanwhile
        return remaining.needs(named.run if named else "", path.stat().st_mtime)
    return True


def _read(path: Path) -> Named | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Named)
    except (OSError, msgspec.MsgspecError):
        return None
