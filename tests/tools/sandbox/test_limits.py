"""S13: control groups, where we may make one: a directory stands in for those of the kernel, whichever it has here."""

import os
import shutil
from pathlib import Path

import pytest

from perdure.tools.sandbox import limits
from perdure.tools.sandbox.command import Limits
from perdure.tools.sandbox.limits import Group, sweep

OURS = Limits(processes=7, memory=1_000)


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """What a kernel says of our own group."""
    root, ours = tmp_path / "cgroup", tmp_path / "self"
    (root / "a" / "b").mkdir(parents=True)
    monkeypatch.setattr(limits, "_GROUPS", root)
    monkeypatch.setattr(limits, "_OURS", ours)

    def says(text, unified=True):
        ours.write_text(text)
        if unified:
            (root / "cgroup.controllers").write_text("memory pids")
        return root

    return says


def made_in(parent):
    return list(parent.glob("perdure-*"))


def test_a_group_is_made_below_our_own(kernel):
    root = kernel("0::/a/b\n")
    Group.around(4242, OURS)
    (group,) = made_in(root / "a" / "b")
    assert (group / "cgroup.procs").read_text() == "4242"
    assert (group / "pids.max").read_text() == "7"
    assert not (group / "memory.max").exists(), "it is not handed down"


def test_or_beside_it_where_nothing_can_be_made_below(kernel):
    root = kernel("0::/a/gone\n")
    Group.around(4242, OURS)
    assert len(made_in(root / "a")) == 1


def test_the_group_of_the_whole_machine_has_none_beside_it(kernel):
    root = kernel("0::/\n")
    assert limits._parents() == [root]


def test_older_kernels_count_processes_alone(kernel):
    root = kernel("4:memory:/a\n3:pids:/b\n0::/\n", unified=False)
    (root / "pids" / "b").mkdir(parents=True)
    Group.around(4242, OURS)
    assert len(made_in(root / "pids" / "b")) == 1


@pytest.mark.parametrize("text", ["0::/nowhere/at/all\n", "4:memory:/a\n"])
def test_where_none_can_be_made_there_is_none(kernel, text):
    root = kernel(text, unified=":/nowhere" in text)
    Group.around(4242, OURS).remove()
    assert list(root.rglob("perdure-*")) == []


def test_a_kernel_that_says_nothing_has_none(monkeypatch, tmp_path):
    monkeypatch.setattr(limits, "_OURS", tmp_path / "nothing")
    assert limits._parents() == []


def test_a_group_that_cannot_be_made_any_more_is_none(tmp_path):
    assert limits._made(tmp_path / "gone", OURS) is None


def test_a_group_is_removed_when_all_in_it_are_dead(tmp_path):
    (tmp_path / "group").mkdir()
    Group(tmp_path / "group").remove()
    assert list(tmp_path.iterdir()) == []


def test_groups_of_dead_engines_are_swept_and_those_of_others_are_not(tmp_path):
    for name in ("perdure-999999999-1", f"perdure-{os.getpid()}-1", "somebody"):
        (tmp_path / name).mkdir()
    sweep(tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == [f"perdure-{os.getpid()}-1", "somebody"]


def refuses(monkeypatch, name):
    """A kernel that lets nobody write this file of a group."""
    real = Path.write_text

    def write_text(path, text):
        if path.name == name:
            raise PermissionError(name)
        return real(path, text)

    monkeypatch.setattr(Path, "write_text", write_text)


@pytest.mark.parametrize("name", ["pids.max", "cgroup.procs"])
def test_a_group_that_cannot_hold_a_command_goes_again(kernel, monkeypatch, name):
    root = kernel("0::/a/b\n")
    refuses(monkeypatch, name)
    monkeypatch.setattr(limits, "_removed", shutil.rmtree)  # the kernel's own files go with theirs
    group = Group.around(4242, OURS)
    assert list(root.rglob("perdure-*")) == []
    group.remove()


def test_memory_is_counted_where_the_kernel_hands_that_down(kernel, monkeypatch):
    root = kernel("0::/a/b\n")
    real = Path.mkdir

    def mkdir(path, *given, **named):
        real(path, *given, **named)
        (path / "memory.max").write_text("max")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    Group.around(4242, OURS)
    (group,) = made_in(root / "a" / "b")
    assert (group / "memory.max").read_text() == "1000"
