"""The socket file: who may touch it, what it replaces, and what it never removes."""

import os
import socket
import stat
from pathlib import Path

import pytest

from perdure.control import CannotListen, NameTooLong, NoOwner, ask, serve
from perdure.control.address import address_of


async def echo(request):
    return {"echo": request.body}


def open_files():
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.fixture
def no_umask():
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("no_umask")
async def test_it_is_private_whatever_the_umask(path, monkeypatch):
    modes = []
    listen = socket.socket.listen

    def look_first(self, *arguments):
        modes.append(stat.S_IMODE(path.stat().st_mode))
        listen(self, *arguments)

    monkeypatch.setattr(socket.socket, "listen", look_first)
    async with serve(path, echo):
        modes.append(stat.S_IMODE(path.stat().st_mode))
    assert modes == [0o600, 0o600]


async def test_it_is_gone_when_the_owner_closes(path):
    async with serve(path, echo):
        assert stat.S_ISSOCK(path.lstat().st_mode)
    assert not path.exists()
    async with serve(path, echo):
        assert await ask(path, {}) == {"echo": {}}


async def test_what_another_owner_has_put_there_is_not_removed(path):
    async with serve(path, echo):
        path.unlink()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other, address_of(path) as address:
            other.bind(address)
        theirs = path.stat().st_ino
    assert path.stat().st_ino == theirs


async def test_a_file_in_the_way_is_left_alone(path):
    path.write_text("mine")
    with pytest.raises(CannotListen, match="not a socket"):
        async with serve(path, echo):
            pytest.fail("it listens")
    assert path.read_text() == "mine"


@pytest.mark.parametrize("target", ["file", "socket", "nothing"])
async def test_a_link_in_the_way_is_left_alone(path, tmp_path, target):
    (tmp_path / "file").write_text("mine")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other, address_of(tmp_path / "socket") as address:
        other.bind(address)
    path.symlink_to(target)
    before = sorted(each.name for each in tmp_path.iterdir())
    with pytest.raises(CannotListen, match="not a socket"):
        async with serve(path, echo):
            pytest.fail("it listens")
    assert path.is_symlink()
    assert sorted(each.name for each in tmp_path.iterdir()) == before


async def test_a_directory_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "nowhere" / "runs.db.sock"
    with pytest.raises(CannotListen, match=r"nowhere.*No such file"):
        async with serve(path, echo):
            pytest.fail("it listens")


async def test_a_path_may_be_long(tmp_path):
    deep = tmp_path / ("deep" * 40) / ("er" * 100)
    deep.mkdir(parents=True)
    path = deep / "runs.db.sock"
    files = open_files()
    with pytest.raises(NoOwner):
        await ask(path, {})
    async with serve(path, echo):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert await ask(path, {"n": 1}) == {"echo": {"n": 1}}
    assert list(deep.iterdir()) == []
    assert open_files() == files, "no descriptor was left open"


async def test_a_name_that_is_too_long_is_refused_on_both_sides(tmp_path):
    path = tmp_path / ("n" * 200 + ".sock")
    with pytest.raises(NameTooLong):
        await ask(path, {})
    with pytest.raises(NameTooLong):
        async with serve(path, echo):
            pytest.fail("it listens")
    assert list(tmp_path.iterdir()) == []
