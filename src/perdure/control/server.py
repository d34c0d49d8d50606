"""The owner's side: it listens, and has each request done by a function that it is given.

Clients are bounded in number, in time and in the length of their lines; what one of them gets wrong is told to that one
alone. A request that has arrived is done, whether or not its client stays to hear the answer.
"""

import asyncio
import logging
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from perdure.control.errors import Garbled, OwnerRefused, Stranger
from perdure.control.listener import listening
from perdure.control.peer import Peer, check_client, peer_of
from perdure.control.wire import Lines, error_line, reply_line, request_in
from perdure.errors import PerdureError

_log: Final = logging.getLogger("perdure.control")
_PAUSE: Final = 1.0
"""Seconds without new clients after the system could not accept one."""


class Request(NamedTuple):
    """What a client asks for. Nobody has looked into the body yet."""

    body: dict[str, Any]
    pid: int
    uid: int


Handle = Callable[[Request], Awaitable[Mapping[str, Any]]]
"""Does what a request asks for. A `PerdureError` goes to the client as it is.

It runs in the owner's event loop and is not bounded in time: it awaits, and what blocks belongs into a thread.
"""


class Limits(NamedTuple):
    """What clients may claim."""

    connections: int = 64
    """At once. Further clients wait until one of them leaves."""
    patience: float = 30.0
    """Seconds a client may take to send a line, or to take an answer."""
    grace: float = 5.0
    """Seconds that requests which are under way get to finish when the owner closes."""


@asynccontextmanager
async def serve(path: Path, handle: Handle, limits: Limits | None = None) -> AsyncGenerator[None]:
    """Listen at a path, as long as the block lasts. The caller holds the journal's lock."""
    clients = _Clients(handle, limits or Limits())
    try:
        with listening(path) as listener:
            clients.welcome(listener)
            try:
                yield
            finally:
                clients.stop()
    finally:
        await clients.close()


class _Clients:
    """Those who are connected, each with a task."""

    def __init__(self, handle: Handle, limits: Limits) -> None:
        self._handle = handle
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._listener: socket.socket | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._busy: set[asyncio.Task[None]] = set()

    # ------------------------------------------------------------ coming and going

    def welcome(self, listener: socket.socket) -> None:
        """Let clients in from now on."""
        self._listener = listener
        self._listen()

    def stop(self) -> None:
        """Let nobody in any more."""
        if self._listener is not None:
            self._loop.remove_reader(self._listener)
        self._listener = None

    async def close(self) -> None:
        """Hang up on those who ask nothing; the others get their answer first, unless it takes too long."""
        for task in self._tasks - self._busy:
            task.cancel()
        await _end_of(self._tasks, self._limits.grace)
        for task in self._tasks:
            task.cancel()
        await _end_of(self._tasks, None)

    def _listen(self) -> None:
        if self._listener is not None and len(self._tasks) < self._limits.connections:
            self._loop.add_reader(self._listener, self._accept, self._listener)

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            return
        except OSError as error:
            _log.warning("cannot accept a client: %s", error)
            self._loop.remove_reader(listener)
            self._loop.call_later(_PAUSE, self._listen)
            return
        self._meet(connection)
        if len(self._tasks) >= self._limits.connections:
            self._loop.remove_reader(listener)

    def _meet(self, connection: socket.socket) -> None:
        connection.settimeout(0)
        try:
            peer = peer_of(connection)
            check_client(peer)
        except (Stranger, OSError) as error:
            _turn_away(connection, error)
            return
        task = self._loop.create_task(self._attend(connection, peer))
        self._tasks.add(task)
        task.add_done_callback(partial(self._leave, connection))

    def _leave(self, connection: socket.socket, task: asyncio.Task[None]) -> None:
        connection.close()
        self._tasks.discard(task)
        self._busy.discard(task)
        self._listen()

    # ------------------------------------------------------------ asking and answering

    async def _attend(self, connection: socket.socket, peer: Peer) -> None:
        try:
            await self._converse(connection, peer)
        except OSError as error:  # also a timeout: it was silent, slow, or has gone
            _log.debug("client %d left: %s", peer.pid, error)

    async def _converse(self, connection: socket.socket, peer: Peer) -> None:
        lines = Lines(connection)
        try:
            while self._listener is not None and (line := await self._heard(lines)) is not None:
                with self._at_work():
                    await self._send(connection, await self._answer(line, peer))
        except Garbled as error:  # where the next line begins is not known
            await self._send(connection, error_line(error))

    @contextmanager
    def _at_work(self) -> Generator[None]:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  a coroutine runs in a task
        self._busy.add(task)
        try:
            yield
        finally:
            self._busy.discard(task)

    async def _heard(self, lines: Lines) -> bytes | None:
        async with asyncio.timeout(self._limits.patience):
            await asyncio.sleep(0)  # many lines may have come at once; others must get their turn
            return await lines.next()

    async def _send(self, connection: socket.socket, line: bytes) -> None:
        async with asyncio.timeout(self._limits.patience):
            await self._loop.sock_sendall(connection, line)

    async def _answer(self, line: bytes, peer: Peer) -> bytes:
        try:
            return await self._done(Request(request_in(line), peer.pid, peer.uid))
        except PerdureError as error:
            return error_line(error)

    async def _done(self, request: Request) -> bytes:
        try:
            return reply_line(await self._handle(request))
        except (Exception, asyncio.CancelledError) as error:
            if _is_an_answer(error) or _we_are_cancelled():
                raise
            _log.exception("a request of process %d failed", request.pid)
        raise OwnerRefused("the owner of the journal could not do it", "its log says why")


def _is_an_answer(error: BaseException) -> bool:
    """Whether a client should see the error as it is. One about our own answer would make no sense to it."""
    return isinstance(error, PerdureError) and not isinstance(error, Garbled)


def _we_are_cancelled() -> bool:
    """Whether the owner closes, as opposed to a handle that waited for something which was cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _turn_away(connection: socket.socket, error: Exception) -> None:
    _log.warning("a client was turned away: %s", error)
    with connection, suppress(OSError):
        if isinstance(error, Stranger):
            connection.send(error_line(error))


async def _end_of(tasks: set[asyncio.Task[None]], seconds: float | None) -> None:
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)
