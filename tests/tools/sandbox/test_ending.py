"""Ends that are certain, also where the kernel, the warden or a supervisor does not do what it should."""

import asyncio
import os
import signal
import subprocess
from pathlib import Path

import pytest

from perdure.tools.sandbox import Command, SandboxFailed, ending, sandboxed, spawn
from perdure.tools.sandbox.ending import Held
from perdure.tools.sandbox.warden import Warden


@pytest.fixture
def sleeper():
    with subprocess.Popen(["/bin/sleep", "600"]) as process:
        yield process
        process.kill()


async def test_who_is_still_there_after_the_time_is_not_gone(sleeper):
    held = Held(sleeper.pid)
    assert await held.gone(0.01) is False
    sleeper.kill()
    assert await held.gone() is True
    held.close()


async def test_a_process_that_cannot_be_killed_is_told(monkeypatch):
    """Stuck in the kernel, where no signal comes to."""
    process = await spawn(Command(["sleep", "600"]))
    first = os.dup(process._held.descriptor)
    with monkeypatch.context() as stuck:
        stuck.setattr(signal, "pidfd_send_signal", lambda *_: None)
        stuck.setattr(ending, "GRACE", 0.05)
        with pytest.raises(SandboxFailed, match="a process could not be killed"):
            await process.close()
    signal.pidfd_send_signal(first, signal.SIGKILL)
    os.close(first)
    await sandboxed._returned(process._process)


async def test_a_supervisor_that_does_not_end_is_killed(monkeypatch):
    process = await spawn(Command(["sleep", "0.1"], tier="none"))
    monkeypatch.setattr(sandboxed, "PATIENCE", 0.2)
    os.kill(process._process.pid, signal.SIGSTOP)
    await process.close()
    assert process.code == 128 + signal.SIGKILL


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_without_a_descriptor_to_be_had_nothing_is_begun(monkeypatch):
    def none_left(_):
        raise OSError(24, "Too many open files")

    before = open_files()
    with monkeypatch.context() as patched:
        patched.setattr(os, "pipe2", none_left)
        with pytest.raises(OSError, match="Too many open files"):
            await spawn(Command(["true"]))
    assert open_files() == before


async def test_a_sandbox_that_fails_and_holds_its_pipe_keeps_nobody_waiting(monkeypatch):
    """Its last words are waited for, and not for ever."""

    def refused(*_):
        raise OSError(1, "no limits here")

    monkeypatch.setattr(sandboxed, "confine", refused)
    monkeypatch.setattr(sandboxed, "GRACE", 0.1)
    with pytest.raises(SandboxFailed, match=r"could not be set up: .*no limits here"):
        await spawn(Command(["sleep", "600"]))


def test_a_warden_that_was_killed_is_followed_by_another(sleeper):
    warden, held = Warden(), os.pidfd_open(sleeper.pid)
    warden.entrust(held)
    first = warden._pid
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    warden.entrust(held)
    assert warden._pid != first
    warden._socket.close()  # as when we end
    assert sleeper.wait() == -signal.SIGKILL
    os.waitpid(warden._pid, 0)
    os.close(held)


def test_without_a_warden_nothing_is_entrusted(monkeypatch, sleeper):
    real = os.posix_spawn

    def dies(_path, _words, env, **more):
        pid = real("/bin/false", ["false"], env, **more)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        return pid

    monkeypatch.setattr(os, "posix_spawn", dies)
    warden, held = Warden(), os.pidfd_open(sleeper.pid)
    with pytest.raises(OSError, match="no warden can be started"):
        warden.entrust(held)
    os.waitpid(warden._pid, 0)
    warden._socket.close()
    os.close(held)


async def test_what_was_begun_is_brought_to_its_end_before_a_cancel_is_heard():
    done = []

    async def work():
        await asyncio.sleep(0.02)
        done.append("done")

    task = asyncio.create_task(ending.surely(work()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["done"]
