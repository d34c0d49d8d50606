"""What every route is given: the engine, what is around it, and how messages get to it."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import Depends, Query, Request
from starlette.responses import Response

from perdure.agents.planners import Made
from perdure.control import Request as Message
from perdure.core.refusing import OtherRevision
from perdure.core.values import to_json
from perdure.engine import Engine, View
from perdure.engine.requests import Reply
from perdure.plan import Plan
from perdure.plan.reading import Reading, read_data, read_text
from perdure.ports import Entry, Journal
from perdure.server.bodies import Sent, Wish
from perdure.server.following import Following
from perdure.world import Goal, World


@dataclass(frozen=True, slots=True)
class Here:
    """An engine, and what is around it."""

    engine: Engine
    world: World
    reply: Callable[[Message], Awaitable[Reply]]
    """Does what a request of the control socket asks for; a route of HTTP asks the same."""
    following: Following
    """Looks at the journal for all who watch."""

    @property
    def journal(self) -> Journal:
        """Where everything is read that is shown."""
        return self.engine.journal

    @property
    def owner(self) -> str:
        """Who carries runs on; empty: nobody does."""
        return "" if self.engine.idle else f"process {os.getpid()}"

    async def made(self, goal: str, wish: Wish) -> Made:
        """The plan for a goal."""
        return await self.world.made(self.engine, Goal(goal, wish.inputs, wish.planner, wish.template))

    async def ask(self, verb: str, said: Mapping[str, Any]) -> Reply:
        """Send a message to the engine."""
        return await self.reply(Message({**said, "do": verb}, os.getpid(), os.getuid()))

    async def tell(self, verb: str, run: str, said: Mapping[str, Any]) -> dict[str, Any]:
        """Send a message to a run, and what came of it."""
        id_ = (await self.journal.run(run)).id
        return {"schema": "perdure.done/1", "run": id_, **await self.ask(verb, {**said, "run": id_})}


async def _here(request: Request) -> Here:
    return request.app.state.here


Serving = Annotated[Here, Depends(_here)]
MOST: Final = 1_000
Place = Annotated[int, Query(ge=0, le=2**53, description="Go on after this number.")]
Limit = Annotated[int, Query(ge=1, le=MOST, description="The most to list.")]


async def read_plan(here: Here, said: Sent) -> Plan | None:
    """A plan as it was sent, None if none was; `PlanError` has every reason why it cannot be used here."""
    reading = await reading_of(here, said)
    return None if reading is None else reading.usable()


async def reading_of(here: Here, said: Sent) -> Reading | None:
    """What came out of a plan that was sent. It is read in a thread, for it may be large."""
    if said.text is not None:
        return await asyncio.to_thread(read_text, said.text, toolbox=here.engine.toolbox)
    if said.plan is not None:
        return await asyncio.to_thread(read_data, said.plan, toolbox=here.engine.toolbox)
    return None


NEW_RUN: Final = "run"
"""Where in the state of a request it stands which id a new run gets, if somebody has chosen one."""


async def _new_run(request: Request) -> str:
    return getattr(request.state, NEW_RUN, "")


NewRun = Annotated[str, Depends(_new_run)]


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


def milliseconds(moment: datetime | None) -> int | None:
    """A time as the journal has it."""
    return None if moment is None else round(moment.timestamp() * 1000)


def revision_in(match: str | None) -> int | None:
    """The revision that `If-Match` names; None: any will do."""
    if match is None or match.strip() == "*":
        return None
    number = match.strip().strip('"')
    if not (number.isascii() and number.isdecimal() and len(number) < len(str(2**53))):
        raise OtherRevision(f"{match[:100]} is no revision", "say the number of one revision, or *")
    return int(number)


async def check_revision(here: Here, name: str, match: str | None) -> None:
    """`OtherRevision` if the plan of a run is not at the revision that `If-Match` names."""
    wanted = revision_in(match)
    if wanted is not None:
        run = (await here.journal.run(name)).id
        now = (await here.engine.host.runner(run)).state.revision
        if now != wanted:
            raise OtherRevision(f"the plan of the run is at revision {now}, not {wanted}", "look at it again")


async def folded(here: Here, name: str, make: Callable[[View, Sequence[Entry]], Response]) -> Response:
    """An answer of a run and its entries, verified. It is made in a thread, for a run may have many of them."""
    found, entries = await here.journal.load((await here.journal.run(name)).id)
    view = View(here.journal, found.id)
    return await asyncio.to_thread(make, view, entries)
