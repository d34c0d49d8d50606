"""By which names the server is reached, and from which pages: exactly these and no others.

A page of a stranger's can have its own name lead to 127.0.0.1 (DNS rebinding): then the browser takes it for ours, but
the `Host` of its requests still is the stranger's. And a page can send requests to ours: then their `Origin` is that.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from perdure.server.head import Head
from perdure.server.refusing import ForeignHost, ForeignOrigin

_OWN: Final = ("", "none", "same-origin")
"""What a browser says of who has made it ask: nothing, the user, or a page of ours."""
_PORTS: Final = {"http": 80, "https": 443}
_ANYWHERE: Final = ("0.0.0.0", "::", "")  # noqa: S104  compared with, not listened on


@dataclass(frozen=True)
class Names:
    """Hosts, each with the URL that leads there."""

    urls: tuple[str, ...]
    _hosts: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        found = {host: f"{urlsplit(url).scheme}://{host}" for url in self.urls for host in _hosts_of(url)}
        object.__setattr__(self, "_hosts", found)

    def check(self, head: Head, *, is_public: bool) -> None:
        """Refuse what means another host, or comes from another page."""
        if head.header("host").lower() not in self._hosts:
            known = ", ".join(self.urls)
            raise ForeignHost(
                f"{head.header('host')[:200]!r} is not a name of this server", f"it is reached as {known}"
            )
        origin = head.headers.get("origin")
        if origin is not None and origin not in self._hosts.values():
            raise ForeignOrigin(f"a page of {origin[:200]!r} may not ask here")
        site = head.header("sec-fetch-site")
        if site not in _OWN and not (is_public and _is_visit(head)):
            raise ForeignOrigin(f"a page of somebody else's made the browser ask ({site[:40]})")

    def is_from_us(self, head: Head) -> bool:
        """Whether a page of ours has sent it, by the word of the browser."""
        return head.header("origin") in self._hosts.values() or head.header("sec-fetch-site") == "same-origin"

    def is_tls(self, head: Head) -> bool:
        """Whether it came through TLS, as far as the name says by which we were reached."""
        return self._hosts.get(head.header("host").lower(), "").startswith("https:")


def names_of(host: str, port: int, *, tls: bool, also: Iterable[str] = ()) -> Names:
    """The names of a server that listens on an address, and those by which it is reached from elsewhere."""
    scheme = "https" if tls else "http"
    near = ("127.0.0.1", "localhost") if host in ("127.0.0.1", "localhost") else (host, "localhost")
    hosts = ("127.0.0.1", "localhost") if host in _ANYWHERE else near
    written = (f"[{each}]" if ":" in each else each for each in hosts)
    return Names(tuple(dict.fromkeys([*(f"{scheme}://{each}:{port}" for each in written), *also])))


def _hosts_of(url: str) -> list[str]:
    """As a browser writes them: without the port where it is the usual one."""
    parts = urlsplit(url.lower())
    usual = f":{_PORTS[parts.scheme]}"
    return [parts.netloc.removesuffix(usual)]


def _is_visit(head: Head) -> bool:
    """Whether somebody follows a link to a page, which shows nothing without a session of ours."""
    return head.is_safe and head.header("sec-fetch-mode") == "navigate" and head.header("sec-fetch-dest") == "document"
