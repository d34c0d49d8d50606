"""How a path becomes an address that the kernel takes."""

import socket
from pathlib import Path

import pytest

from perdure.control import socket_of
from perdure.control.address import address_of


def test_the_socket_lies_beside_the_journal(tmp_path, monkeypatch):
    (tmp_path / "runs.db").touch()
    (tmp_path / "link.db").symlink_to("runs.db")
    monkeypatch.chdir(tmp_path)
    assert socket_of("link.db") == socket_of(tmp_path / "runs.db") == tmp_path.resolve() / "runs.db.sock"


@pytest.mark.parametrize(("length", "as_it_is"), [(106, True), (107, True), (108, False), (240, False)])
@pytest.mark.parametrize("letter", ["d", "ä"])
def test_a_path_may_just_fit_or_just_not(tmp_path, monkeypatch, length, as_it_is, letter):
    monkeypatch.chdir(tmp_path)
    bytes_for_it = length - len("/s.sock")
    name = letter * (bytes_for_it // len(letter.encode()))
    path = Path(name + "d" * (bytes_for_it - len(name.encode())), "s.sock")
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, address_of(path) as address:
        assert (address == str(path)) is as_it_is
        listener.bind(address)
    assert path.is_socket()
