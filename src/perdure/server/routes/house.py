"""The house itself: who asks, whether all is well, the kill switch, and what there is to read about it."""

from typing import Any, Final

from fastapi import Request
from starlette.responses import Response

from perdure import __version__, errors
from perdure.core.values import to_json
from perdure.server.answers.world import Health, Me, Stopped
from perdure.server.callers import Asking
from perdure.server.errors import NoRoute, NotReady
from perdure.server.here import Serving, answered, as_json
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


@routes.get("/docs/{code}", "read", None, (404,), answers={200: {"content": {"text/markdown": {}}}})
async def explain_code(code: str) -> Response:
    """Explain a code, in Markdown."""
    page = errors.page(code)
    if page is None:
        raise NoRoute(f"there is no code {code[:20]}", "codes are PRD and four digits")
    return Response(page, media_type="text/markdown")
