"""What there is around the engine: tools, agents, templates."""

from typing import Final

from starlette.responses import Response

from perdure.documents.agents import agents_document
from perdure.documents.templates import templates_document
from perdure.documents.tools import tools_document
from perdure.server.answers.world import Agents, Templates, Tools
from perdure.server.here import Serving, answered
from perdure.server.routing import Routes
from perdure.tools.describing import described

routes: Final = Routes("world")


@routes.get("/v1/tools", "read", Tools)
async def list_tools(here: Serving) -> Response:
    """List the tools that plans may use, with all that is declared about them."""
    return answered(tools_document(map(described, here.world.tools())))


@routes.get("/v1/agents", "read", Agents)
async def list_agents(here: Serving) -> Response:
    """List whom plans may give work to."""
    return answered(agents_document(here.world.agents()))


@routes.get("/v1/templates", "read", Templates)
async def list_templates(here: Serving) -> Response:
    """List plans with blanks, for goals that are known."""
    return answered(templates_document(here.world.templates()))
