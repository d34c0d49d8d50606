"""R11: any one call of the kernel fails, in this process, also on a file system that can neither swap names nor promise
that a name is free: the set is whole or nothing of it is there, and when the fault is gone the work comes to its end."""

import errno
import os
from collections import Counter

import pytest
from changes_world import begin, do, undo
from kernel_calls import Died, before_calls, weak

from perdure.tools.changes import directories, kernel
from perdure.tools.failure import ToolFailure

SCENES = {"do": do, "undo": undo}
EVERY = 7
SOME = 2
"""Of some hundred calls each of so many is looked at."""


def failing(when, error):
    """The nth call fails."""

    def deed(n):
        if n == when:
            raise OSError(error, os.strerror(error))

    return deed


def dying(when):
    """Before the nth call the process has ended."""

    def deed(n):
        if n >= when:
            raise Died

    return deed


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("is_weak", [False, True], ids=["strong", "weak"])
def test_a_call_that_fails_leaves_all_or_nothing(monkeypatch, memory, scene, is_weak):
    work, told = SCENES[scene], []
    with monkeypatch.context() as patched:
        if is_weak:
            weak(patched)
        begin(memory / "whole")
        calls = before_calls(patched, failing(0, errno.EIO))
        outputs = work(memory / "whole")
    assert outputs.get("weak_guard", False) is is_weak
    whole = begin(memory / "again")
    work(memory / "again")
    for n in range(1, len(calls) + 1, SOME):
        place = memory / str(n)
        folder = begin(place)
        start = folder.look()
        with monkeypatch.context() as patched:
            if is_weak:
                weak(patched)
            before_calls(patched, failing(n, errno.ENOSPC if n % 2 else errno.EIO))
            told.append(failure_of(work, place))
        if told[-1] == "unavailable" and scene == "do":
            assert folder.look() == start, (n, calls[n - 1])
        work(place)
        assert folder.look() == whole.look(), (n, calls[n - 1])
    assert {"unavailable", ""} <= set(told) <= {"unavailable", "in_doubt", ""}, set(told)


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("is_weak", [False, True], ids=["strong", "weak"])
def test_a_death_before_any_call_leaves_what_a_later_life_brings_to_its_end(monkeypatch, memory, scene, is_weak):
    """R2 without a second process, so that each moment is come to the same way every time."""
    work = SCENES[scene]
    with monkeypatch.context() as patched:
        if is_weak:
            weak(patched)
        begin(memory / "whole")
        calls = before_calls(patched, dying(10_000))
        outputs = work(memory / "whole")
    whole = begin(memory / "again")
    work(memory / "again")
    for n in range(1, len(calls) + 1, SOME):
        place = memory / str(n)
        folder = begin(place)
        with monkeypatch.context() as patched:
            if is_weak:
                weak(patched)
            before_calls(patched, dying(n))
            with pytest.raises(Died):
                work(place)
        assert work(place) | {"weak_guard": True} == outputs | {"weak_guard": True}, (n, calls[n - 1])
        assert folder.look() == whole.look(), (n, calls[n - 1])


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
    answering(monkeypatch, syscall=errno.ENOSYS)
    with pytest.raises(ToolFailure, match="or what contains this process, does not offer it"):
        kernel.open_beneath(0, "a", os.O_RDONLY)


def answering(monkeypatch, **calls):
    """A kernel that answers these calls with an error; how often each was made."""
    made = Counter()

    def call(name, error):
        def called(*_):
            made[name] += 1
            kernel.ctypes.set_errno(error)
            return -1

        return staticmethod(called)

    monkeypatch.setattr(kernel, "_LIBC", type("Libc", (), {name: call(name, each) for name, each in calls.items()}))
    return made


def test_while_somebody_renames_directories_on_the_way_it_is_looked_again_and_not_for_ever(monkeypatch):
    made = answering(monkeypatch, syscall=errno.EAGAIN)
    with pytest.raises(BlockingIOError, match="a/b"):
        kernel.open_beneath(0, "a/b", os.O_RDONLY)
    assert made["syscall"] > 10


def test_a_disk_that_cannot_be_synced_says_so(monkeypatch, tmp_path):
    answering(monkeypatch, syncfs=errno.EIO)
    with pytest.raises(OSError, match="Input/output error"):
        kernel.sync_all(tmp_path)


def test_a_directory_that_may_not_be_entered_is_told_by_the_error_of_the_kernel(monkeypatch, tmp_path):
    folder = begin(tmp_path)
    with monkeypatch.context() as patched:
        answering(patched, syscall=errno.EACCES)
        with pytest.raises(ToolFailure, match=r"nothing was changed: .*Permission denied"):
            do(tmp_path)
    assert "new" not in folder.look()
