"""The gate: every connection is judged by name, looked up once, and made to an address that was looked at.

Laws, held by the tests:

1. A host is written in one way or not at all; what was judged is what is dialled.
2. A name is resolved once. If one of its addresses is not public, none is dialled.
3. Behind our own walls lies only what the outermost layer names: an address by itself, or `localhost`. Any other name
   leads there only if the address is named too.
4. Where this process listens itself nobody is let to, whatever is named.
"""

import socket
import threading
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from perdure.core.deeds import is_host, is_ipv4
from perdure.core.policy import Deed, Judgement
from perdure.tools.failure import ToolFailure
from perdure.tools.guard import Guard
from perdure.tools.net.addresses import Resolve, is_loopback, is_public, resolved
from perdure.tools.net.ours import is_ours

MOST_TRIED: Final = 4
"""Addresses of one name that are dialled, one after the other."""
LOCALHOST: Final = "localhost"
SHOWN: Final = 200
_BY: Final = "perdure"


@dataclass(frozen=True, slots=True)
class Pin:
    """A host that may be reached, and the addresses where."""

    host: str
    """As it was judged; an IPv6 address in brackets."""
    port: int
    addresses: tuple[str, ...]

    @property
    def name(self) -> str:
        """As a certificate names it."""
        return self.host.strip("[]")


class Gate:
    """Lets connections through, or refuses them with `ToolFailure`. May be used from any thread."""

    def __init__(self, guard: Guard, resolve: Resolve = resolved) -> None:
        self._guard: Final = guard
        self._resolve: Final = resolve
        self._lock: Final = threading.Lock()

    @property
    def judged(self) -> tuple[Judgement, ...]:
        """What was said about connections, the strict verdicts first."""
        with self._lock:
            return tuple(each for each in self._guard.judged if each.deed.kind == "connect")

    def admit(self, host: str, port: int) -> Pin:
        """Judge a connection and find its addresses. Also `Unapproved`, if a person has to agree first."""
        return Pin(host, port, tuple(self._addresses(self._judged(host, port), host, port)))

    def foresee(self, host: str, port: int) -> None:
        """Judge a connection that is not made, as far as that goes without asking anybody for its address."""
        deed = self._judged(host, port)
        if host == LOCALHOST or _is_address(host):
            self._addresses(deed, host, port)

    def _judged(self, host: str, port: int) -> Deed:
        deed = Deed("connect", f"{host}:{port}"[:SHOWN])
        if not is_host(host):
            raise self.refuse(deed, f"{host[:SHOWN]!r} is no host")
        with self._lock:
            self._guard.check([deed])
        return deed

    def _addresses(self, deed: Deed, host: str, port: int) -> list[str]:
        found = self._found(deed, host, port)
        if any(is_ours(each, port) for each in found):
            raise self.refuse(deed, f"{deed.what} leads to Perdure itself, and nothing that a run does may ask it")
        return found

    def _found(self, deed: Deed, host: str, port: int) -> list[str]:
        named = self._guard.names(deed)
        if _is_address(host):
            return self._checked(deed, [host.strip("[]")], anywhere=named)
        found = self._looked_up(host, port)
        if host == LOCALHOST and named and all(map(is_loopback, found)):
            return found
        return self._checked(deed, found)

    def _looked_up(self, host: str, port: int) -> list[str]:
        try:
            found = list(self._resolve(host, port))
        except (OSError, UnicodeError) as error:
            raise ToolFailure("unavailable", f"{host} has no address: {error}") from None
        if not found:
            raise ToolFailure("unavailable", f"{host} has no address")
        return found

    def _checked(self, deed: Deed, addresses: list[str], *, anywhere: bool = False) -> list[str]:
        port = deed.what.rpartition(":")[2]
        inner = (
            [] if anywhere else [each for each in addresses if not is_public(each) and not self._may_reach(each, port)]
        )
        if not inner:
            return addresses
        raise self.refuse(
            deed,
            f"{deed.what} leads to {inner[0]}, which is not public; to reach it, "
            f"let your own policy allow the address itself, as in {_written(inner[0])}:{port}",
        )

    def _may_reach(self, address: str, port: str) -> bool:
        """Whether an address may be reached in its own right, so that it does not matter by which name."""
        deed = Deed("connect", f"{_written(address)}:{port}")
        with self._lock:
            return self._guard.names(deed) and self._guard.verdict(deed).verdict == "allow"

    def refuse(self, deed: Deed, why: str) -> ToolFailure:
        """Write down that a connection was refused for what it is; the failure to raise."""
        with self._lock:
            self._guard.note(Judgement(deed, "deny", _BY, why))
        return ToolFailure("denied", why)


class Pinned(Gate):
    """A gate for one host of one deed: looked up and judged once, and every connection goes there."""

    def __init__(
        self, guard: Guard, host: str, port: int, known: Collection[str] = (), resolve: Resolve = resolved
    ) -> None:
        """`known`: addresses that this very deed was let to before, when the rules were asked."""
        super().__init__(guard, resolve)
        self._known: Final = frozenset(known)
        self.pin: Final = super().admit(host, port)

    def admit(self, host: str, port: int) -> Pin:
        """The pin, if this is its host."""
        if (host, port) != (self.pin.host, self.pin.port):
            raise self.refuse(Deed("connect", f"{host}:{port}"[:SHOWN]), f"only {self.pin.host} is to be reached")
        return self.pin

    def _may_reach(self, address: str, port: str) -> bool:
        return address in self._known or super()._may_reach(address, port)


def _is_address(host: str) -> bool:
    return is_ipv4(host) or host.startswith("[")


def _written(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def dial(pin: Pin, seconds: float) -> socket.socket:
    """A connection to one of the addresses that were looked at; nothing has been sent. `ToolFailure`: there is none."""
    until = time.monotonic() + seconds
    error: OSError | None = None
    for address in pin.addresses[:MOST_TRIED]:
        left = until - time.monotonic()
        if left <= 0:
            break
        try:
            return _connected(address, pin.port, left)
        except OSError as failed:
            error = failed
    why = (error.strerror or str(error)) if error else f"no answer within {seconds:g} seconds"
    raise ToolFailure("unavailable", f"{pin.host}:{pin.port} cannot be reached: {why}")


def _connected(address: str, port: int, seconds: float) -> socket.socket:
    """By number: nothing is looked up again."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.settimeout(seconds)
        sock.connect((address, port))
    except BaseException:
        sock.close()
        raise
    return sock
