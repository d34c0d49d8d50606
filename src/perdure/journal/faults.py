"""What SQLite and the system say when something goes wrong, in the journal's own words."""

import errno
import sqlite3
from typing import Final

from perdure.ports import Corrupt, DiskFull, JournalError, Locked, NoJournal, NoMemory, ReadOnlyDisk, Suspect

_FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_READ_ONLY: Final = {errno.EROFS, errno.EACCES, errno.EPERM}
_PRIMARY: Final = 0xFF
"""The low byte of an extended result code."""
_OF_THE_FILE: Final = {
    sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT,
}  # fmt: skip
"""Codes that say something about the disk, the file, or who else has it."""


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


def is_of_tables(error: Exception) -> bool:
    """Whether an error is about some tables alone, or what was to be put into them; the rest can be relied on."""
    if isinstance(error, OSError | JournalError):
        return False
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY not in _OF_THE_FILE


def no_memory(error: Exception) -> NoMemory:
    """What was learned is out of reach, and nothing else is."""
    return NoMemory(
        f"the memory of this journal cannot be used: {error}", "runs are not touched by that; run `perdure doctor`"
    )


def full(error: Exception) -> DiskFull:
    """No room."""
    return DiskFull(f"the disk is full, nothing was kept: {error}", "make room, then resume")


def read_only(error: Exception) -> ReadOnlyDisk:
    """No permission to write."""
    hint = "make the file and its directory writable; reading is always open"
    return ReadOnlyDisk(f"the journal cannot be written: {error}", hint)


def suspect(error: Exception) -> Suspect:
    """Nobody knows what is on the disk now."""
    return Suspect(
        f"the disk failed, and what it holds is in doubt: {error}", "look at the disk, then open the journal again"
    )
