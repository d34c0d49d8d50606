"""The network: what may be reached, and at which address; and the proxy that holds a sandbox to the same rules."""

from perdure.tools.net.gate import Gate as Gate
from perdure.tools.net.gate import Pin as Pin
from perdure.tools.net.gate import Pinned as Pinned
from perdure.tools.net.proxy import Caps as Caps
from perdure.tools.net.proxy import Proxy as Proxy
