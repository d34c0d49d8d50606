"""Real disks of a size that can be had: full, read-only, and repaired. Only root can mount them."""

import os
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

PAGE = 4096
ROOMY = 64 * 1024 * 1024


def need_root():
    """They are part of the tests, so that a missing right is no reason to leave them out."""
    if os.geteuid() != 0:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("only root can mount a disk")


class SmallDisk:
    """A file system in memory."""

    def __init__(self, path):
        self._path = Path(path)
        self._path.mkdir(mode=0o700)
        _mount("-t", "tmpfs", "-o", f"size={ROOMY},nr_inodes=100000,mode=0700", "none", str(self._path))

    def leave(self, pages):
        """So many pages, and no more. Whoever writes meanwhile may need more than there was to be: then once more."""
        for _ in range(10):
            found = os.statvfs(self._path)
            with suppress(subprocess.CalledProcessError):
                self._set(f"size={(found.f_blocks - found.f_bfree + pages) * found.f_frsize}")
                return
        raise AssertionError("somebody writes all the time")

    def leave_names(self, names):
        """So many files and directories, and no more."""
        found = os.statvfs(self._path)
        self._set(f"nr_inodes={found.f_files - found.f_ffree + names}")

    def lock(self):
        self._set("ro")

    def mend(self):
        self._set(f"rw,size={ROOMY},nr_inodes=100000")

    def remove(self):
        subprocess.run(["/bin/umount", "-l", str(self._path)], check=True)

    def _set(self, how):
        _mount("-o", f"remount,{how}", str(self._path))


def _mount(*words):
    subprocess.run(["/bin/mount", *words], check=True, capture_output=True)


@contextmanager
def small_disks():
    """A way to make them; all are gone afterwards."""
    need_root()
    made = []

    def make(path):
        made.append(SmallDisk(path))
        return made[-1]

    try:
        yield make
    finally:
        for each in made:
            each.remove()
