"""Serving: an engine and its world behind the guard, on a socket."""

import socket
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from perdure.engine import Engine
from perdure.engine.requests import BadRequest
from perdure.server.admitting import Admitting
from perdure.server.app import app_of
from perdure.server.asgi import App
from perdure.server.beside import NONE, add_beside
from perdure.server.callers import Caller
from perdure.server.doors import Doors
from perdure.server.guard import Guard
from perdure.server.keys import Keys
from perdure.server.listening import Address, served
from perdure.server.names import Names, names_of
from perdure.server.opening import PATH
from perdure.server.repeating import Repeating
from perdure.server.scopes import ALL, Scope
from perdure.server.sessions import Sessions
from perdure.tools.net.ours import kept_from_tools
from perdure.world import World

FACE: Final = "open"
"""What other processes of the user ask for a link with, through the control socket."""


@dataclass(frozen=True)
class Place:
    """Where to serve, and for whom."""

    listener: socket.socket
    keys: Keys
    address: Address = field(default_factory=Address)
    urls: Sequence[str] = ()
    """How it is reached from elsewhere, as by a proxy that speaks TLS."""
    patience: float = 5.0
    """Seconds that answers get when it closes."""
    beside: Mapping[str, App] = field(default_factory=dict[str, App])
    """Other faces behind the same guard, by their path."""

    @property
    def port(self) -> int:
        """Where it really listens."""
        return self.listener.getsockname()[1]


def guarded(engine: Engine, world: World, keys: Keys, names: Names, beside: Mapping[str, App] = NONE) -> Guard:
    """The app of an engine behind its guard, to be served by whatever speaks ASGI; and others `beside` it, by path."""
    app, now = app_of(engine, world), engine.host.clock.now
    add_beside(app, beside)
    return Guard(Repeating(Admitting(app, engine), engine.journal), app.routes, Doors(keys, Sessions(now), names, now))


class Serving:
    """A server that is open."""

    def __init__(self, guard: Guard) -> None:
        self._doors: Final = guard.doors

    @property
    def url(self) -> str:
        """Where it is."""
        return self._doors.names.urls[0]

    def link(self, name: str, scope: Scope = "admin") -> str:
        """An address that opens a session of somebody, once."""
        return f"{self.url}{PATH}#{self._doors.sessions.link(Caller(name, (scope,)))}"

    async def reply(self, asked: Mapping[str, Any]) -> dict[str, str]:
        """A link for another process of the user."""
        scope, name = asked.get("scope", "admin"), asked.get("by", "")
        if scope not in ALL or not isinstance(name, str):
            raise BadRequest(f"there is no scope {scope!r}", f"say {', '.join(ALL)}")
        return {"url": self.url, "link": self.link(name, scope)}


@asynccontextmanager
async def serving(engine: Engine, world: World, place: Place) -> AsyncGenerator[Serving]:
    """Serve as long as the block lasts."""
    names = names_of(place.address.host, place.port, tls=place.address.is_tls, also=place.urls)
    guard = guarded(engine, world, place.keys, names, place.beside)
    opened = Serving(guard)
    with kept_from_tools(place.port):
        async with served(guard, place.listener, place.address, place.patience):
            engine.faces[FACE] = opened.reply
            try:
                yield opened
            finally:
                del engine.faces[FACE]
