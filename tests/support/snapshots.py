"""All there is in a directory, so that two looks can be compared byte by byte."""

import hashlib
import os
import stat
from pathlib import Path

MUCH = 1 << 20
"""Bytes; of a larger file, its digest is enough."""


def look(path):
    """The mode of a path with what it holds: where a link leads to, or the bytes of a file, if they may be read."""
    mode = path.lstat().st_mode
    return mode, path.readlink() if stat.S_ISLNK(mode) else _bytes(path) if stat.S_ISREG(mode) else b""


def snapshot(root, *, times=True, git_times=False):
    """Everything below a directory, `.git` too: kind, mode, owner, bytes, and when it was written.

    Without `git_times` that is not told inside of repositories: git makes a lock there whenever it looks.
    """
    return {str(path.relative_to(root)): _seen(path, times, git_times) for path in (Path(root), *paths(root))}


def difference(before, after):
    """What is another now, path by path; nothing if nothing is."""
    return {name: _told(before.get(name), after.get(name)) for name in sorted(before.keys() | after.keys())
            if before.get(name) != after.get(name)}  # fmt: skip


def paths(root, but=""):
    """All that is below a directory, and leads nowhere through links; without what has a certain name at its top."""
    for place, folders, names in os.walk(root):
        if but in folders and place == str(root):
            folders.remove(but)
        yield from (Path(place, name) for name in (*folders, *names))


def _seen(path, times, git_times):
    found = path.lstat()
    inside = any(part.endswith(".git") for part in path.parts)
    told = found.st_mtime_ns if times and (git_times or not inside) else None
    return (*look(path), found.st_uid, found.st_gid, _attributes(path), told)


def _attributes(path):
    return {name: os.getxattr(path, name, follow_symlinks=False) for name in os.listxattr(path, follow_symlinks=False)}


def _bytes(path):
    if not os.access(path, os.R_OK):
        return None
    with path.open("rb") as file:
        return file.read() if path.lstat().st_size <= MUCH else hashlib.file_digest(file, "sha256").hexdigest()


def _told(before, after):
    if before is None or after is None:
        return "new" if before is None else "gone"
    names = ("mode", "content", "user", "group", "attributes", "time")
    return ", ".join(name for name, old, new in zip(names, before, after, strict=True) if old != new)
