"""The HTTP API: routes over an engine. It looks at the journal and sends messages, and keeps nothing itself."""

from perdure.server.app import app_of as app_of
from perdure.server.callers import Caller as Caller
from perdure.server.keys import Keys as Keys
from perdure.server.names import Names as Names
from perdure.server.scopes import Scope as Scope
from perdure.server.scopes import scope_for as scope_for
from perdure.server.serving import guarded as guarded
