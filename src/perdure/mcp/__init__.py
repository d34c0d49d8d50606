"""The MCP server: plans, runs and questions as tools and resources for clients that talk to models.

It looks at the journal and sends messages, as every face does. What it says is made in `documents`.
"""

from perdure.mcp.reach import ByEngine as ByEngine
from perdure.mcp.reach import Reach as Reach
from perdure.mcp.scopes import Caller as Caller
from perdure.mcp.scopes import Callers as Callers
from perdure.mcp.server import server_of as server_of
