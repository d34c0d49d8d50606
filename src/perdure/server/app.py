"""The app: an engine and what is around it, over HTTP."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from perdure import __version__
from perdure.engine import Engine
from perdure.engine.requests import replies_of
from perdure.server.answers.problems import Problem
from perdure.server.answers.runs import Turn
from perdure.server.following import Following
from perdure.server.here import Here
from perdure.server.page import add_page
from perdure.server.problems import tell_all
from perdure.server.routes import ALL
from perdure.world import Alone, World

ABOUT = "Runs are begun, watched and steered. What is asked of a run is a message; what is shown of it is its journal."


def app_of(engine: Engine, world: World | None = None) -> FastAPI:
    """An app over an engine. Nobody stands at its door: whoever can reach it may do everything."""
    app = FastAPI(
        title="Perdure",
        version=__version__,
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.state.here = Here(engine, world or Alone(), replies_of(engine), Following(engine.journal))
    tell_all(app)
    for each in ALL:
        each.add_to(app)
    add_page(app)
    app.openapi = lambda: openapi_of(app)
    return app


def openapi_of(app: FastAPI) -> dict[str, Any]:
    """What there is, as OpenAPI; it is made once."""
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        for each in (Problem, Turn):
            found = TypeAdapter(each).json_schema(ref_template="#/components/schemas/{model}")
            made["components"]["schemas"] |= {**found.pop("$defs"), each.__name__: found}
        app.openapi_schema = made
    return app.openapi_schema
