"""The workspace, seen from its root: no path leads out of it, and none leads through a link."""

import errno
import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from perdure.tools.changes.images import Image, Images, digest_of_file
from perdure.tools.changes.kernel import open_beneath
from perdure.tools.changes.sets import LARGEST
from perdure.tools.failure import Kind, ToolFailure

OURS: Final = ".perdure-"
"""How the names begin of files that lie beside others while these are changed."""
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MISSING: Final = frozenset({errno.ENOENT, errno.ENOTDIR})
_TRIES: Final = 20
_SPECIAL: Final = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


class Spot:
    """A name in an open directory. All that is done to a file is done here, whatever happens to the path meanwhile."""

    def __init__(self, directory: int, name: str) -> None:
        self.directory: Final = directory
        self.name: Final = name

    def beside(self, name: str) -> "Spot":
        """Another name in the same directory."""
        return Spot(self.directory, name)

    def status(self) -> os.stat_result | None:
        """What stands there; of a link, the link."""
        try:
            return os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        except FileNotFoundError:
            return None

    @contextmanager
    def reading(self) -> Generator[int]:
        """The file, open. A link is not followed, and a pipe is not waited for."""
        file = os.open(self.name, _READ, dir_fd=self.directory)
        try:
            yield file
        finally:
            os.close(file)

    def image(self, images: Images | None = None) -> Image | None:
        """What stands there; its bytes are kept if somebody says where. `Special` if it is none of the three kinds."""
        for _ in range(_TRIES):
            with suppress(FileNotFoundError, _Moved):
                found = self.status()
                return None if found is None else self._image(found, images)
        raise ToolFailure("transient", f"{self.name} is being changed all the time; try again when it is at rest")

    def _image(self, found: os.stat_result, images: Images | None) -> Image:
        if stat.S_ISDIR(found.st_mode):
            return Image("directory", "", stat.S_IMODE(found.st_mode), 0)
        if stat.S_ISLNK(found.st_mode):
            return self._link_image(images)
        if not stat.S_ISREG(found.st_mode):
            raise Special(found.st_mode, self.name)
        with self.reading() as file:
            return _file_image(file, images)

    def _link_image(self, images: Images | None) -> Image:
        try:
            target = os.fsencode(os.readlink(self.name, dir_fd=self.directory))
        except OSError as error:
            raise _Moved from error
        digest = images.put(target) if images else sha256(target).hexdigest()
        return Image("link", digest, 0o777, len(target))

    def remove(self) -> None:
        """Take the name away, if it is there."""
        self._gone(os.unlink)

    def remove_directory(self) -> None:
        """The same of a directory with nothing in it."""
        self._gone(os.rmdir)

    def _gone(self, take: Callable[..., None]) -> None:
        try:
            take(self.name, dir_fd=self.directory)
        except OSError:  # a disk that cannot be written says so before it looks whether there is anything
            if self.status() is not None:
                raise


class Special(OSError):
    """Neither a file nor a link nor a directory: it has no bytes by which it could be brought back."""

    def __init__(self, mode: int, path: str) -> None:
        self.what: Final = _SPECIAL.get(stat.S_IFMT(mode), "a device")
        super().__init__(errno.EINVAL, f"it is {self.what}", path)

    def refusal(self, path: str, kind: Kind) -> ToolFailure:
        """What to say where a whole path is known."""
        why = f"{path} is {self.what}; these stay as they are, because nothing brings them back"
        return ToolFailure(kind, f"{why}: remove it yourself, or leave it")


class _Moved(Exception):
    """It changed while it was looked at."""


def _file_image(file: int, images: Images | None) -> Image:
    """Bytes and mode that belonged together: a file that is written meanwhile is read again."""
    first = os.fstat(file)
    digest, size = images.take(file) if images else digest_of_file(file)
    last = os.fstat(file)
    if (first.st_mtime_ns, first.st_size, first.st_mode) != (last.st_mtime_ns, last.st_size, last.st_mode):
        raise _Moved
    return Image("file", digest, stat.S_IMODE(last.st_mode), size)


class Tree:
    """The workspace. Opened once; closing it is up to who opened it."""

    def __init__(self, root: Path) -> None:
        self._root: Final = os.open(root, _DIRECTORY | os.O_CLOEXEC)
        self.owner: Final = os.fstat(self._root).st_uid

    def close(self) -> None:
        """Let go of it."""
        os.close(self._root)

    @contextmanager
    def spot(self, path: str) -> Generator[Spot]:
        """The place of a path. `FileNotFoundError` if its directory is not there, or is no directory."""
        parent, _, name = path.rpartition("/")
        directory = self.directory(parent)
        try:
            yield Spot(directory, name)
        finally:
            os.close(directory)

    def directory(self, path: str) -> int:
        """A directory, open; the empty path is the root."""
        try:
            return open_beneath(self._root, path or ".", _DIRECTORY)
        except OSError as error:
            if error.errno in _MISSING:
                raise FileNotFoundError(errno.ENOENT, "there is no such directory", path) from None
            raise self._refusal(path, error) from None

    def image(self, path: str, images: Images | None = None) -> Image | None:
        """What stands under a path."""
        try:
            with self.spot(path) as spot:
                return spot.image(images)
        except FileNotFoundError:
            return None
        except Special as found:
            raise found.refusal(path, "invalid") from None

    def fitting(self, path: str, images: Images | None = None) -> Image | None:
        """What stands under a path that is to be changed. `ToolFailure` if that must not be."""
        try:
            with self.spot(path) as spot:
                if (found := spot.status()) is not None:
                    self._refuse_unfit(path, found)
                return spot.image(images)
        except FileNotFoundError:
            return None

    def _refuse_unfit(self, path: str, found: os.stat_result) -> None:
        kind = stat.S_IFMT(found.st_mode)
        if kind not in (stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR):
            raise Special(found.st_mode, path).refusal(path, "denied")
        if found.st_uid not in (os.geteuid(), self.owner):
            raise ToolFailure("denied", f"{path} belongs to somebody else (user {found.st_uid})")
        if kind == stat.S_IFREG and found.st_nlink > 1:
            raise ToolFailure("denied", f"{path} has {found.st_nlink} names; a change here would change others too")
        if kind == stat.S_IFREG and found.st_size > LARGEST:
            raise ToolFailure("invalid", f"{path} has {found.st_size:,} bytes, {LARGEST:,} are the most")

    def _refusal(self, path: str, error: OSError) -> Exception:
        if error.errno in (errno.ELOOP, errno.EXDEV):
            return ToolFailure("denied", f"{path} leads through a link{self._where(path)}; write it without links")
        return error

    def _where(self, path: str) -> str:
        """Which link, and where it leads."""
        parts = path.split("/")
        for n in range(1, len(parts) + 1):
            with suppress(OSError, ToolFailure), self.spot("/".join(parts[:n])) as spot:
                found = spot.status()
                if found is not None and stat.S_ISLNK(found.st_mode):
                    return f": {'/'.join(parts[:n])} -> {os.readlink(spot.name, dir_fd=spot.directory)}"
        return ""
