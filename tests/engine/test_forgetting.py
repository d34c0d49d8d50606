"""E18: an engine that is at work forgets old runs, and takes no tool's bytes away from under it."""

import os
import time

import pytest

from perdure import Engine, Plan

NOW = 2**60


def writing(path, text):
    return Plan.model_validate(
        {"steps": [{"id": "change", "tool": "files.write", "with": {"path": path, "text": text}}]}
    )


@pytest.fixture
def project(tmp_path):
    place = tmp_path / "project"
    place.mkdir()
    for name in ("a", "b"):
        (place / name).write_text("before")
    return place


def aged(state, days):
    then = time.time() - days * 86_400
    for each in state.rglob("*"):
        os.utime(each, (then, then))


def holds(state, text):
    return any(text in each.read_bytes() for each in state.rglob("*") if each.is_file())


async def test_what_is_a_day_old_goes_and_the_rest_waits(tmp_path, project):
    state = tmp_path / "runs.db.hands"
    async with Engine.open(tmp_path / "runs.db", workspace=project) as engine:
        assert (await (await engine.start(writing("a", "first"))).result()).ok
        second = await engine.start(writing("b", "second"))
        assert (await second.result()).ok
        done = await engine.sweep(NOW, keep=1)
        assert (done.runs, done.hands, holds(state, b"first")) == (1, 0, True)
        aged(state, 2)
        done = await engine.sweep(NOW, keep=1)
        assert (done.runs, done.hands > 0, done.left) == (0, True, ())
        assert not holds(state, b"first")
        await engine.rollback(second.id)
        assert (await second.result()).status == "rolled_back"
    assert [(project / name).read_text() for name in ("a", "b")] == ["first", "before"]


async def test_without_a_workspace_of_its_own_what_lies_beside_the_journal_goes_too(tmp_path, project):
    state = tmp_path / "runs.db.hands"
    async with Engine.open(tmp_path / "runs.db", workspace=project) as engine:
        assert (await (await engine.start(writing("a", "first"))).result()).ok
    aged(state, 2)
    async with Engine.open(tmp_path / "runs.db") as engine:
        assert (await engine.sweep(NOW)).hands > 0
    assert not holds(state, b"first")


async def test_a_journal_in_memory_forgets_too(project):
    for workspace in (None, project):
        async with Engine.open(workspace=workspace) as engine:
            run = await engine.start(
                Plan.model_validate({"steps": [{"id": "x", "tool": "flow.echo", "with": {"value": 1}}]})
            )
            await run.result()
            assert (await engine.sweep(NOW)).runs == 1
