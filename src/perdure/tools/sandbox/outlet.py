"""The way out of a sandbox: a socket that listens inside and is served outside.

The first program inside opens it in the network that only the sandbox has, hands it out over a pair of sockets, and
becomes the command. So inside there is no helper, no Unix socket and nothing to attack, and outside nothing listens.
"""

import asyncio
import os
import socket
import sys
from pathlib import Path
from typing import Final

from perdure.tools.sandbox.command import PROXY_PORT, Bind, Proxying
from perdure.tools.sandbox.errors import SandboxFailed

SHIM: Final = "/run/perdure/shim.py"
PATIENCE: Final = 20.0


class Outlet:
    """Our end of the pair, and the proxy that serves the socket."""

    def __init__(self, proxy: Proxying) -> None:
        self._proxy: Final = proxy
        self._ours, self._theirs = socket.socketpair()
        self._served = False

    def start(self, theirs: list[int]) -> tuple[str, ...]:
        """What is started inside before the command; its end of the pair goes with the other descriptors."""
        number = self._theirs.detach()
        theirs.append(number)
        return (interpreter(), "-I", "-S", SHIM, str(number), str(PROXY_PORT))

    async def open(self) -> None:
        """Take the socket, serve it, and let the command begin."""
        self._ours.setblocking(False)  # noqa: FBT003  the name says it
        try:
            async with asyncio.timeout(PATIENCE):
                listening = await self._received()
        except (TimeoutError, OSError) as error:
            raise SandboxFailed(f"the sandbox has no way out: {error}") from None
        self._proxy.start(listening)
        self._served = True
        self._ours.send(b"K")

    async def _received(self) -> socket.socket:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._ours, lambda: ready.done() or ready.set_result(None))
        try:
            await ready
        finally:
            loop.remove_reader(self._ours)
        _, descriptors, _, _ = socket.recv_fds(self._ours, 1, 1)
        if not descriptors:
            raise OSError("no socket came out")
        return socket.socket(fileno=descriptors[0])

    async def close(self) -> None:
        """Let nothing more out."""
        self._ours.close()
        self._theirs.close()
        if self._served:
            await asyncio.to_thread(self._proxy.stop)


def interpreter() -> str:
    """The Python that is not of any virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


def needed() -> list[Bind]:
    """What must be there inside for our Python to run: nothing, if it is the system's own."""
    prefix = Path(sys.base_prefix).resolve()
    shim = Bind(Path(__file__).with_name("shim.py"), Path(SHIM))
    return [shim] if prefix.is_relative_to("/usr") else [shim, Bind(prefix)]
