import socket

import pytest

from perdure.control.address import address_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db.sock"


@pytest.fixture
def connect(path):
    """A client that may write what it likes."""
    opened = []

    def begin():
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        opened.append(connection)
        with address_of(path) as address:
            connection.connect(address)
        connection.settimeout(0)
        return connection

    yield begin
    for connection in opened:
        connection.close()
