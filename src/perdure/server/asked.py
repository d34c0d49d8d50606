"""Requests as they come in: a body is JSON of a bounded length, or it is refused before anything reads it."""

from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi import Request, Response
from fastapi.routing import APIRoute

from perdure.core.values import from_json
from perdure.plan.problems import Problem
from perdure.server.errors import Invalid, NotJson, TooLarge

MOST: Final = 20 * 1024 * 1024
"""Bytes of a body: the largest plan, and room for its inputs."""


class Asked(Request):
    """A request whose body was looked at."""

    async def json(self) -> Any:
        """What the body says; it is read once."""
        if not hasattr(self, "_json"):
            self._json = self._read(await self.body())
        return self._json

    @staticmethod
    def _read(body: bytes) -> Any:
        try:
            return from_json(body.decode())
        except ValueError as error:  # also of what is no UTF-8
            found = Problem(Invalid.code, str(error), ("body",))
            raise Invalid(f"the body cannot be read as JSON: {error}", "send JSON in UTF-8", [found]) from error


class Bounded(APIRoute):
    """A route that takes JSON, and only so much of it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """As of any route, after a look at the body."""
        handle = super().get_route_handler()

        async def looked_at(request: Request) -> Response:
            asked = Asked(request.scope, request.receive)
            if await _has_body(asked):
                _check_type(asked)
                await asked.json()
            return await handle(asked)

        return looked_at


async def _has_body(request: Request) -> bool:
    """Read the body; `TooLarge` as soon as it is."""
    chunks, size = list[bytes](), 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > MOST:
            raise TooLarge(f"the body has more than {MOST:,} bytes", "keep large values in files, and name them")
        chunks.append(chunk)
    request._body = b"".join(chunks)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  where the framework looks for it
    return bool(size)


def _check_type(request: Request) -> None:
    said = request.headers.get("content-type", "")
    if said.partition(";")[0].strip().lower() != "application/json":
        raise NotJson(f"the body is said to be {said[:100] or 'nothing'}", "send Content-Type: application/json")
