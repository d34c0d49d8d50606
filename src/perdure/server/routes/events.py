"""Events: one stream of all that happens, in many runs."""

from typing import Annotated, Final

from fastapi import Header, Query
from starlette.responses import Response

from perdure.server.errors import Ahead
from perdure.server.here import Serving
from perdure.server.routing import Routes
from perdure.server.stream import Stream

routes: Final = Routes("events")
_STREAM: Final = {
    200: {
        "description": "Server-sent events: each `turn` has the number of its arrival as `id`, and a `Turn` as `data`.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@routes.get("/v1/events", "read", None, (404, 409), answers=_STREAM)
async def watch_events(
    here: Serving,
    run: Annotated[list[str], Query(default_factory=list, max_length=100, description="Only of these runs.")],
    after: Annotated[int | None, Query(ge=0, le=2**53, description="Go on after this arrival; else begin now.")] = None,
    last: Annotated[int | None, Header(alias="Last-Event-ID", ge=0, le=2**53, description="As `after`.")] = None,
) -> Response:
    """Tell what happens, turn by turn, in one stream for any number of runs.

    Whoever was cut off comes back with `Last-Event-ID`: nothing is lost, and nothing is told twice. When nothing
    happens, a comment says every 15 seconds that all is well. A watcher that takes nothing for 30 seconds is cut off.
    """
    runs = [(await here.journal.run(name)).id for name in run]
    head = await here.journal.last_arrival()
    begin = next((each for each in (last, after) if each is not None), head)
    if begin > head:
        raise Ahead(f"the journal has come to {head}, not to {begin}", "it is another journal: read it anew")
    return Stream(here.following, begin, frozenset(runs))
