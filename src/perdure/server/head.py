"""A request's head, read in one strict way: whatever two programs could read differently is refused."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from perdure.server.keys import LOOKS_LIKE
from perdure.server.refusing import HeadTooLarge, KeyInAddress, NotThisWay, OddRequest

METHODS: Final = ("GET", "HEAD", "POST", "DELETE")
SAFE: Final = ("GET", "HEAD")
MOST_BYTES: Final = 16_384
MOST_HEADERS: Final = 100
LONGEST_COOKIE: Final = 4_096
_ONCE: Final = frozenset(
    {
        "host", "origin", "authorization", "cookie", "content-type", "content-length", "transfer-encoding",
        "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "idempotency-key", "if-match",
    }
)  # fmt: skip
"""What must not be said twice: who reads the first and who reads the last would disagree."""
_ODD: Final = re.compile(r"[\x00-\x1f\x7f-\xff]")


@dataclass(frozen=True, slots=True)
class Head:
    """Method, path and headers."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By their names in small letters."""

    def header(self, name: str) -> str:
        """What a header says; empty where there is none."""
        return self.headers.get(name, "")

    @property
    def is_safe(self) -> bool:
        """Whether it changes nothing."""
        return self.method in SAFE

    @property
    def has_body(self) -> bool:
        """Whether a body comes, as far as the head says."""
        return "transfer-encoding" in self.headers or self.header("content-length") not in ("", "0")

    def cookie(self, name: str) -> str | None:
        """A cookie; None if there is none, or more than one of that name: somebody else has put one there."""
        found = [value for key, _, value in (each.strip().partition("=") for each in self._cookies()) if key == name]
        return found[0] if len(found) == 1 else None

    def _cookies(self) -> list[str]:
        return self.header("cookie")[:LONGEST_COOKIE].split(";")


def head_of(scope: Mapping[str, Any]) -> Head:
    """The head of a request."""
    raw: list[tuple[bytes, bytes]] = scope["headers"]
    if len(raw) > MOST_HEADERS or sum(len(name) + len(value) for name, value in raw) > MOST_BYTES:
        raise HeadTooLarge(f"the headers are longer than {MOST_BYTES:,} bytes, or more than {MOST_HEADERS}")
    head = Head(scope["method"], scope["path"], _headers_in(raw))
    if head.method not in METHODS:
        raise NotThisWay(f"nothing here is done by {head.method[:20]!r}")
    _check_address(head.path, scope.get("query_string", b"").decode("latin1"))
    return head


def _headers_in(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in ((each.decode("latin1").lower(), text.decode("latin1")) for each, text in raw):
        if name in _ONCE and (name in found or _ODD.search(value)):
            raise OddRequest(f"the header {name} comes twice, or has letters that do not belong there")
        found[name] = value
    return found


def _check_address(path: str, query: str) -> None:
    """A key that was once in an address is in logs and histories by now."""
    if LOOKS_LIKE.search(path) or LOOKS_LIKE.search(query):
        raise KeyInAddress(
            "a key stands in the address, where logs keep it",
            "send it as a header, Authorization: Bearer KEY; and revoke this one, others may have read it",
        )
