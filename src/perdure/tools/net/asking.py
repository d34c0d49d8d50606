"""One request on one connection, to an address that was looked at."""

import http.client
import os
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from perdure.tools.failure import Kind, ToolFailure
from perdure.tools.net.answer import Answer, Unreadable, read_answer
from perdure.tools.net.gate import Gate, dial
from perdure.tools.net.url import Url
from perdure.tools.net.wire import Wire

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing on the other side."""
CONNECTING: Final = 15.0
"""The most seconds that a connection may take to come about."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A request, whatever it is sent to."""

    method: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None

    @property
    def is_safe(self) -> bool:
        """Whether it can be sent again without harm."""
        return self.method in SAFE


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long and how much."""

    until: float
    """A moment of the monotonic clock."""
    most: int
    """Bytes of a body, after decompression."""
    is_cancelled: Callable[[], bool] = lambda: False


def ask(gate: Gate, asking: Asking, url: Url, bounds: Bounds) -> Answer:
    """Send a request and read the answer.

    `ToolFailure`: `denied` and `unavailable` before anything was sent; after that `timeout` and, for what changes
    something, `in_doubt`.
    """
    wire = _wired(gate, url, bounds)
    try:
        return _exchanged(wire, asking, url, bounds)
    except TimeoutError:
        raise _cut_off(wire, asking, url, "timeout", "no whole answer in time") from None
    except (OSError, http.client.HTTPException, Unreadable) as error:
        kind = "transient" if asking.is_safe else "in_doubt"
        raise _cut_off(wire, asking, url, kind, f"the answer broke off: {_told(error)}") from None
    finally:
        wire.hang_up()


def _cut_off(wire: Wire, asking: Asking, url: Url, kind: Kind, why: str) -> ToolFailure:
    where = f"{asking.method} {url.scheme}://{url.authority}"
    if not wire.has_sent:
        return ToolFailure("unavailable", f"{where}: nothing was sent: {why}")
    doubt = "" if asking.is_safe else "; the request was sent, and may have had its effect"
    return ToolFailure(kind, f"{where}: {why}{doubt}")


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _wired(gate: Gate, url: Url, bounds: Bounds) -> Wire:
    pin = gate.admit(url.host, url.port)
    left = bounds.until - time.monotonic()
    sock = dial(pin, max(0.0, min(CONNECTING, left)))
    if url.scheme == "http":
        return Wire(sock, bounds.until, bounds.is_cancelled)
    try:
        return Wire(_context().wrap_socket(sock, server_hostname=pin.name), bounds.until, bounds.is_cancelled)
    except ssl.SSLCertVerificationError as error:
        sock.close()
        raise ToolFailure("denied", f"{url.authority} is not who it should be: {error.verify_message}") from None
    except OSError as error:
        sock.close()
        raise ToolFailure("unavailable", f"{url.authority} speaks no TLS with us: {_told(error)}") from None


def _context() -> ssl.SSLContext:
    return _trusting(os.environ.get("SSL_CERT_FILE", ""), os.environ.get("SSL_CERT_DIR", ""))


@lru_cache(maxsize=8)
def _trusting(_file: str, _directory: str) -> ssl.SSLContext:
    """Made anew when the places of trusted certificates change."""
    return ssl.create_default_context()


def _exchanged(wire: Wire, asking: Asking, url: Url, bounds: Bounds) -> Answer:
    connection = http.client.HTTPConnection(url.host.strip("[]"), url.port)
    connection.auto_open = 0  # else it would look the name up and dial by itself
    connection.sock = wire  # pyright: ignore[reportAttributeAccessIssue]  all of a socket that it uses
    connection.putrequest(asking.method, url.target, skip_host=True, skip_accept_encoding=True)
    for name, value in _headers(asking, url).items():
        connection.putheader(name, value.encode())
    connection.endheaders(asking.body or None)
    with connection.getresponse() as response:
        return read_answer(response, url, bounds.most)


def _headers(asking: Asking, url: Url) -> dict[str, str]:
    length = {} if asking.body is None else {"Content-Length": str(len(asking.body))}
    ours = {"Host": url.authority, "Accept-Encoding": "gzip, deflate", "Connection": "close"}
    return {**ours, **asking.headers, **length}
