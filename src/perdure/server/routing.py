"""Routes: how one is written down. It says what it needs, what it answers, and what can go wrong."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fastapi import FastAPI
from starlette.responses import Response

from perdure.server.asked import Bounded
from perdure.server.problems import MEANINGS, MEDIA_TYPE
from perdure.server.scopes import WORD, Open, Scope

Endpoint = Callable[..., Awaitable[Response]]
Writing = Callable[[Endpoint], Endpoint]
Refuses = Collection[int]
NOTHING: Final[Mapping[int, Any]] = {}
PROBLEM: Final = {"$ref": "#/components/schemas/Problem"}
ANYWHERE: Final = (401, 403, 413, 415, 422, 429, 500, 503)
"""What may be wrong with any request."""


@dataclass(frozen=True, slots=True)
class Route:
    """One of them."""

    method: str
    path: str
    scope: Scope | Open
    endpoint: Endpoint
    said: Mapping[str, Any]

    def add_to(self, app: FastAPI, noun: str) -> None:
        """Have an app serve it."""
        app.router.add_api_route(
            self.path,
            self.endpoint,
            methods=[self.method],
            operation_id=self.endpoint.__name__,
            tags=[noun],
            openapi_extra={WORD: self.scope},
            route_class_override=Bounded,
            **self.said,
        )


class Routes:
    """Those about one noun."""

    def __init__(self, noun: str) -> None:
        self.noun: Final = noun
        self._made: list[Route] = []

    def add_to(self, app: FastAPI) -> None:
        """Have an app serve them."""
        for each in self._made:
            each.add_to(app, self.noun)

    def get(self, path: str, scope: Scope | Open, answer: Any, refuses: Refuses = (), **more: Any) -> Writing:
        """Something that is looked at."""
        return self._adding("GET", path, scope, answer, refuses, **more)

    def post(self, path: str, scope: Scope, answer: Any, refuses: Refuses = (), **more: Any) -> Writing:
        """Something that is done, or made."""
        return self._adding("POST", path, scope, answer, refuses, **more)

    def delete(self, path: str, scope: Scope, answer: Any, refuses: Refuses = ()) -> Writing:
        """Something that is taken away."""
        return self._adding("DELETE", path, scope, answer, refuses)

    def _adding(  # noqa: PLR0913, PLR0917  what all of them say
        self,
        method: str,
        path: str,
        scope: Scope | Open,
        answer: Any,
        refuses: Refuses,
        answers: Mapping[int, Any] = NOTHING,
        **more: Any,
    ) -> Writing:
        said = {"response_model": answer, "responses": {**answers, **_refusals(refuses)}, **more}

        def added(endpoint: Endpoint) -> Endpoint:
            self._made.append(Route(method, path, scope, endpoint, said))
            return endpoint

        return added


def _refusals(statuses: Collection[int]) -> dict[int | str, dict[str, Any]]:
    told = {"content": {MEDIA_TYPE: {"schema": PROBLEM}}}
    return {each: {"description": MEANINGS[each], **told} for each in sorted({*ANYWHERE, *statuses})}
