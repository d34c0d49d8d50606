"""Where a server is, and whether a key may be sent there."""

from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from perdure.remote.errors import BadAddress, Insecure

_HELP: Final = "write https://HOST or https://HOST:PORT; http:// is for this machine alone"


def checked(url: str, *, plain: bool = False) -> str:
    """The address without a slash at its end; `plain` allows others on the way to read all of it."""
    parts = _parts(url)
    if parts.scheme == "http" and not plain and not _is_here(parts.hostname or ""):
        raise Insecure(
            f"{url} is not encrypted, and everybody on the way there could read the key",
            "use https://, or a tunnel to this machine; if the network is yours alone, set server.plain",
        )
    return url.rstrip("/")


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        is_one = bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise BadAddress(f"{url[:200]!r} is no address: {error}", _HELP) from None
    if not is_one or parts.scheme not in ("http", "https") or parts.query or parts.fragment or not url.isprintable():
        raise BadAddress(f"{url[:200]!r} is no address of a server", _HELP)
    if "@" in parts.netloc:
        raise BadAddress("the address has a name or a key in it", "put the key into PERDURE_KEY, or into a file")
    return parts


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
