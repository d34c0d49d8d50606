"""The proxy: the only way out of a sandbox.

It accepts on a socket that was handed to it, and lets through what the gate does. It looks into no tunnel.
"""

import contextlib
import select
import socket
import threading
import time
from dataclasses import dataclass
from typing import Final

from perdure.core.policy import Deed, Judgement
from perdure.tools.failure import ToolFailure
from perdure.tools.guard import Unapproved
from perdure.tools.net.gate import Gate, dial
from perdure.tools.net.head import LARGEST, Head, Malformed, head_of

PIECE: Final = 65_536
LOOK: Final = 0.2
"""Seconds between two looks at whether it should stop."""
STOPPING: Final = 2.0
"""Seconds for connections to notice that it has stopped."""
_FORBIDDEN: Final = "403 Forbidden"
_BUSY: Final = "503 Service Unavailable"
_UNREACHABLE: Final = "502 Bad Gateway"


@dataclass(frozen=True, slots=True)
class Caps:
    """How much may pass."""

    at_once: int = 32
    """Connections at the same time."""
    connections: int = 10_000
    """Connections in all."""
    bytes: int = 1_000_000_000
    """Bytes in all, both ways."""
    head_seconds: float = 10.0
    """For a request to be written."""
    dial_seconds: float = 15.0
    idle_seconds: float = 120.0
    """Without a byte either way."""
    seconds: float = 3_600.0
    """For one connection."""


class Proxy:
    """Started once, stopped once. Connections are served in threads of their own."""

    def __init__(self, gate: Gate, caps: Caps | None = None) -> None:
        self._gate: Final = gate
        self._caps: Final = caps or Caps()
        self._stopped: Final = threading.Event()
        self._lock: Final = threading.Lock()
        self._live: dict[threading.Thread, list[socket.socket]] = {}
        self._accepting: threading.Thread | None = None
        self._accepted = 0
        self._bytes = 0

    @property
    def judged(self) -> tuple[Judgement, ...]:
        """What was said about each connection, the strict verdicts first."""
        return self._gate.judged

    @property
    def passed(self) -> int:
        """Bytes that went through, both ways."""
        return self._bytes

    def start(self, listener: socket.socket) -> None:
        """Accept on a listening socket; from now on it is the proxy's to close."""
        listener.settimeout(LOOK)
        self._accepting = threading.Thread(target=self._accept, args=(listener,), name="perdure-proxy", daemon=True)
        self._accepting.start()

    def stop(self) -> None:
        """Hang up everywhere. When this returns, nothing passes any more."""
        self._stopped.set()
        with self._lock:
            live = {thread: list(sockets) for thread, sockets in self._live.items()}
        for each in (each for sockets in live.values() for each in sockets):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        until = time.monotonic() + STOPPING
        for thread in filter(None, (self._accepting, *live)):
            thread.join(max(0.0, until - time.monotonic()))

    def _accept(self, listener: socket.socket) -> None:
        with listener:
            while not self._stopped.is_set():
                try:
                    client, _ = listener.accept()
                except TimeoutError:
                    continue
                except OSError:
                    return  # the namespace it lived in is gone
                self._begin(client)

    def _begin(self, client: socket.socket) -> None:
        """Turn it away if there are too many; a thread of its own otherwise."""
        thread = threading.Thread(target=self._serve, args=(client,), name="perdure-proxy-one", daemon=True)
        with self._lock:
            self._accepted += 1
            is_too_much = len(self._live) >= self._caps.at_once or self._accepted > self._caps.connections
            if not is_too_much:
                self._live[thread] = [client]
        if is_too_much:
            _answer(client, _BUSY, "too many connections")
            client.close()
        else:
            thread.start()

    def _serve(self, client: socket.socket) -> None:
        try:
            with client:
                self._one(client)
        except OSError:
            pass  # one of both has hung up
        finally:
            with self._lock:
                del self._live[threading.current_thread()]

    def _one(self, client: socket.socket) -> None:
        try:
            head, rest = _read_head(client, time.monotonic() + self._caps.head_seconds)
        except Malformed as why:
            self._gate.refuse(Deed("connect", "?"), str(why))
            _answer(client, why.status, str(why))
            return
        far = self._reached(client, head)
        if far is None:
            return
        with far:
            self._note(far)
            if head.is_tunnel:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                far.sendall(head.onward())
            self._relay(client, far, rest, None if head.is_tunnel else head.length)

    def _reached(self, client: socket.socket, head: Head) -> socket.socket | None:
        try:
            pin = self._gate.admit(head.host, head.port)
            return dial(pin, self._caps.dial_seconds)
        except Unapproved as asked:
            _answer(client, _FORBIDDEN, str(asked))
        except ToolFailure as failure:
            _answer(client, _FORBIDDEN if failure.failure.kind == "denied" else _UNREACHABLE, str(failure))
        return None

    def _note(self, far: socket.socket) -> None:
        with self._lock:
            self._live[threading.current_thread()].append(far)
        if self._stopped.is_set():
            raise OSError("the proxy was stopped meanwhile")

    # ------------------------------------------------------------ bytes

    def _relay(self, client: socket.socket, far: socket.socket, rest: bytes, room: int | None) -> None:
        """Hand on what comes from either side. `room`: bytes of the client's that still belong to its one request."""
        until = time.monotonic() + self._caps.seconds
        rest = rest if room is None else rest[:room]
        self._pass(far, rest)
        room = None if room is None else room - len(rest)
        open_ = {client, far} if room != 0 else {far}
        while far in open_ and time.monotonic() < until:
            ready = self._ready(open_)
            if not ready:
                return
            for each in ready:
                piece = each.recv(PIECE if each is far or room is None else min(PIECE, room))
                self._pass(client if each is far else far, piece)
                room = room - len(piece) if each is client and room is not None else room
                if not piece or (each is client and room == 0):
                    open_.discard(each)
                    _end_of(each, client, far, is_tunnel=room is None)

    def _ready(self, open_: set[socket.socket]) -> list[socket.socket]:
        """Those that have something to say. `select` itself would not do: it knows no number above 1,023."""
        until = time.monotonic() + self._caps.idle_seconds
        poll, by_number = select.poll(), {each.fileno(): each for each in open_}
        for number in by_number:
            poll.register(number, select.POLLIN)
        while time.monotonic() < until and not self._stopped.is_set():
            if ready := poll.poll(LOOK * 1000):
                return [by_number[number] for number, _ in ready]
        return []

    def _pass(self, to: socket.socket, piece: bytes) -> None:
        with self._lock:
            self._bytes += len(piece)
            is_too_much = self._bytes > self._caps.bytes
        if is_too_much:
            raise OSError(f"more than {self._caps.bytes:,} bytes")
        to.settimeout(self._caps.idle_seconds)
        to.sendall(piece)


def _end_of(each: socket.socket, client: socket.socket, far: socket.socket, *, is_tunnel: bool) -> None:
    """Tell the other side that no more comes from here."""
    if each is far or is_tunnel:
        with contextlib.suppress(OSError):
            (client if each is far else far).shutdown(socket.SHUT_WR)


def _read_head(client: socket.socket, until: float) -> tuple[Head, bytes]:
    """The head of a request, and what has come of the rest."""
    data = b""
    while b"\r\n\r\n" not in data:
        if len(data) > LARGEST:
            raise Malformed("the head is too long", "431 Request Header Fields Too Large")
        piece = _piece(client, until)
        if not piece:
            raise Malformed("the head has no end", "408 Request Timeout")
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    if len(head) > LARGEST:
        raise Malformed("the head is too long", "431 Request Header Fields Too Large")
    return head_of(head), rest


def _piece(client: socket.socket, until: float) -> bytes:
    """Some of what comes; nothing if the time is up."""
    client.settimeout(max(0.001, until - time.monotonic()))
    try:
        return client.recv(PIECE)
    except TimeoutError:
        return b""


def _answer(client: socket.socket, status: str, why: str) -> None:
    """Say no, and why: whoever asked may be able to do better."""
    body = f"perdure: {why}\n".encode()
    lines = [f"HTTP/1.1 {status}", "Content-Type: text/plain; charset=utf-8", f"Content-Length: {len(body)}"]
    head = "\r\n".join([*lines, "Connection: close", "", ""])
    with contextlib.suppress(OSError):
        client.settimeout(LOOK)
        client.sendall(head.encode() + body)
