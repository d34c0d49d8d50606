"""What SQLite and the system say when something goes wrong, in the journal's own words."""

import errno
import sqlite3
from typing import Final

from perdure.ports import Corrupt, DiskFull, JournalError, Locked, NoJournal, ReadOnlyDisk, Suspect

_FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_READ_ONLY: Final = {errno.EROFS, errno.EACCES, errno.EPERM}
_PRIMARY: Final = 0xFF
"""The low byte of an extended result code."""


def told(error: Exception) -> JournalError:
    """The journal's word for an error. What is not known leaves doubt, and doubt is `Suspect`."""
    if isinstance(error, JournalError):
        return error
    if isinstance(error, OSError):
        return _system(error)
    return _database(error)


def _system(error: OSError) -> JournalError:
    if error.errno in _FULL:
        return full(error)
    if error.errno in _READ_ONLY:
        return read_only(error)
    return suspect(error)


def _database(error: Exception) -> JournalError:
    extended: int = getattr(error, "sqlite_errorcode", 0)
    code = extended & _PRIMARY
    if code == sqlite3.SQLITE_FULL or extended == sqlite3.SQLITE_IOERR_SHMSIZE:
        return full(error)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return read_only(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Locked(f"another program holds the file: {error}", "close the program that has it open for writing")
    if code == sqlite3.SQLITE_NOTADB:
        return NoJournal(f"the file is not a journal: {error}")
    if code == sqlite3.SQLITE_CORRUPT:
        return Corrupt(f"the file is damaged: {error}", "export what can be read, and restore a copy")
    return suspect(error)


def full(error: Exception) -> DiskFull:
    """No room."""
    return DiskFull(f"the disk is full, nothing was kept: {error}", "make room, then resume")


def read_only(error: Exception) -> ReadOnlyDisk:
    """No permission to write."""
    return ReadOnlyDisk(f"the journal cannot be written: {error}", "make it writable, or open it with read_only=True")


def suspect(error: Exception) -> Suspect:
    """Nobody knows what is on the disk now."""
    return Suspect(
        f"the disk failed, and what it holds is in doubt: {error}", "look at the disk, then open the journal again"
    )
