"""What a journal asks of the file system: private files, writes that survive a power cut, disks that can be trusted."""

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from perdure.ports import NetworkDisk

PRIVATE_FILE: Final = 0o600
PRIVATE_DIRECTORY: Final = 0o700
UNTRUSTED: Final = {
    0x6969: "NFS",
    0x517B: "SMB",
    0xFF534D42: "CIFS",
    0xFE534D42: "SMB2",
    0x65735546: "FUSE",
    0x01021997: "9P",
    0x0BD00BD0: "Lustre",
    0x5346414F: "AFS",
    0x6B414653: "AFS",
    0x73757245: "Coda",
    0x00C36400: "Ceph",
    0x01161970: "GFS2",
    0x7461636F: "OCFS2",
    0x47504653: "GPFS",
    0x564C: "NCP",
    0x19830326: "BeeGFS",
    0x786F4256: "VirtualBox shared folders",
    0xBACBACBC: "VMware shared folders",
}
"""File systems by the magic number of statfs(2): their locks or their syncs end at some other machine's word."""


def magic_of(path: Path) -> int:
    """The magic number of the file system a path lies on; 0 where there is no statfs(2) as on Linux."""
    if not sys.platform.startswith("linux"):
        return 0
    buffer = ctypes.create_string_buffer(512)
    if ctypes.CDLL(None, use_errno=True).statfs(os.fsencode(path), buffer) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(path))
    return int.from_bytes(buffer.raw[:4], sys.byteorder)


def refuse_network(directory: Path, magic: Callable[[Path], int] = magic_of) -> None:
    """Raise if a directory lies on a file system that cannot be trusted."""
    if name := UNTRUSTED.get(magic(directory)):
        raise NetworkDisk(
            f"{directory} lies on {name}, where locks and syncs cannot be trusted",
            "put the journal on a local disk",
        )


def make_private(directory: Path) -> None:
    """Make a directory that only its owner can enter; one that is there stays as it is."""
    if not directory.is_dir():
        make_private(directory.parent)
        directory.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
        sync_directory(directory.parent)


def write_durably(path: Path, data: bytes) -> None:
    """Write a file that is either there whole or not at all, whenever the power goes."""
    make_private(path.parent)
    draft = path.with_name(f"{path.name}.new")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
    except OSError:
        draft.unlink(missing_ok=True)  # on a full disk it would take the room that is missing
        raise
    finally:
        os.close(file)
    move_durably(draft, path)


def move_durably(old: Path, new: Path) -> None:
    """Give a file its final name."""
    os.rename(old, new)  # noqa: PTH104  beside the other calls that a power cut is simulated for
    sync_directory(new.parent)


def sync_directory(directory: Path) -> None:
    """Make names in a directory durable."""
    file = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
