"""What is reached for a server: the hosts that the user's file names, and nothing else.

The file is the user's own, and nothing in a workspace can write it. So it stands where the outermost layer of a policy
stands: what it names by itself, such as `localhost` or an address, may lie behind our own walls; what a name leads to
may not, whatever its resolver says, unless the file names that address too. Whether calls may connect at all is the
policy's to say, before each of them.
"""

from typing import Final

from perdure.core.calls import Call
from perdure.core.policy import Layer, Terms
from perdure.ports import Attempt
from perdure.tools.guard import Guard
from perdure.tools.mcp.servers import Server
from perdure.tools.net import Gate

FILE: Final = "mcp.json"


def gate_for(server: Server) -> Gate:
    """The gate for all connections of a server."""
    named = Layer(FILE, network=Terms(allow=(*server.hosts, *server.network)))
    return Gate(Guard(Attempt("", server.name, 0, 0, "", Call("tool", server.name, {}), layers=(named,))))
