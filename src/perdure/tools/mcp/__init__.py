"""The MCP client: tools of other programs' servers, pinned to what a person has approved.

Nothing here needs the MCP library until a server is talked to.
"""

from perdure.tools.mcp.pins import Pins as Pins
from perdure.tools.mcp.reading import read_servers as read_servers
from perdure.tools.mcp.toolset import Toolset as Toolset
from perdure.tools.mcp.toolset import mcp_tools as mcp_tools
