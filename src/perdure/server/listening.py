"""Listening: on this machine alone, or on others' word; and an end at which everybody gets their answer."""

import asyncio
import errno
import socket
import ssl
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import ClassVar, Final

import uvicorn

from perdure.errors import PerdureError
from perdure.server.guard import Guard

PORT: Final = 8642
LOOPBACK: Final = "127.0.0.1"
_NEAR: Final = ("localhost", LOOPBACK)
_BACKLOG: Final = 512
_LARGEST_HEAD: Final = 32_768
_CONNECTIONS: Final = 512
"""Connections at once; each takes a file descriptor, and others need some too."""


class CannotServe(PerdureError):
    """The address cannot be listened on."""

    code: ClassVar[str] = "PRD6030"
    exit_code: int = 75  # EX_TEMPFAIL: once it is free, the same command can succeed


class Exposed(PerdureError):
    """Others could reach the server, and read what goes over the wire."""

    code: ClassVar[str] = "PRD6031"
    exit_code: int = 2


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen."""

    host: str = LOOPBACK
    port: int = PORT
    certificate: Path | None = None
    private_key: Path | None = None

    @property
    def is_tls(self) -> bool:
        """Whether it speaks TLS."""
        return self.certificate is not None

    @property
    def is_near(self) -> bool:
        """Whether only this machine gets there."""
        try:
            return self.host in _NEAR or ip_address(self.host).is_loopback
        except ValueError:
            return False

    def check(self, *, is_meant: bool, has_keys: bool) -> None:
        """`Exposed` if others get there whom nobody has let in. `is_meant`: somebody has said so, without TLS."""
        if self.is_near or self.is_tls:
            return
        if not is_meant:
            told = f"others could reach {self.host}, and read keys and answers on the way"
            raise Exposed(told, "give --tls-cert and --tls-key, or say --insecure-bind if something else encrypts")
        if not has_keys:
            raise Exposed(f"others could reach {self.host}, and nobody has a key", "perdure keys new NAME --scope read")

    @contextmanager
    def bound(self) -> Generator[socket.socket]:
        """A socket that listens there, closed afterwards."""
        with self._socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((LOOPBACK if self.host in _NEAR else self.host, self.port))
                listener.listen(_BACKLOG)
            except OSError as error:
                raise self._cannot(error) from error
            yield listener

    def _socket(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # said, so that asyncio sends at once

    def _cannot(self, error: OSError) -> CannotServe:
        if error.errno == errno.EADDRINUSE:
            told = f"something listens on {self.host}:{self.port} already"
            return CannotServe(told, "stop it, or choose another port: --port 0 takes one that is free")
        return CannotServe(f"cannot listen on {self.host}:{self.port}: {error.strerror or error}", "choose another one")


class _Server(uvicorn.Server):
    """Signals are heard by whoever started us, and told when it is ready."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready: Final = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Hear none."""
        yield


def _configured(guard: Guard, address: Address, patience: float) -> uvicorn.Config:
    config = uvicorn.Config(
        guard,
        http="h11", ws="none", loop="asyncio", lifespan="off", log_config=None, access_log=False,
        proxy_headers=False, server_header=False, limit_concurrency=_CONNECTIONS,
        h11_max_incomplete_event_size=_LARGEST_HEAD, timeout_graceful_shutdown=max(1, round(patience)),
        ssl_certfile=address.certificate, ssl_keyfile=address.private_key,
    )  # fmt: skip
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        told = f"the certificate or its key cannot be used: {error}"
        raise CannotServe(told, "give PEM files that belong together, the key without a password") from error
    return config


@asynccontextmanager
async def served(guard: Guard, listener: socket.socket, address: Address, patience: float) -> AsyncGenerator[None]:
    """Serve as long as the block lasts. Then nobody new is let in, streams end, and the others get their answers."""
    server = _Server(_configured(guard, address, patience))
    serving = asyncio.create_task(server.serve([listener]))
    try:
        await server.ready.wait()
        yield
    finally:
        guard.entrance.close()
        server.should_exit = True
        await serving
