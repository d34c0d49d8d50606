"""What a commit holds, written out as it is: no filter, no conversion, and nothing of the repository is changed.

Directories come first, then files, and links last, so that none of them is ever written through.
"""

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from perdure.tools.branches import copying
from perdure.tools.branches.branch import Base, LeftOut, Taken
from perdure.tools.branches.copying import VERSIONS, refuse_without_room, too_large
from perdure.tools.changes import Image
from perdure.tools.changes.durable import PRIVATE_DIRECTORY, PRIVATE_FILE, write_all
from perdure.tools.changes.paths import is_plain
from perdure.tools.changes.tree import OURS
from perdure.tools.changes.walking import DEEPEST
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure
from perdure.tools.git.names import readable
from perdure.tools.git.reading import EXECUTABLE, LINK
from perdure.tools.git.repository import Repository

SECONDS: Final = 900.0
"""For all files of a commit."""
LONGEST_LINK: Final = 4095
"""Bytes of where a link leads, as everywhere on Linux."""
TOLD: Final = 100
"""Names that are told of those that were left out."""
DIRECTORY: Final = 0o755
_SUBMODULE: Final = "160000"
_MISSING: Final = "not all of the commit is in this repository, as in a partial clone; fetch it"


class Entry(NamedTuple):
    """A file or a link of a commit."""

    path: str
    mode: str
    """As git writes it."""
    id: str
    size: int


class Listing(NamedTuple):
    """What a commit holds, and what of it cannot be in a copy."""

    entries: list[Entry]
    left_out: list[LeftOut]


async def unpacked(repository: Repository, commit: str, context: Context, to: Path) -> Taken:
    """Write a commit into a directory that is not there yet. `ToolFailure` if it is too much for a copy."""
    listing = await listed(repository, commit)
    _refuse_large(listing.entries, to)
    unpacking = Unpacking(context, to, listing.entries)
    if listing.entries:
        given = "".join(f"{each.id}\n" for each in listing.entries).encode()
        words = ("cat-file", "--batch", "--buffer")
        await repository.tell(*words, given=given, hear=unpacking.hear, seconds=SECONDS)
    base = unpacking.finished()
    return Taken(base, commit, tuple([*listing.left_out, *unpacking.left_out][:TOLD]))


async def listed(repository: Repository, commit: str) -> Listing:
    """All files and links of a commit that a copy can have."""
    said = await repository.ask("ls-tree", "-r", "-l", "-z", "--full-tree", commit, codes=(0, 128))
    if said.code:
        raise ToolFailure("unavailable", f"{_MISSING}: {said.err}")
    found = Listing([], [])
    for row in said.out.split(b"\0")[:-1]:
        about, _, name = row.partition(b"\t")
        mode, _, found_id, size = about.decode().split()
        path = readable(name)
        if why := _why_not(mode, name):
            found.left_out.append(LeftOut(path, why))
        else:
            found.entries.append(Entry(path, mode, found_id, _size(path, size)))
    return found


def _size(path: str, told: str) -> int:
    """Of what is not there, git says that it is bad."""
    if not told.isdigit():
        raise ToolFailure("unavailable", f"{_MISSING}: {path}")
    return int(told)


def _why_not(mode: str, name: bytes) -> str:
    """Why something is left out of a copy; empty: it is not."""
    if mode == _SUBMODULE:
        return "it is a submodule"
    path, parts = readable(name), readable(name).split("/")
    if path.encode() != name or not is_plain(path) or any(each.startswith(OURS) for each in parts):
        return "its name cannot be written plainly"
    return "it is where version control keeps its own" if VERSIONS & set(parts) else ""


def _refuse_large(entries: Sequence[Entry], to: Path) -> None:
    size = sum(each.size for each in entries)
    count = len(entries) + len(_directories(entries))
    deepest = max((each.path.count("/") for each in entries), default=0)
    if count > copying.MOST_FILES or size > copying.MOST_BYTES or deepest > DEEPEST:
        raise too_large("commit")
    refuse_without_room(size, to.parent)


def _directories(entries: Sequence[Entry]) -> list[str]:
    """Those that are needed, the outer ones first."""
    above = {each.path.rpartition("/")[0] for each in entries} - {""}
    parts = [each.split("/") for each in above]
    return sorted({"/".join(each[:n]) for each in parts for n in range(1, len(each) + 1)})


class Unpacking:
    """Writes what `git cat-file --batch` says, however it is cut into pieces."""

    def __init__(self, context: Context, to: Path, entries: Sequence[Entry]) -> None:
        self._context: Final = context
        self._to: Final = to
        self._entries: Final[Iterator[Entry]] = iter(entries)
        self._base: Final[Base] = {}
        self._links: Final[list[tuple[str, bytes]]] = []
        self._writing: Writing | None = None
        self._head = b""
        self._trouble: OSError | ToolFailure | None = None
        self.left_out: Final[list[LeftOut]] = []
        self._make(entries)

    def _make(self, entries: Sequence[Entry]) -> None:
        above = _directories(entries)
        names = {each.path for each in entries}
        if len(names) < len(entries) or names & set(above):
            raise ToolFailure("invalid", "the commit has two things under one name, which no directory can hold")
        self._to.mkdir(mode=PRIVATE_DIRECTORY)
        for each in above:
            (self._to / each).mkdir(mode=PRIVATE_DIRECTORY)
            self._base[each] = Image("directory", "", DIRECTORY, 0)

    def hear(self, more: bytes) -> bool:
        """Take a piece. Nothing is raised here: whoever reads would stop reading, and git would wait for ever."""
        try:
            self._context.raise_if_cancelled()
            rest = memoryview(more)
            while rest:
                rest = self._begun(rest) if self._writing is None else self._gone_on(self._writing, rest)
        except (OSError, ToolFailure) as trouble:
            self._trouble = trouble
            self._give_up()
        return self._trouble is None

    def _begun(self, rest: memoryview) -> memoryview:
        """A line that says what follows."""
        line, found, _ = bytes(rest[:256]).partition(b"\n")
        self._head += line
        if not found:
            return rest[len(line) :]
        entry, about = next(self._entries, None), self._head.split(b" ")
        if entry is None or about != [entry.id.encode(), b"blob", str(entry.size).encode()]:
            raise ToolFailure("unavailable", f"{_MISSING}: {readable(self._head)}")
        self._head = b""
        self._writing = Writing(entry, self._to / entry.path)
        return rest[len(line) + 1 :]

    def _gone_on(self, writing: "Writing", rest: memoryview) -> memoryview:
        rest = writing.take(rest)
        if not writing.left:
            entry = writing.entry
            if entry.mode == LINK:
                self._links.append((entry.path, writing.target))
            self._base[entry.path] = writing.finished()
            self._writing = None
        return rest

    def _give_up(self) -> None:
        if self._writing is not None:
            self._writing.close()

    def finished(self) -> Base:
        """What was written, when all was heard. `ToolFailure` if something is missing."""
        if self._trouble is not None:
            raise self._trouble
        if self._writing is not None or next(self._entries, None) is not None:
            self._give_up()
            raise ToolFailure("transient", "git ended before it had told all files of the commit; try again")
        for path, target in self._links:
            self._link(path, target)
        for path, image in self._base.items():
            if image.kind == "directory":
                (self._to / path).chmod(DIRECTORY)
        self._to.chmod(DIRECTORY)
        return self._base

    def _link(self, path: str, target: bytes) -> None:
        if target and b"\0" not in target and len(target) <= LONGEST_LINK:
            (self._to / path).symlink_to(os.fsdecode(target))
        else:
            del self._base[path]
            self.left_out.append(LeftOut(path, "no link can lead where it should"))


class Writing:
    """One file on its way to the disk. After its bytes comes a newline that is not its own."""

    def __init__(self, entry: Entry, to: Path) -> None:
        self.entry: Final = entry
        self.left = entry.size + 1
        self.target = b""
        """Where a link leads, as far as that matters."""
        self._seen: Final = sha256()
        self._file = -1 if entry.mode == LINK else os.open(to, _NEW, PRIVATE_FILE)

    def take(self, rest: memoryview) -> memoryview:
        """What of it is not the file's."""
        mine = rest[: max(0, self.left - 1)]
        self._seen.update(mine)
        if self._file >= 0:
            write_all(self._file, bytes(mine))
        else:
            self.target = (self.target + bytes(mine))[: LONGEST_LINK + 1]
        used = min(self.left, len(rest))
        self.left -= used
        return rest[used:]

    def finished(self) -> Image:
        """What stands there now."""
        mode = 0o755 if self.entry.mode == EXECUTABLE else 0o644
        if self._file >= 0:
            os.fchmod(self._file, mode)
            self.close()
            return Image("file", self._seen.hexdigest(), mode, self.entry.size)
        return Image("link", self._seen.hexdigest(), 0o777, self.entry.size)

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            os.close(self._file)


_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
