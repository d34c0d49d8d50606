"""Deeds: what is about to be done, written so that there is one way to write it.

A deed that can be written in two ways could be judged in one and done in the other. So what is not written plainly has
a flaw, and what has a flaw is denied.
"""

import re
from typing import Final, Literal

import msgspec

DeedKind = Literal["call", "read", "write", "connect", "run", "use"]
"""`call` a tool, `read` or `write` a file of the workspace, `connect` to a host, `run` a command, `use` a resource."""
_LABEL: Final = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
HOST: Final = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*|\[[0-9a-f:.]{{2,45}}\]")
"""A host as it may be judged: lower case, no trailing dot, an IPv6 address in brackets."""
_BYTE: Final = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4: Final = re.compile(rf"{_BYTE}(?:\.{_BYTE}){{3}}")
_NUMBER: Final = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")
"""What resolvers take for an IPv4 address, however it is written: the last label is a number."""
_PORT: Final = re.compile(r"[1-9][0-9]{0,4}")
_HIDDEN: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
"""Control characters, and halves of pairs, which no journal can keep."""
_UNSPEAKABLE: Final = re.compile("[\x00\ud800-\udfff]")
"""What no word of a command can hold. A line break is fine: programs are handed over as words."""
LONGEST: Final = 4096
SHOWN: Final = 200
"""Letters of a name that cannot be judged."""
LONGEST_COMMAND: Final = 1024 * 1024
LAST_PORT: Final = 65_535
HTTPS: Final = "443"


class Deed(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Something that is about to be done."""

    kind: DeedKind
    what: str
    """The tool, the path from the workspace's root, `host:port`, the command's first word, or the resource."""
    words: tuple[str, ...] = ()
    """The words of a command; the effects of a call."""


def flaw_of(deed: Deed) -> str:
    """Why a deed cannot be judged, in a sentence; empty if it can."""
    if not deed.what:
        return "it has no name"
    if len(deed.what) > LONGEST or _HIDDEN.search(deed.what):
        return f"{_shown(deed.what)} is too long, or holds control characters"
    if deed.kind in ("read", "write"):
        return path_flaw(deed.what)
    if deed.kind == "connect":
        return host_flaw(deed.what)
    return _command_flaw(deed) if deed.kind == "run" else ""


def _shown(text: str) -> str:
    """Written out, so that it can be found, and shown whatever it holds."""
    return ascii(text) if len(text) <= SHOWN else f"{text[:SHOWN]!a}…"


def path_flaw(path: str) -> str:
    """Why a text is no path of a file in the workspace."""
    if path == "." or path.startswith("/") or "\\" in path:
        return f"{path!r} is no path from the workspace's root"
    winds = any(part in ("", ".", "..") for part in path.split("/"))
    return f"{path!r} is not written plainly: no empty parts, no `.` and no `..`" if winds else ""


def host_flaw(text: str) -> str:
    """Why a text is no host that can be connected to."""
    host, port = split_host(text)
    if not text.isascii() or not HOST.fullmatch(host) or not is_port(port):
        return f"{text!r} is no host with a port from 1 to {LAST_PORT}"
    return _address_flaw(host)


def is_host(host: str) -> bool:
    """Whether it is a host in the one way it can be written: a name, or an address in its plain form."""
    return host.isascii() and HOST.fullmatch(host) is not None and not _address_flaw(host)


def is_ipv4(host: str) -> bool:
    """Whether it is four decimal numbers without needless zeros."""
    return _IPV4.fullmatch(host) is not None


def is_port(port: str) -> bool:
    """Whether it is a port, without needless zeros."""
    return _PORT.fullmatch(port) is not None and int(port) <= LAST_PORT


def _address_flaw(host: str) -> str:
    """Addresses have many spellings; one of them is judged, the others are not understood."""
    if host.startswith("["):
        return "" if _is_plain_ipv6(host[1:-1]) else f"{host!r} is not the short way to write an IPv6 address"
    if _NUMBER.fullmatch(host) and not is_ipv4(host):
        return f"{host!r} is not the plain way to write an IPv4 address"
    return ""


def _is_plain_ipv6(text: str) -> bool:
    """An address that holds an IPv4 address is to be written as that one."""
    from ipaddress import AddressValueError, IPv6Address  # noqa: PLC0415  few deeds name an address

    try:
        address = IPv6Address(text)
    except AddressValueError:
        return False
    return address.ipv4_mapped is None and address.compressed == text


def _command_flaw(deed: Deed) -> str:
    if deed.words[:1] != (deed.what,):
        return "its first word is not what it says it runs"
    if sum(map(len, deed.words)) > LONGEST_COMMAND or any(_UNSPEAKABLE.search(word) for word in deed.words):
        return "the command is too long, or a word of it cannot be handed over"
    return ""


def split_host(text: str) -> tuple[str, str]:
    """Host and port of `host:port`, `host`, `[v6]:port`. Without a port it is 443."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return text.lower(), HTTPS
    return host.lower(), port
