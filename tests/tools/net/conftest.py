import contextlib
import socket

import pytest
from servers import Server

from perdure.tools.net import Proxy


@pytest.fixture
def serve():
    """Start servers that are gone after the test."""
    with contextlib.ExitStack() as closing:

        def start(answer, **settings):
            server = Server(answer, **settings)
            closing.callback(server.close)
            return server

        yield start


@pytest.fixture
def proxied():
    """Start a proxy on a gate; what is returned opens connections to it."""
    with contextlib.ExitStack() as closing:

        def start(gate, caps=None):
            listener = socket.create_server(("127.0.0.1", 0))
            address = listener.getsockname()
            proxy = Proxy(gate, caps)
            proxy.start(listener)
            closing.callback(proxy.stop)

            def connect():
                sock = socket.create_connection(address, timeout=10)
                closing.callback(sock.close)
                return sock

            return proxy, connect

        yield start
