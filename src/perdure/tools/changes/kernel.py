"""What Linux offers and Python has no name for: paths that cannot lead out, swaps of names, who still writes a file.

`openat2` resolves a whole path in one step, so nobody can put a link into it between a look and a deed.
"""

import ctypes
import errno
import fcntl
import os
import signal
import sys
from pathlib import Path
from typing import Final

from perdure.tools.failure import ToolFailure

_OPENAT2: Final = 437
_RENAMEAT2: Final = {"x86_64": 316, "aarch64": 276}
_BENEATH: Final = 0x02 | 0x04 | 0x08
"""No magic links, no links at all, nothing above the start."""
_TRIES: Final = 64
NOREPLACE: Final = 1
EXCHANGE: Final = 2
UNSUPPORTED: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP})
"""What file systems say that know neither of the two."""
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


class _How(ctypes.Structure):
    """`struct open_how` of openat2(2)."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_beneath(root: int, path: str, flags: int) -> int:
    """Open what a path leads to, below a directory and through no link. `OSError` as of open(2)."""
    _ = _number_of_renameat2()
    how = _How(flags | os.O_CLOEXEC, 0, _BENEATH)
    for _ in range(_TRIES):
        found = _LIBC.syscall(_OPENAT2, root, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
        if found >= 0:
            return found
        if ctypes.get_errno() != errno.EAGAIN:  # somebody renames directories on the way
            break
    number = ctypes.get_errno()
    if number == errno.ENOSYS:
        raise _unavailable("this kernel, or what contains this process, does not offer it")
    raise OSError(number, os.strerror(number), path)


def rename_at(directory: int, old: str, new: str, flags: int) -> None:
    """Rename within a directory: `NOREPLACE` fails where there is something, `EXCHANGE` swaps two names."""
    names = os.fsencode(old), os.fsencode(new)
    if _LIBC.syscall(_number_of_renameat2(), directory, names[0], directory, names[1], flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), new)


def sync_all(directory: Path) -> None:
    """Make all that was written to the file system of a directory durable: of many files, quicker than one by one."""
    file = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if _LIBC.syncfs(file) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(directory))
    finally:
        os.close(file)


def _number_of_renameat2() -> int:
    machine = os.uname().machine
    if not sys.platform.startswith("linux") or machine not in _RENAMEAT2:
        raise _unavailable(f"it is not known on {sys.platform} {machine}")
    return _RENAMEAT2[machine]


def _unavailable(why: str) -> ToolFailure:
    return ToolFailure(
        "unavailable", f"files are only touched through openat2, and {why}; Linux 5.6 on x86_64 or aarch64 has it"
    )


def is_written(file: int) -> bool | None:
    """Whether anybody holds a file open for writing, or mapped. None: the file system cannot say.

    A lease for reading is given only where nobody writes. It is taken and given back; should somebody break it in
    between, the signal is one that nobody minds.
    """
    try:
        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    return False
