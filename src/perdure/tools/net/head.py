"""The head of a request to the proxy, read in one strict way. What is not written plainly is refused."""

import re
from dataclasses import dataclass
from typing import Final

from perdure.core.deeds import is_host, is_port

LARGEST: Final = 32 * 1024
"""Bytes of a head."""
MOST_HEADERS: Final = 100
_TOKEN: Final = rb"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}"
_LINE: Final = re.compile(rb"(" + _TOKEN + rb") ([\x21-\x7e]{1,8192}) HTTP/1\.([01])")
_HEADER: Final = re.compile(rb"(" + _TOKEN + rb"):[ \t]*([\x20-\x7e\x80-\xff\t]*)")
_ABSOLUTE: Final = re.compile(r"http://([^/?#@\\]*)([/?][^#\\]*)?")
_ONCE: Final = frozenset({"host", "content-length", "transfer-encoding"})
_BETWEEN_TWO: Final = frozenset(
    {"connection", "keep-alive", "te", "trailer", "upgrade", "transfer-encoding", "proxy-connection"}
)
"""Headers that are about one connection, and go no further."""


class Malformed(Exception):
    """The request is refused for how it is written; with a status for the one who wrote it."""

    def __init__(self, why: str, status: str = "400 Bad Request") -> None:
        super().__init__(why)
        self.status: Final = status


@dataclass(frozen=True, slots=True)
class Head:
    """What a client of the proxy asks for."""

    method: str
    host: str
    port: int
    target: str
    """Path and query; empty for a tunnel."""
    headers: tuple[tuple[str, str], ...]
    length: int = 0
    """Bytes of body that follow."""

    @property
    def is_tunnel(self) -> bool:
        """Whether bytes are handed on as they are."""
        return not self.target

    def onward(self) -> bytes:
        """The head as the far side gets it."""
        kept = [(name, value) for name, value in self.headers if _goes_on(name)]
        port = "" if self.port == 80 else f":{self.port}"  # noqa: PLR2004  the port of http
        lines = [f"{self.method} {self.target} HTTP/1.1", f"Host: {self.host}{port}", "Connection: close"]
        return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in kept), "", ""]).encode("latin-1")


def _goes_on(name: str) -> bool:
    return name.lower() not in {"host", *_BETWEEN_TWO} and not name.lower().startswith("proxy-")


def head_of(data: bytes) -> Head:
    """Read a head, without the empty line at its end. `Malformed` says what is wrong."""
    first, *rest = data.split(b"\r\n")
    line = _LINE.fullmatch(first)
    if line is None:
        raise Malformed("the request line is not `METHOD target HTTP/1.1`")
    headers = _headers(rest)
    method, target = line[1].decode(), line[2].decode()
    if method.upper() == "CONNECT":
        host, port = _authority(target, "")
        found = Head(method, host, port, "", headers)
    elif line[3] == b"1":
        found = _plain(method, target, headers)
    else:
        raise Malformed("HTTP/1.0 is spoken for CONNECT alone", "505 HTTP Version Not Supported")
    _compare_hosts(found, is_needed=line[3] == b"1")
    return found


def _plain(method: str, target: str, headers: tuple[tuple[str, str], ...]) -> Head:
    url = _ABSOLUTE.fullmatch(target)
    if url is None:
        raise Malformed("only CONNECT host:port and http://host/path are understood here")
    host, port = _authority(url[1], "80")
    path = url[2] or "/"
    return Head(method, host, port, path if path.startswith("/") else "/" + path, headers, _length(dict_of(headers)))


def _headers(lines: list[bytes]) -> tuple[tuple[str, str], ...]:
    if len(lines) > MOST_HEADERS:
        raise Malformed(f"there are more than {MOST_HEADERS} headers", "431 Request Header Fields Too Large")
    found = [_header(line) for line in lines]
    names = [name.lower() for name, _ in found]
    for name in _ONCE:
        if names.count(name) > 1:
            raise Malformed(f"{name} stands there twice")
    return tuple(found)


def _header(line: bytes) -> tuple[str, str]:
    found = _HEADER.fullmatch(line)
    if found is None:
        raise Malformed("a header is not written as `name: value` on one line")
    return found[1].decode(), found[2].decode("latin-1").strip(" \t")


def dict_of(headers: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Headers by their names in lower case."""
    return {name.lower(): value for name, value in headers}


def _length(named: dict[str, str]) -> int:
    if "transfer-encoding" in named:
        raise Malformed("the length of the body has to be said", "411 Length Required")
    said = named.get("content-length", "0")
    if not re.fullmatch(r"0|[1-9][0-9]{0,11}", said):
        raise Malformed("content-length is no number")
    return int(said)


def _authority(text: str, otherwise: str) -> tuple[str, int]:
    """Host and port; in a tunnel the port has to be said."""
    found = re.fullmatch(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::([0-9]*))?", text)
    host, port = (found[1].lower(), found[2] or otherwise) if found else ("", "")
    if not is_host(host) or not is_port(port):
        raise Malformed(f"{text[:200]!r} is no host with a port")
    return host, int(port)


def _compare_hosts(head: Head, *, is_needed: bool) -> None:
    """The far side goes by `Host`; it has to be what is judged."""
    said = dict_of(head.headers).get("host")
    if said is None and not is_needed:
        return
    if said is None or _authority(said, "443" if head.is_tunnel else "80") != (head.host, head.port):
        raise Malformed("`Host` is not the host that is asked for")
