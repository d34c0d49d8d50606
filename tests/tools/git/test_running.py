"""The process of git: bounded, and ended with all it has started."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from perdure.tools import ToolFailure
from perdure.tools.git import running
from perdure.tools.git.running import Job, program, run


@pytest.fixture
def instead(monkeypatch, tmp_path):
    """A program in the place of git."""

    def made(text):
        path = tmp_path / "git"
        path.write_text(f'#!/bin/sh\nwhile [ "$1" = -c ]; do shift 2; done\n{text}\n')
        path.chmod(0o755)
        monkeypatch.setattr(running, "program", lambda: str(path))

    return made


def said(**more):
    return asyncio.run(run(Job(("status",), Path("/"), **more)))


def test_git_is_the_systems_own():
    assert program() in running.PLACES


def test_there_is_nothing_in_its_environment_but_what_we_put_there(instead, monkeypatch):
    monkeypatch.setenv("SECRET", "x")
    instead("env")
    names = {line.partition("=")[0] for line in said(variables={"MORE": "1"}).out.decode().splitlines()}
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == {*running.ENVIRONMENT, "MORE"}


def test_what_takes_too_long_is_ended_with_all_it_has_started(instead, tmp_path):
    instead(f"sleep 600 & echo $! > {tmp_path}/pid; sleep 600")
    with pytest.raises(ToolFailure) as caught:
        said(seconds=0.3)
    assert caught.value.failure.kind == "timeout"
    time.sleep(0.1)
    pid = int((tmp_path / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2]


def test_who_is_asked_to_end_and_does_not_is_killed(instead, monkeypatch):
    monkeypatch.setattr(running, "GRACE", 0.2)
    instead("trap '' TERM; while :; do sleep 0.05; done")
    began = time.monotonic()
    with pytest.raises(ToolFailure):
        said(seconds=0.2)
    assert time.monotonic() - began < 30


def test_cancelling_ends_it(instead, tmp_path):
    instead(f"echo $$ > {tmp_path}/pid; exec sleep 600")

    async def cancelled():
        task = asyncio.create_task(run(Job(("status",), Path("/"))))
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():  # noqa: ASYNC110  a process says so by a file
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_output_has_a_bound(instead):
    instead("yes")
    with pytest.raises(ToolFailure) as caught:
        said(most=1000)
    assert caught.value.failure.kind == "invalid"
    found = said(most=1000, cut=True)
    assert (len(found.out), found.was_cut, found.code) == (1000, True, 0)


def test_complaints_are_bounded_and_do_not_hold_it_up(instead):
    instead("head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 3")
    found = said()
    assert (found.code, len(found.err)) == (3, running.SAID)


def test_input_is_bytes_or_a_file(instead, tmp_path):
    instead("cat")
    (tmp_path / "file").write_bytes(b"from a file")
    assert said(given=b"bytes").out == b"bytes"
    assert said(given=tmp_path / "file").out == b"from a file"
    assert said().out == b""
    instead("exit 0")
    assert said(given=b"x" * 1_000_000).code == 0, "nobody has to read it"


def test_a_git_that_cannot_be_started_is_unavailable(monkeypatch):
    monkeypatch.setattr(running, "program", lambda: "/nonexistent/git")
    with pytest.raises(ToolFailure) as caught:
        said()
    assert caught.value.failure.kind == "unavailable"
    monkeypatch.undo()
    monkeypatch.setattr(running, "PLACES", ())
    program.cache_clear()
    with pytest.raises(ToolFailure) as caught:
        program()
    assert caught.value.failure.detail["code"] == "PRD5205"
    program.cache_clear()
