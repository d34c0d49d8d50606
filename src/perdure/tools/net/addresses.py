"""Addresses: which belong to everybody's network, and which lead back behind our own walls."""

import socket
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a name; `OSError` if it has none."""
_PUBLIC_6: Final = ip_network("2000::/3")
_NOT_PUBLIC: Final = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "168.63.129.16/32",  # looks public, and is the metadata service of a cloud
        "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
    )
)  # fmt: skip
"""Written out, because what Python calls global differs between its releases."""


def resolved(host: str, port: int) -> list[str]:
    """The addresses that the system knows for a name, in its order, each once."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


def is_public(address: str) -> bool:
    """Whether it is one of everybody's network. In IPv6 only plain unicast is: no tunnels, no wrapped IPv4."""
    read = _read(address)
    if isinstance(read, IPv6Address) and read not in _PUBLIC_6:
        return False
    return read is not None and not any(read in network for network in _NOT_PUBLIC)


def is_loopback(address: str) -> bool:
    """Whether it leads to this very machine."""
    read = _read(address)
    return read is not None and read.is_loopback


def _read(address: str) -> IPv4Address | IPv6Address | None:
    try:
        return None if "%" in address else ip_address(address)
    except ValueError:
        return None
