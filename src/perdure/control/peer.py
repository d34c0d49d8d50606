"""Who is on the other side of a socket, by the word of the kernel."""

import os
import socket
import struct
from typing import Final, NamedTuple

from perdure.control.errors import Stranger

ROOT: Final = 0
_HELP: Final = "do it as the user who owns the journal"
_CREDENTIALS: Final = struct.Struct("iII")


class Peer(NamedTuple):
    """A process and its user, at the time it connected or began to listen."""

    pid: int
    uid: int


def peer_of(connection: socket.socket) -> Peer:
    """The other side."""
    told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(told)
    return Peer(pid, uid)


def check_client(peer: Peer) -> None:
    """Raise unless the client belongs to our user, or to root."""
    if peer.uid not in (os.geteuid(), ROOT):
        raise Stranger(f"user {peer.uid} may not control a journal of user {os.geteuid()}", _HELP)


def check_owner(peer: Peer) -> None:
    """Raise unless the owner belongs to our user, or to root, or we are root: root may talk to everybody."""
    if peer.uid not in (os.geteuid(), ROOT) and os.geteuid() != ROOT:
        raise Stranger(f"the socket is held by user {peer.uid}, and we are user {os.geteuid()}", _HELP)
