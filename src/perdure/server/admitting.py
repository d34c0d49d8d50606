"""Admitting: no run is begun where so many are at work already that one more would only wait."""

from typing import Final

from perdure.engine import Engine
from perdure.server.asgi import App, Receive, Scoped, Send
from perdure.server.refusing import TooMany

STARTS: Final = "/v1/runs"
MOST: Final = 5_000
"""Runs that are at work, or rest at hand. Those that wait for people or the clock need no room, and are not counted."""


class Admitting:
    """An app that begins no more than an engine can take."""

    def __init__(self, app: App, engine: Engine, most: int = MOST) -> None:
        self._app: Final = app
        self._engine: Final = engine
        self._most: Final = most

    async def __call__(self, scope: Scoped, receive: Receive, send: Send) -> None:
        """Hand it on, or say when to come again; what steers a run is always handed on."""
        is_start = scope["path"] == STARTS and scope["method"] == "POST"
        if is_start and len(self._engine.host.runners) >= self._most:
            raise TooMany("too many runs are at work", "wait until some are over, and try again")
        await self._app(scope, receive, send)
