"""The journal itself, as records: for commands that are given elsewhere and print what they would print here."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec
from fastapi import Query
from starlette.responses import Response

from perdure import __version__
from perdure.ports import Filter
from perdure.remote.wire import SCHEMA, Owner, packed
from perdure.server.answers.journal import Owned, Records
from perdure.server.here import Serving, as_json
from perdure.server.routing import Routes

routes: Final = Routes("journal")
LONGEST_WAIT: Final = 30.0
_LARGEST: Final = 2**63 - 1
Place = Annotated[int, Query(ge=0, le=_LARGEST, description="Only what comes after this number.")]
Limit = Annotated[int, Query(ge=1, le=1_000, description="The most to give.")]
Wait = Annotated[float, Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait until there is something.")]
Runs = Annotated[list[str], Query(default_factory=list, max_length=500, description="Only of these; can be repeated.")]


async def _answered(records: Sequence[Any]) -> Response:
    """Many records take a while to be written."""
    return as_json(await asyncio.to_thread(packed, records))


@routes.get("/v1/journal", "read", Owned)
async def show_owner(here: Serving) -> Response:
    """Say which process has the journal, and how it is read."""
    reply = await here.ask("who", {})
    owner = Owner(journal=SCHEMA, version=__version__, owner=reply["owner"], driven=reply["driven"], writer=here.owner)
    return as_json(msgspec.json.encode(owner))


@routes.get("/v1/journal/run", "read", Records, (404,))
async def read_run(here: Serving, name: str) -> Response:
    """Give a run by its id, the beginning of its id, or `@last`."""
    return await _answered([await here.journal.run(name)])


@routes.get("/v1/journal/runs", "read", Records)
async def read_runs(  # noqa: PLR0913  each is a filter
    here: Serving,
    *,
    status: Annotated[list[str], Query(default_factory=list, max_length=50)],
    session: str | None = None,
    parent: str | None = None,
    since: Annotated[int | None, Query(ge=-_LARGEST, le=_LARGEST)] = None,
    over: bool | None = None,
    before: Annotated[int | None, Query(ge=0, le=_LARGEST)] = None,
    limit: Limit = 50,
) -> Response:
    """Give a page of runs, newest first."""
    return await _answered(await here.journal.runs(Filter(status, session, parent, since, over), before, limit))


@routes.get("/v1/journal/due", "read", Records)
async def read_due(
    here: Serving, now: Annotated[int, Query(ge=-_LARGEST, le=_LARGEST)], limit: Limit = 100
) -> Response:
    """Give runs whose time to be looked at has come."""
    return await _answered(await here.journal.due(now, limit))


@routes.get("/v1/journal/questions", "read", Records)
async def read_questions(
    here: Serving, run: str | None = None, *, answered: bool = False, after: Place = 0, limit: Limit = 50
) -> Response:
    """Give a page of questions, in the order of asking."""
    return await _answered(await here.journal.questions(run, answered=answered, after=after, limit=limit))


@routes.get("/v1/journal/entries", "read", Records)
async def read_entries(here: Serving, run: str, after: Place = 0, limit: Limit = 500, wait: Wait = 0) -> Response:
    """Give a page of the entries of a run."""
    if wait:
        await here.journal.grown(run, after, wait)
    return await _answered(await here.journal.read(run, after, limit))


@routes.get("/v1/journal/arrived", "read", Records)
async def read_arrived(here: Serving, run: Runs, after: Place = 0, limit: Limit = 100, wait: Wait = 0) -> Response:
    """Give a page of turns, of all runs or of some, in the order in which they were kept."""
    if wait:
        await here.journal.arrives(after, wait)
    return await _answered(await here.journal.arrived(after, limit, run))


@routes.get("/v1/journal/last", "read", Records)
async def read_last(here: Serving) -> Response:
    """Give the number of the turn that was kept last."""
    return await _answered([await here.journal.last_arrival()])


@routes.get("/v1/journal/verify", "read", Records, (404,))
async def verify_run(here: Serving, run: str) -> Response:
    """Look at all that is stored of a run."""
    return await _answered([await here.journal.verify(run)])
