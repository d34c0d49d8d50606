"""E8: owners and clients in processes of their own: kills, and other users."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import control_owner
import pytest

from perdure.control import NoAnswer, NoOwner, ask, serve
from perdure.control.wire import request_line

FAR = 600
"""Seconds that nobody waits: an answer that needs them would run into the limit of the test."""


@pytest.fixture
def own(path):
    started = []

    def begin():
        process = subprocess.Popen([sys.executable, control_owner.__file__, path], stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout.readline() == "open\n"
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


async def test_the_socket_of_a_killed_owner_is_replaced(path, own):
    first = own()
    assert await ask(path, {"n": 1}) == {"pong": {"n": 1}}
    first.kill()
    first.wait()
    assert path.exists(), "it could not clean up"
    with pytest.raises(NoOwner):
        await ask(path, {"n": 2})
    own()
    assert await ask(path, {"n": 3}) == {"pong": {"n": 3}}


async def test_a_client_learns_at_once_that_the_owner_was_killed(path, own):
    owner = own()
    asking = asyncio.create_task(ask(path, {"hang": True}, FAR))
    assert await asyncio.to_thread(owner.stdout.readline) == "asked\n"
    owner.kill()
    with pytest.raises(NoAnswer, match="hung up"):
        await asyncio.wait_for(asking, FAR / 10)


async def test_an_owner_that_stands_still_is_given_up(path, own):
    owner = own()
    os.kill(owner.pid, signal.SIGSTOP)
    with pytest.raises(NoAnswer, match=r"within 0\.1 seconds"):
        await ask(path, {}, 0.1)
    os.kill(owner.pid, signal.SIGCONT)
    assert await ask(path, {"n": 1}) == {"pong": {"n": 1}}


# ------------------------------------------------------------ users

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
ALICE, BOB = 54_321, 54_322


@pytest.fixture
def open_path():
    """In a directory that everybody may use."""
    directory = Path(tempfile.mkdtemp(dir="/tmp"))  # pytest's own are closed to other users
    directory.chmod(0o1777)
    yield directory / "runs.db.sock"
    shutil.rmtree(directory)


class Child:
    """A process that does something as another user, and what it says."""

    def __init__(self, uid, work):
        reading, writing = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.close(reading)
            self._become(uid, work, writing)
        os.close(writing)
        self._pipe = os.fdopen(reading)

    @staticmethod
    def _become(uid, work, writing):
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            work(lambda said: os.write(writing, f"{said}\n".encode()))
        except BaseException as error:  # noqa: BLE001  whatever it is, the parent reads it
            os.write(writing, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(0)

    def line(self):
        return self._pipe.readline().strip()

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self._pipe.close()


@pytest.fixture
def child():
    children = []

    def begin(uid, work):
        children.append(Child(uid, work))
        return children[-1]

    yield begin
    for each in children:
        each.end()


def raw_client(path):
    """One that checks nothing itself."""

    def work(say):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(str(path))
            with suppress(ConnectionError):
                connection.sendall(request_line({"n": 1}))
            with suppress(ConnectionError):
                while said := connection.recv(10_000):
                    say(said.decode().strip())
        say("over")

    return work


def client(path):
    return lambda say: say(asyncio.run(ask(path, {"n": 1})))


def owner(path):
    async def echo(request):
        return {"uid": request.uid}

    async def own(say):
        async with serve(path, echo):
            path.chmod(0o666)
            say("open")
            await asyncio.Event().wait()

    return lambda say: asyncio.run(own(say))


@needs_root
async def test_another_user_is_refused_by_what_the_kernel_says(open_path, child):
    calls = []

    async def note(request):
        calls.append(request)
        return {}

    async with serve(open_path, note):
        open_path.chmod(0o666)
        stranger = child(ALICE, raw_client(open_path))
        assert '"code":"PRD2308"' in await asyncio.to_thread(stranger.line)
        assert await asyncio.to_thread(stranger.line) == "over"
        polite = child(ALICE, client(open_path))
        assert "user 54321 may not control" in await asyncio.to_thread(polite.line)
        assert await ask(open_path, {}) == {}
    assert len(calls) == 1


@needs_root
async def test_another_user_cannot_even_connect_to_a_private_socket(open_path, child):
    async def echo(request):
        return request.body

    async with serve(open_path, echo):
        assert "belongs to another user" in await asyncio.to_thread(child(ALICE, client(open_path)).line)


@needs_root
async def test_a_user_and_root_may_ask_a_users_owner_and_nobody_else(open_path, child):
    assert child(ALICE, owner(open_path)).line() == "open"
    assert await asyncio.to_thread(child(ALICE, client(open_path)).line) == f"{{'uid': {ALICE}}}"
    assert await ask(open_path, {}) == {"uid": 0}
    told = await asyncio.to_thread(child(BOB, client(open_path)).line)
    assert told.startswith("Stranger: the socket is held by user 54321"), "nothing is sent to a false owner"
    told = await asyncio.to_thread(child(BOB, raw_client(open_path)).line)
    assert '"code":"PRD2308"' in told


@needs_root
async def test_a_socket_that_another_user_left_is_named(open_path, child):
    assert child(ALICE, owner(open_path)).line() == "open"
    told = child(BOB, owner(open_path)).line()
    assert told.startswith("CannotListen: cannot listen at")
    assert "not permitted" in told
    assert await ask(open_path, {}) == {"uid": 0}
