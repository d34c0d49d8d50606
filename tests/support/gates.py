"""Gates and attempts for tests of the network."""

from perdure.core.calls import Call
from perdure.core.policy import Layer, Terms
from perdure.ports import Attempt
from perdure.tools.guard import Guard
from perdure.tools.net import Gate
from perdure.tools.net.addresses import resolved


def allowing(*hosts, ask=(), deny=()):
    """The layers of a user who allows these hosts."""
    return (Layer("user", network=Terms(allow=hosts, ask=ask, deny=deny)),)


def attempt_of(name="http.get", arguments=None, layers=(), approved=()):
    call = Call("tool", name, arguments or {})
    return Attempt("r_1", "fetch", 1, 1, "key-1", call, layers=layers, approved=frozenset(approved))


def gate_of(*hosts, resolve=resolved):
    return Gate(Guard(attempt_of(layers=allowing(*hosts))), resolve)
