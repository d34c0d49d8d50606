"""Other faces beside the API: apps that are let in by the same guard, each at one address."""

from collections.abc import Mapping
from typing import Any, Final

from fastapi import FastAPI
from starlette.routing import Route

from perdure.server.asgi import App, Receive, Scoped, Send
from perdure.server.scopes import WORD, Scope

NONE: Final[Mapping[str, App]] = {}
METHODS: Final = ("GET", "POST", "DELETE")
NEEDS: Final[Scope] = "read"
"""What everybody needs who comes in there; what else they may, such an app finds out by their caller."""


class _Beside:
    """An app as the end of a route. It is an object, so that nobody takes it for a function of a request."""

    def __init__(self, app: App) -> None:
        self._app: Final = app

    async def __call__(self, scope: Scoped, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


class Beside(Route):
    """A route that says what it needs, as those of the API do."""

    def __init__(self, path: str, app: App) -> None:
        super().__init__(path, _Beside(app), methods=METHODS, include_in_schema=False)
        self.openapi_extra: dict[str, Any] = {WORD: NEEDS}


def add_beside(app: FastAPI, others: Mapping[str, App]) -> None:
    """Have an app serve others, each at its path."""
    app.router.routes.extend(Beside(path, other) for path, other in others.items())
