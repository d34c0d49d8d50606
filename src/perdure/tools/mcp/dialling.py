"""Connections to servers: what the gate lets through, at an address that it has looked at.

The library that speaks HTTP names a host and gets a stream to it. It looks nothing up itself, and holds a certificate
against the name, not the address.
"""

import asyncio
import time
from collections.abc import Iterable
from typing import Any, Final, cast

import httpcore2

from perdure.tools.net import Gate, Pin
from perdure.tools.net.gate import MOST_TRIED

PATIENCE: Final = 10.0
"""Seconds to be connected, where nobody says."""


class Dialling(httpcore2.AsyncNetworkBackend):
    """Stands where the library expects a network. `ToolFailure` where the gate refuses."""

    def __init__(self, gate: Gate) -> None:
        self._gate: Final = gate
        self._inner: Final = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  the library's word
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A stream to one of the addresses that were looked at."""
        until = time.monotonic() + (PATIENCE if timeout is None else timeout)
        pin = await self._admitted(host, port, until)
        error: Exception = httpcore2.ConnectTimeout("there was no time left")
        for address in pin.addresses[:MOST_TRIED]:
            left = until - time.monotonic()
            if left <= 0:
                break
            try:
                return await self._inner.connect_tcp(address, port, left, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as failed:
                error = failed
        raise error

    async def _admitted(self, host: str, port: int, until: float) -> Pin:
        """Looking a name up takes a thread, and as long as it takes; nobody waits for it longer than for the rest."""
        written = f"[{host}]" if ":" in host else host
        try:
            async with asyncio.timeout(max(0.0, until - time.monotonic())):
                return await asyncio.to_thread(self._gate.admit, written, port)
        except TimeoutError:
            raise httpcore2.ConnectTimeout(f"{written} was not looked up in time") from None

    async def connect_unix_socket(self, path: str, *_: Any, **__: Any) -> httpcore2.AsyncNetworkStream:
        """None: a server has a host."""
        raise httpcore2.UnsupportedProtocol(f"{path} is no host")

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
