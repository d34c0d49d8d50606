"""Makes a stage and becomes what is to run on it: the workspace below, and above it a layer that takes every write.

It stands alone: it is started by its path with the stage's directory, in a process that has no threads, because a user
namespace cannot be entered with any. All names are given from that directory, so that no letter in a path can be read
as an option. Exit code 121: no overlay can be made here.
"""

import ctypes
import os
import sys
from pathlib import Path
from typing import Final

UNABLE: Final = 121
NEW_USER: Final = 0x10000000
NEW_MOUNTS: Final = 0x00020000
PRIVATE: Final = 0x4000 | 0x40000
"""MS_REC and MS_PRIVATE: what is mounted here is seen nowhere else."""
NO_DEVICES: Final = 2 | 4
"""MS_NOSUID and MS_NODEV."""
OPTIONS: Final = b"lowerdir=lower,upperdir=upper,workdir=work,userxattr"
_libc: Final = ctypes.CDLL(None, use_errno=True)


def main(stage: str, command: list[str]) -> None:
    """Mount the stage, for us alone, and go on."""
    os.chdir(stage)
    try:
        _separate()
        _call("mount", b"none", b"/", None, PRIVATE, None)
        _call("mount", b"overlay", b"merged", b"overlay", NO_DEVICES, OPTIONS)
    except OSError as error:
        sys.stderr.write(f"no overlay can be made here: {error.filename}: {error.strerror}\n")
        sys.exit(UNABLE)
    os.chdir("/")
    os.execv(command[0], command)  # noqa: S606  this is what it is for


def _separate() -> None:
    """Mounts of our own; whoever may not have those has them as the root user of a namespace of their own."""
    user, group = os.geteuid(), os.getegid()
    try:
        _call("unshare", NEW_MOUNTS)
    except PermissionError:
        _call("unshare", NEW_USER | NEW_MOUNTS)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
