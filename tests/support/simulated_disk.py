"""A disk that writes down all that happens to it, fails when it is told to, and can lose its power at any moment.

SQLite reaches it through a VFS of apsw, the journal's own files through a stand-in for `os`. The log is replayed into
images of what could be found after a power cut: what was synced is there; of the rest each write may be there, in any
order, torn at sectors; names in a directory survive in order.
"""

import os
import sqlite3
from collections import defaultdict
from pathlib import Path

import apsw

SECTOR = 512


class Disk:
    """The log of everything below a directory."""

    def __init__(self, root, name):
        self.root = Path(root)
        self.log = []
        self.fault = None
        """Given the name of an operation and of a file, returns an error to raise, or None."""
        self._vfs = _Vfs(self, name)

    def note(self, kind, path, *rest):
        name = os.path.relpath(path, self.root)
        if self.fault and (error := self.fault(kind, name)):
            raise error
        self.log.append((kind, name, *rest))

    def connect(self, path, mode):
        flags = {"rw": apsw.SQLITE_OPEN_READWRITE, "ro": apsw.SQLITE_OPEN_READONLY}[mode]
        with _translated():
            return _Connection(apsw.Connection(str(path), flags=flags, vfs=self._vfs.name))


class _Vfs(apsw.VFS):
    def __init__(self, disk, name):
        self.name = name
        self.disk = disk
        super().__init__(name, "")

    def xOpen(self, name, flags):
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path and flags[0] & apsw.SQLITE_OPEN_CREATE and not Path(path).exists():
            self.disk.note("create", path)
        return _File(self.disk, path, name, flags)

    def xDelete(self, name, sync):
        self.disk.note("delete", name)
        super().xDelete(name, sync)
        if sync:
            self.disk.note("sync directory", Path(name).parent)


class _File(apsw.VFSFile):
    def __init__(self, disk, path, name, flags):
        self.disk, self.path = disk, path
        self.new = flags[0] & apsw.SQLITE_OPEN_CREATE
        super().__init__("", name, flags)

    def xWrite(self, data, offset):
        self.disk.note("write", self.path, offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, size):
        self.disk.note("truncate", self.path, size)
        super().xTruncate(size)

    def xSync(self, flags):
        self.disk.note("sync", self.path)
        super().xSync(flags)
        if self.new:  # the first sync of a new file syncs its directory (UNIXFILE_DIRSYNC)
            self.disk.note("sync directory", Path(self.path).parent)
            self.new = False


class _translated:  # noqa: N801  reads like a word
    """Errors of apsw as errors of the standard library."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        if isinstance(error, apsw.Error):
            told = sqlite3.IntegrityError if isinstance(error, apsw.ConstraintError) else sqlite3.OperationalError
            found = told(str(error))
            found.sqlite_errorcode = error.extendedresult
            raise found from error


class _Connection:
    """The few things a journal asks of a connection."""

    def __init__(self, db):
        self._db = db

    def execute(self, sql, parameters=()):
        return self._done(lambda: self._db.execute(sql, parameters))

    def executemany(self, sql, rows):
        return self._done(lambda: self._db.executemany(sql, rows))

    def _done(self, work):
        with _translated():
            before = self._db.total_changes()
            rows = work().fetchall()
            return _Rows(rows, self._db.total_changes() - before)

    def close(self):
        with _translated():
            self._db.close()


class _Rows:
    def __init__(self, rows, rowcount):
        self._rows, self.rowcount = rows, rowcount

    def fetchone(self):
        return self._rows.pop(0) if self._rows else None

    def fetchall(self):
        rows, self._rows = self._rows, []
        return rows


class RecordedOs:
    """Stands in for `os` where a journal writes files of its own."""

    def __init__(self, disk):
        self._disk = disk
        self._open = {}

    def __getattr__(self, name):
        return getattr(os, name)

    def open(self, path, flags, mode=0o777):
        if flags & os.O_CREAT and not Path(path).exists():
            self._disk.note("create", path)
        elif flags & os.O_TRUNC:
            self._disk.note("truncate", path, 0)
        file = os.open(path, flags, mode)
        self._open[file] = (path, bool(flags & os.O_DIRECTORY), 0)
        return file

    def write(self, file, data):
        path, directory, offset = self._open[file]
        self._disk.note("write", path, offset, bytes(data))
        self._open[file] = (path, directory, offset + len(data))
        return os.write(file, data)

    def fsync(self, file):
        path, directory, _ = self._open[file]
        self._disk.note("sync directory" if directory else "sync", path)
        os.fsync(file)

    def rename(self, old, new):
        self._disk.note("rename", old, os.path.relpath(new, self._disk.root))
        os.rename(old, new)  # noqa: PTH104  stands in for it


# ------------------------------------------------------------ what is left


def image(log, cut, draw, survival):
    """The files that could be found after a power cut: a dictionary from names to bytes."""
    files, names, pending = defaultdict(bytearray), {}, []
    for inode, kind, *rest in _kept_writes(log[:cut], draw, survival):
        _apply(files[inode], kind, *rest)
    for change, durable in _name_changes(log[:cut]):
        if durable:
            _rename(names, change)
        else:
            pending.append(change)
    for change in pending[: draw.randrange(len(pending) + 1)]:
        _rename(names, change)
    return {name: bytes(files[inode]) for name, inode in names.items()}


def _kept_writes(log, draw, survival):
    """Writes that were synced, in order, then some of the others."""
    writes, synced = [], {}
    for position, (inode, kind, *rest) in enumerate(_by_inode(log)):
        if kind == "sync":
            synced[inode] = position
        elif kind in ("write", "truncate"):
            writes.append((position, inode, kind, *rest))
    loose = []
    for position, inode, *rest in writes:
        if position < synced.get(inode, -1):
            yield inode, *rest
        else:
            loose.append((inode, *rest))
    if draw.random() < 0.5:
        draw.shuffle(loose)
    for each in loose:
        if draw.random() < survival:
            yield from _torn(each, draw)


def _torn(write, draw):
    inode, kind, *rest = write
    if kind == "write" and len(rest[1]) > SECTOR and draw.random() < 0.3:
        offset, data = rest
        for start in range(0, len(data), SECTOR):
            if draw.random() < 0.5:
                yield inode, kind, offset + start, data[start : start + SECTOR]
    else:
        yield write


def _by_inode(log):
    """The log with files told apart by what they are, not by what they are called."""
    inodes, born = {}, 0
    for kind, name, *rest in log:
        if kind == "create":
            born += 1
            inodes[name] = born
        elif kind == "rename":
            inodes[rest[0]] = inodes.pop(name)
        elif kind == "delete":
            inodes.pop(name, None)
        yield inodes.get(name, 0), kind, *rest


def _name_changes(log):
    """Changes of names, and whether a later sync of their directory has made them durable."""
    changes, born = [], 0
    synced = {}
    for position, (kind, name, *rest) in enumerate(log):
        if kind == "create":
            born += 1
            changes.append((position, ("create", name, born)))
        elif kind in ("rename", "delete"):
            changes.append((position, (kind, name, *rest)))
        elif kind == "sync directory":
            synced[name] = position
    return [(change, position < synced.get(_directory(change[1]), -1)) for position, change in changes]


def _directory(name):
    return str(Path(name).parent)


def _rename(names, change):
    kind, name, *rest = change
    if kind == "create":
        names[name] = rest[0]
    elif kind == "delete":
        names.pop(name, None)
    elif name in names:
        names[rest[0]] = names.pop(name)


def _apply(file, kind, *rest):
    if kind == "truncate":
        del file[rest[0] :]
        return
    offset, data = rest
    if len(file) < offset:
        file.extend(bytes(offset - len(file)))
    file[offset : offset + len(data)] = data
