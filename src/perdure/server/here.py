"""What every route is given: the engine, what is around it, and how messages get to it."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.responses import Response

from perdure.control import Request as Message
from perdure.core.values import to_json
from perdure.engine import Engine, View
from perdure.engine.requests import Reply
from perdure.ports import Entry, Journal
from perdure.world import World


@dataclass(frozen=True, slots=True)
class Here:
    """An engine, and what is around it."""

    engine: Engine
    world: World
    reply: Callable[[Message], Awaitable[Reply]]
    """Does what a request of the control socket asks for; a route of HTTP asks the same."""

    @property
    def journal(self) -> Journal:
        """Where everything is read that is shown."""
        return self.engine.journal

    @property
    def owner(self) -> str:
        """Who carries runs on; empty: nobody does."""
        return "" if self.engine.idle else f"process {os.getpid()}"

    async def tell(self, verb: str, run: str, said: Mapping[str, Any]) -> dict[str, Any]:
        """Send a message to a run, and what came of it."""
        id_ = (await self.journal.run(run)).id
        reply = await self.reply(Message({**said, "do": verb, "run": id_}, os.getpid(), os.getuid()))
        return {"schema": "perdure.done/1", "run": id_, **reply}


async def _here(request: Request) -> Here:
    return request.app.state.here


Serving = Annotated[Here, Depends(_here)]


# ------------------------------------------------------------------------------- answers


def answered(document: Mapping[str, Any], status: int = 200, **headers: str) -> Response:
    """A document as an answer."""
    return as_json(to_json(document), status, **headers)


def as_json(data: bytes, status: int = 200, **headers: str) -> Response:
    """What is JSON already. Nothing of it may be kept by those between us and whoever asks."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(data, status, {"Cache-Control": "no-store", **named}, "application/json")


def etag(revision: int) -> str:
    """What `If-Match` is compared with."""
    return f'"{revision}"'


async def folded(here: Here, name: str, make: Callable[[View, Sequence[Entry]], Response]) -> Response:
    """An answer of a run and its entries, verified. It is made in a thread, for a run may have many of them."""
    found, entries = await here.journal.load((await here.journal.run(name)).id)
    view = View(here.journal, found.id)
    return await asyncio.to_thread(make, view, entries)
