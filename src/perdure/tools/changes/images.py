"""What files were and what they become, kept under the hash of their bytes before anything relies on it."""

import fcntl
import itertools
import os
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

import msgspec

from perdure.tools.changes.durable import PRIVATE_FILE, locked, make_private, sync_directory, write_all
from perdure.tools.failure import ToolFailure

Kind = Literal["file", "link", "directory"]
CHUNK: Final = 1 << 20
OBJECTS: Final = "changes/objects"
DRAFT: Final = "new-"
"""What the name of a file begins with that is not whole yet; the number of its process follows."""
_numbers: Final = itertools.count()


class Image(msgspec.Struct, frozen=True, gc=False):
    """What stands under a name. Two that are equal cannot be told apart by their bytes, kind and mode."""

    kind: Kind
    digest: str
    """SHA-256 of a file's bytes, or of where a link leads; empty for a directory."""
    mode: int
    size: int


class Images:
    """A directory `changes/objects/ab/cdef…` in the engine's own place. May be used from any thread and process."""

    def __init__(self, state: Path) -> None:
        self._directory: Final = state / OBJECTS
        make_private(self._directory)
        self._unsettled: set[Path] = set()

    def put(self, data: bytes) -> str:
        """Keep some bytes, and say under which digest."""
        return self._keep(iter((data,)))[0]

    def take(self, file: int) -> tuple[str, int]:
        """Keep what is in an open file, from where it stands; digest and size. Large files pass through in pieces."""
        return self._keep(chunks_of(file))

    def settle(self, digests: Iterable[str] = ()) -> None:
        """Make the names of all that was kept durable, and of what others have kept under these digests."""
        self._unsettled |= {self._path(digest).parent for digest in digests if digest}
        while self._unsettled:
            sync_directory(self._unsettled.pop())

    def read(self, digest: str, most: int | None = None) -> bytes:
        """What was kept, or its beginning."""
        with self._open(digest) as file:
            return file.read(-1 if most is None else most)

    def copy(self, digest: str, to: int) -> None:
        """Write what was kept into an open file. `ToolFailure` if the disk gives back something else."""
        seen = sha256()
        with self._open(digest) as file:
            while chunk := file.read(CHUNK):
                seen.update(chunk)
                write_all(to, chunk)
        if seen.hexdigest() != digest:
            raise ToolFailure("unavailable", f"the kept copy {digest[:12]}… is damaged; its disk cannot be trusted")

    def sweep(self) -> None:
        """Remove drafts that nobody will finish, because whoever wrote them is dead."""
        for draft in self._directory.glob(f"{DRAFT}*"):
            if not _is_alive(int(draft.name.split("-")[1])):
                draft.unlink(missing_ok=True)

    def others(self, needed: Container[str], before: float) -> Iterator[Path]:
        """What was kept under other digests than these, and before a time."""
        for path in self._directory.glob("??/*"):
            if f"{path.parent.name}{path.name}" not in needed and _was_written(path, before):
                yield path

    def drop(self, path: Path, before: float) -> int:
        """Remove what nobody needs, unless somebody has kept the same bytes again just now; how many bytes it had."""
        with locked(path.parent, fcntl.LOCK_EX):
            if not _was_written(path, before):
                return 0
            size = path.stat().st_size
            path.unlink()
            return size

    def _open(self, digest: str):  # noqa: ANN202  an open file, as `open` says
        try:
            return self._path(digest).open("rb", buffering=0)
        except FileNotFoundError:
            raise ToolFailure("unavailable", f"the kept copy {digest[:12]}… is gone") from None

    def _keep(self, pieces: Iterator[bytes]) -> tuple[str, int]:
        draft = self._directory / f"{DRAFT}{os.getpid()}-{next(_numbers)}"
        try:
            digest, size = _written(draft, pieces)
            path = self._path(digest)
            make_private(path.parent)
            with locked(path.parent, fcntl.LOCK_SH):  # over what is there, too: it is as new as this call from now on
                draft.rename(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        self._unsettled.add(path.parent)
        return digest, size

    def _path(self, digest: str) -> Path:
        return self._directory / digest[:2] / digest[2:]


def _written(path: Path, pieces: Iterator[bytes]) -> tuple[str, int]:
    seen, size = sha256(), 0
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_FILE)
    try:
        for piece in pieces:
            seen.update(piece)
            size += len(piece)
            write_all(file, piece)
        os.fsync(file)
    finally:
        os.close(file)
    return seen.hexdigest(), size


def _was_written(path: Path, before: float) -> bool:
    with suppress(FileNotFoundError):
        return path.stat().st_mtime < before
    return False


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def chunks_of(file: int) -> Iterator[bytes]:
    """What is in an open file, piece by piece."""
    while chunk := os.read(file, CHUNK):
        yield chunk


def digest_of_file(file: int) -> tuple[str, int]:
    """SHA-256 and size of what is in an open file."""
    seen, size = sha256(), 0
    for chunk in chunks_of(file):
        seen.update(chunk)
        size += len(chunk)
    return seen.hexdigest(), size
