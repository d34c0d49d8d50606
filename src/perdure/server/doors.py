"""Who asks: by a key in a header, or by the cookie of a session; and what they may do."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from perdure.server.callers import Caller
from perdure.server.head import Head
from perdure.server.keys import BadKeys, Keys
from perdure.server.names import Names
from perdure.server.refusing import ForeignOrigin, NoKey, NoScope
from perdure.server.scopes import Scope, allows
from perdure.server.sessions import SESSION_SECONDS, Sessions

_log: Final = logging.getLogger("perdure.server")
_HELP: Final = "send a key as Authorization: Bearer KEY (perdure keys new NAME), or open the link of: perdure open"


@dataclass(frozen=True, slots=True)
class Doors:
    """Keys, sessions, and the names by which we are reached."""

    keys: Keys
    sessions: Sessions
    names: Names
    now: Callable[[], int]
    """Milliseconds since 1970."""

    def caller(self, head: Head) -> Caller | None:
        """Whoever asks; None if nobody we know. Who sends a key is judged by the key, whatever cookie comes along."""
        told = head.headers.get("authorization")
        if told is not None:
            kind, _, secret = told.partition(" ")
            return self._key(secret.strip()) if kind.lower() == "bearer" else None
        return self.sessions.caller(head.cookie(self.cookie_name(head)) or "")

    def _key(self, secret: str) -> Caller | None:
        try:
            return self.keys.caller(secret, self.now())
        except BadKeys as error:  # said to whoever has the file, not to whoever asks
            _log.error("%s: %s", error.code, error)
            return None

    def let_in(self, head: Head, caller: Caller | None, scope: Scope | None) -> Caller:
        """Refuse who is unknown, or may not do it."""
        if caller is None:
            raise NoKey("nobody known asks: there is no key, or it is not valid any more", _HELP)
        if "authorization" not in head.headers and not head.is_safe and not self.names.is_from_us(head):
            raise ForeignOrigin(
                "a session changes something only from a page of ours", "send a key instead of a cookie"
            )
        if scope is None:
            raise NoScope(f"nobody has written down who may {head.method} {head.path[:200]}, so nobody may")
        if not allows(caller.scopes, scope):
            told = f"this needs the scope {scope}, and {caller.name} has {', '.join(caller.scopes)}"
            raise NoScope(told, f"make a key that has it: perdure keys new NAME --scope {scope}")
        return caller

    def cookie_name(self, head: Head) -> str:
        """Of our own for each port: cookies do not tell ports of a host apart."""
        return "__Host-perdure" if self.names.is_tls(head) else f"perdure-{head.header('host').rpartition(':')[2]}"

    def cookie(self, head: Head, value: str) -> str:
        """What a browser is told to keep; an empty value: to forget it."""
        secure = "; Secure" if self.names.is_tls(head) else ""
        age = SESSION_SECONDS if value else 0
        name = self.cookie_name(head)
        return f"{name}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{secure}"
