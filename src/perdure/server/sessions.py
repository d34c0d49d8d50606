"""Sessions of browsers: a link that works once is exchanged for a cookie.

The link has its code behind a `#`. A browser sends that part to nobody: it is in no log, no `Referer` and no request of
whoever looks at links before people do. The page behind it sends the code in a body, and then it is good for nothing.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from perdure.server.callers import Caller
from perdure.server.keys import digest_of

LINK_SECONDS: Final = 600
SESSION_SECONDS: Final = 12 * 3600
MOST_LINKS: Final = 16
MOST_SESSIONS: Final = 256


@dataclass(frozen=True, slots=True)
class _Kept:
    caller: Caller
    until: int


class Sessions:
    """Links that were not used yet, and those who came by one. Nothing of it outlives the server."""

    def __init__(self, now: Callable[[], int]) -> None:
        """`now`: milliseconds, never going back."""
        self._now = now
        self._links: dict[str, _Kept] = {}
        self._open: dict[str, _Kept] = {}

    def link(self, caller: Caller) -> str:
        """A code that opens one session."""
        return self._keep(self._links, caller, LINK_SECONDS, MOST_LINKS)

    def exchanged(self, code: str) -> str | None:
        """The cookie for a code; None if it was used, is too old, or never was."""
        found = self._links.pop(digest_of(code), None)
        if found is None or self._now() >= found.until:
            return None
        return self._keep(self._open, found.caller, SESSION_SECONDS, MOST_SESSIONS)

    def caller(self, cookie: str) -> Caller | None:
        """Whose session it is; None if nobody's."""
        found = self._open.get(digest_of(cookie))
        return found.caller if found and self._now() < found.until else None

    def end(self, cookie: str) -> None:
        """Let a session be over."""
        self._open.pop(digest_of(cookie), None)

    def _keep(self, where: dict[str, _Kept], caller: Caller, seconds: int, most: int) -> str:
        """By its hash, so that looking one up takes no longer the nearer somebody guesses."""
        now = self._now()
        for digest in [digest for digest, each in where.items() if now >= each.until]:
            del where[digest]
        while len(where) >= most:
            del where[next(iter(where))]
        secret = secrets.token_urlsafe(32)
        where[digest_of(secret)] = _Kept(caller, now + seconds * 1000)
        return secret
