"""R11: any one call of the kernel fails, in this process, also on a file system that can neither swap names nor promise
that a name is free: the set is whole or nothing of it is there, and when the fault is gone the work comes to its end."""

import errno
import os
import threading
from itertools import count

import pytest
from changes_world import begin, do, undo

from perdure.tools.changes import directories, kernel, renaming
from perdure.tools.failure import ToolFailure

CALLS = ("write", "fsync", "open", "link", "unlink", "mkdir", "rmdir", "rename", "fchmod")
SCENES = {"do": do, "undo": undo}
EVERY = 7
"""Of some hundred calls so many are left out between two."""


def counted(monkeypatch, when, error):
    """Have the nth of these calls fail, in this thread; those that were made meanwhile."""
    numbers, mine, made = count(1), threading.get_ident(), []

    def counting(name, call):
        def called(*arguments, **named):
            if threading.get_ident() == mine:
                made.append(name)
                if next(numbers) == when:
                    raise OSError(error, os.strerror(error))
            return call(*arguments, **named)

        return called

    for name in CALLS:
        monkeypatch.setattr(os, name, counting(name, getattr(os, name)))
    for place in (directories, renaming):
        monkeypatch.setattr(place, "rename_at", counting("renameat2", place.rename_at))
    return made


def weak(monkeypatch):
    """A file system that knows neither of the two ways to rename with care."""

    def unsupported(*_):
        raise OSError(errno.EINVAL, "not here")

    for place in (directories, renaming):
        monkeypatch.setattr(place, "rename_at", unsupported)


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("is_weak", [False, True], ids=["strong", "weak"])
def test_a_call_that_fails_leaves_all_or_nothing(monkeypatch, tmp_path, scene, is_weak):
    work, told = SCENES[scene], []
    with monkeypatch.context() as patched:
        if is_weak:
            weak(patched)
        begin(tmp_path / "whole")
        calls = counted(patched, 0, errno.EIO)
        outputs = work(tmp_path / "whole")
    assert outputs.get("weak_guard", False) is is_weak
    whole = begin(tmp_path / "again")
    work(tmp_path / "again")
    for n in range(1, len(calls) + 1, EVERY):
        place = tmp_path / str(n)
        folder = begin(place)
        start = folder.look()
        with monkeypatch.context() as patched:
            if is_weak:
                weak(patched)
            counted(patched, n, errno.ENOSPC if n % 2 else errno.EIO)
            told.append(failure_of(work, place))
        if told[-1] == "unavailable" and scene == "do":
            assert folder.look() == start, (n, calls[n - 1])
        work(place)
        assert folder.look() == whole.look(), (n, calls[n - 1])
    assert {"unavailable", ""} <= set(told) <= {"unavailable", "in_doubt", ""}, set(told)


def test_a_directory_that_a_disk_keeps_from_going_goes_when_it_is_mended(monkeypatch, tmp_path):
    folder = begin(tmp_path / "place")
    start = folder.look()
    do(tmp_path / "place")
    with monkeypatch.context() as patched:
        patched.setattr(directories.os, "rmdir", refused(errno.EIO))
        with pytest.raises(ToolFailure, match=r"the end of it failed: new/deep cannot be changed: Input/output error"):
            undo(tmp_path / "place")
    undo(tmp_path / "place")
    assert folder.look() == start


def test_a_directory_that_others_keep_from_going_stays_and_is_told(monkeypatch, tmp_path):
    folder = begin(tmp_path / "place")
    do(tmp_path / "place")
    with monkeypatch.context() as patched:
        patched.setattr(directories.os, "rmdir", refused(errno.EACCES))
        told = undo(tmp_path / "place")
    assert any("new: stays as it is" in note for note in told["notes"])
    assert "new" in folder.look()


def refused(error):
    """A call of the kernel that fails."""

    def call(*_, **__):
        raise OSError(error, os.strerror(error))

    return call


def failure_of(work, place):
    """How it failed; empty if it did not."""
    try:
        work(place)
    except ToolFailure as failure:
        return failure.failure.kind
    return ""


@pytest.mark.parametrize(("system", "machine"), [("darwin", "arm64"), ("linux", "riscv64")])
def test_where_the_kernel_is_another_it_is_said(monkeypatch, tmp_path, system, machine):
    monkeypatch.setattr(kernel.sys, "platform", system)
    monkeypatch.setattr(kernel.os, "uname", lambda: os.uname_result(("", "", "", "", machine)))
    with pytest.raises(ToolFailure, match=rf"it is not known on {system} {machine}; Linux 5.6"):
        kernel.open_beneath(0, str(tmp_path), os.O_RDONLY)


def test_where_openat2_is_kept_from_us_it_is_said(monkeypatch):
    def refused(*_):
        kernel.ctypes.set_errno(errno.ENOSYS)
        return -1

    monkeypatch.setattr(kernel, "_LIBC", type("Libc", (), {"syscall": staticmethod(refused)}))
    with pytest.raises(ToolFailure, match="or what contains this process, does not offer it"):
        kernel.open_beneath(0, "a", os.O_RDONLY)
