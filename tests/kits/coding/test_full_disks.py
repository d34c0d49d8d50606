"""E10 E22: the disk is full while a commit is copied, or while work is kept. It is told, and goes on when there is room."""

import asyncio

import pytest
from code_tasks import BRANCH, FILES, WRITE, Task, shown
from git_shop import git
from repositories import project
from small_disks import small_disks
from snapshots import difference, snapshot

from perdure.tools.branches import copying

HOLD = [*WRITE, {"id": "hold", "tool": "flow.echo", "with": {"value": 1}}]


@pytest.fixture
def disk(tmp_path):
    with small_disks() as make:
        yield make(tmp_path / "disk")


async def over(task, run=None):
    """To the end of a run that is new, or that failed and is tried again."""
    async with task.opened() as engine:
        if run is None:
            started = await engine.start(task.plan, task.inputs)
        else:
            started = engine.run(run)
            await started.retry()
        return await asyncio.wait_for(started.result(), 120)


def test_there_is_no_room_for_the_copy(disk, tmp_path, monkeypatch):
    monkeypatch.setattr(copying, "SPARE", 1 << 20)
    root = project(tmp_path / "project")
    before, task = snapshot(root), Task(root, tmp_path / "disk")
    disk.leave(20)
    failed = asyncio.run(over(task))
    assert (failed.status, failed.failure.kind) == ("failed", "unavailable")
    assert "make room" in failed.failure.message
    assert difference(before, snapshot(root)) == {}
    disk.mend()
    assert asyncio.run(over(task, failed.id)).status == "succeeded"
    assert [shown(root, BRANCH, path) for path in FILES] == [*FILES.values()]


@pytest.mark.parametrize("pages", [0, 6])
def test_there_is_no_room_for_the_commits(disk, tmp_path, pages):
    root = project(tmp_path / "disk" / "project")
    head, status = git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain")
    (tmp_path / "state").mkdir()
    task = Task(root, tmp_path / "state", HOLD)
    task.then["shape_hold"] = lambda: disk.leave(pages)
    failed = asyncio.run(over(task))
    assert (failed.status, failed.failure.kind) == ("failed", "unavailable")
    assert "No space left on device" in failed.failure.message
    disk.mend()
    assert (git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain")) == (head, status)
    git(root, "fsck", "--strict")
    assert asyncio.run(over(task, failed.id)).status == "succeeded"
    assert [shown(root, BRANCH, path) for path in FILES] == [*FILES.values()]
