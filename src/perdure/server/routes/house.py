"""The house itself: who asks, whether all is well, the kill switch, and what there is to read about it."""

from importlib import resources
from typing import Annotated, Any, Final

from fastapi import Query, Request
from pydantic import AwareDatetime
from starlette.responses import Response

from perdure import __version__, errors
from perdure.core.values import to_json
from perdure.documents.stats import counted, stats_document
from perdure.server.answers.world import Health, Me, Stats, Stopped
from perdure.server.callers import Asking
from perdure.server.errors import NoRoute, NotReady
from perdure.server.here import Serving, answered, as_json, milliseconds
from perdure.server.reading import INERT, STYLE, page
from perdure.server.routing import Routes
from perdure.server.scopes import ALL, OPEN, allows

routes: Final = Routes("house")


@routes.get("/v1/me", "read", Me)
async def show_me(caller: Asking) -> Response:
    """Say who asks, and what they may do."""
    scopes = [each for each in ALL if allows(caller.scopes, each)]
    return answered({"schema": "perdure.me/1", "name": caller.name, "scopes": scopes, "version": __version__})


@routes.post("/v1/stop", "admin", Stopped)
async def stop_everything(here: Serving, caller: Asking) -> Response:
    """The kill switch: cancel every run that is not over, at once."""
    reply = await here.ask("stop", {"by": caller.name})
    return answered({"schema": "perdure.stopped/1", "runs": reply["done"]})


@routes.get("/v1/stats", "read", Stats)
async def count_runs(
    here: Serving, since: Annotated[AwareDatetime | None, Query(description="Only what happened since then.")] = None
) -> Response:
    """Count what became of runs: how they ended, what they took, what failed, who was asked."""
    found = await counted(here.journal, milliseconds(since) or 0)
    return answered(stats_document(found, here.engine.host.clock.now()))


@routes.get("/healthz", OPEN, Health)
async def show_health() -> Response:
    """Say that the server is there."""
    return answered({"status": "ok"})


@routes.get("/readyz", OPEN, Health)
async def show_readiness(here: Serving) -> Response:
    """Say whether runs are carried on: the journal can be read, and nothing has stopped the engine."""
    await here.journal.runs(limit=1)
    if here.engine.host.failure is not None or here.engine.idle:
        raise NotReady("the engine carries nothing on", "the log of the server says why")
    return answered({"status": "ok"})


# ------------------------------------------------------------------------------- to read


@routes.get("/openapi.json", "read", dict[str, Any])
async def show_openapi(request: Request) -> Response:
    """Describe every route, as OpenAPI."""
    return as_json(to_json(request.app.openapi()))


@routes.get("/docs", "read", None, answers={200: {"content": {"text/html": {}}}})
async def show_reference(request: Request) -> Response:
    """Show every route and every record on one page, for people."""
    headers = {"Cache-Control": "no-store", "Content-Security-Policy": INERT}
    return Response(page(request.app.openapi()), headers=headers, media_type="text/html")


@routes.get(STYLE, "read", None, answers={200: {"content": {"text/css": {}}}})
async def show_style() -> Response:
    """Give the page of the reference its looks."""
    return Response(resources.files("perdure.server").joinpath("docs.css").read_bytes(), media_type="text/css")


@routes.get("/docs/{code}", "read", None, (404,), answers={200: {"content": {"text/markdown": {}}}})
async def explain_code(code: str) -> Response:
    """Explain a code, in Markdown."""
    found = errors.page(code)
    if found is None:
        raise NoRoute(f"there is no code {code[:20]}", "codes are PRD and four digits")
    return Response(found, media_type="text/markdown")
