"""Metrics, for Prometheus."""

from collections import Counter
from typing import Annotated, Final

from fastapi import Depends, Request
from starlette.responses import PlainTextResponse, Response

from perdure.documents.listing import fork_of, open_questions
from perdure.engine import Engine
from perdure.journal import SqliteJournal, every_run
from perdure.observing.exposing import CONTENT_TYPE, Exposition, Standing
from perdure.observing.meter import Meter
from perdure.observing.place import Place, directory_beside
from perdure.ports import Filter
from perdure.server.here import Serving
from perdure.server.routing import Routes

routes: Final = Routes("metrics")


class _Gauge:
    """What is counted as long as an app is there."""

    def __init__(self, engine: Engine) -> None:
        self._journal: Final = engine.journal
        self._exposition: Final = Exposition()
        beside = directory_beside(engine.state)
        place = Place(None if beside is None else beside / "counted.json")
        self._meter: Final = Meter(engine.journal, lambda run: fork_of(run)[1], place)
        if isinstance(engine.journal, SqliteJournal):
            engine.journal.time_commits(self._exposition.committed)

    async def text(self) -> bytes:
        is_all = await self._meter.catch_up()
        runs = Counter(run.summary.status for run in await every_run(self._journal, Filter(over=False)))
        waiting = (await open_questions(self._journal)).total()
        return self._exposition.text(Standing(self._meter.counts if is_all else None, runs, waiting))


async def _gauge(request: Request, here: Serving) -> _Gauge:
    state = request.app.state
    if not hasattr(state, "gauge"):
        state.gauge = _Gauge(here.engine)
    return state.gauge


@routes.get("/metrics", "read", str, response_class=PlainTextResponse)
async def show_metrics(gauge: Annotated[_Gauge, Depends(_gauge)]) -> Response:
    """Metrics, as Prometheus reads them."""
    return Response(await gauge.text(), media_type=CONTENT_TYPE)
