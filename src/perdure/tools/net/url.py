"""Addresses of the web, read in one strict way: whatever two programs could read differently is refused."""

import re
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import quote, urljoin

from perdure.core.deeds import is_host, is_port
from perdure.tools.failure import ToolFailure

Scheme = Literal["http", "https"]
PORTS: Final[dict[str, int]] = {"http": 80, "https": 443}
LONGEST: Final = 8_192
SHOWN: Final = 200
_URL: Final = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<target>[^#]*)(#.*)?", re.IGNORECASE)
_AUTHORITY: Final = re.compile(r"(?P<host>\[[^\[\]]*\]|[^:\[\]]*)(:(?P<port>[0-9]*))?")
_UNFIT: Final = re.compile(r"[\x00-\x20\x7f\\\"<>^`{|}]")
_VISIBLE: Final = "".join(map(chr, range(0x21, 0x7F)))


@dataclass(frozen=True, slots=True)
class Url:
    """Where a request goes, and what it asks for."""

    scheme: Scheme
    host: str
    port: int
    target: str
    """Path and query, in ASCII."""

    @property
    def authority(self) -> str:
        """Host and port, as they stand in a URL."""
        return self.host if self.port == PORTS[self.scheme] else f"{self.host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        """What cookies and credentials belong to."""
        return (self.scheme, self.host, self.port)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"

    def beside(self, location: str) -> "Url":
        """Where a redirect from here leads."""
        plain = location.strip(" \t")
        if _UNFIT.search(plain):  # joining would take some of it away without a word
            raise _unfit(plain, "it is where a redirect leads")
        return url_of(urljoin(str(self), plain))


def url_of(text: str) -> Url:
    """Read a URL; `ToolFailure` says what is wrong with it."""
    found = _URL.fullmatch(text) if len(text) <= LONGEST and not _UNFIT.search(text) else None
    if found is None:
        raise _unfit(
            text, "write http:// or https://, a host and a path, at most 8,192 letters; percent-encode the rest"
        )
    scheme: Scheme = "https" if found["scheme"].lower() == "https" else "http"
    host, port = _host_and_port(text, found["authority"], scheme)
    target = quote(found["target"], safe=_VISIBLE)
    return Url(scheme, host, port, target if target.startswith("/") else "/" + target)


def _host_and_port(text: str, authority: str, scheme: str) -> tuple[str, int]:
    if "@" in authority:
        raise _unfit(text, "leave out user and password; send them in a header")
    found = _AUTHORITY.fullmatch(authority)
    if found is None or not authority.isascii() or not is_host(found["host"].lower()):
        raise _unfit(
            text,
            "a host is a name in ASCII (others begin with xn--) without a dot at its end, or a plain address",
        )
    port = found["port"]
    if port is not None and not is_port(port):
        raise _unfit(text, "a port is a number from 1 to 65535")
    return found["host"].lower(), int(port) if port else PORTS[scheme]


def _unfit(text: str, hint: str) -> ToolFailure:
    return ToolFailure("invalid", f"{text[:SHOWN]!r} is no URL that can be asked: {hint}")


def with_query(text: str, query: dict[str, Any]) -> str:
    """The URL with more in its query."""
    if not query:
        return text
    pairs = "&".join(f"{quote(key, safe='')}={quote(_written(value), safe='')}" for key, value in query.items())
    plain, hash_, fragment = text.partition("#")
    return f"{plain}{'&' if '?' in plain else '?'}{pairs}{hash_}{fragment}"


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
