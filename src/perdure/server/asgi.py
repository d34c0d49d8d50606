"""The words of ASGI, in which layers speak with each other."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scoped = MutableMapping[str, Any]
"""What ASGI calls a scope: all that is known of a request before its body."""
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scoped, Receive, Send], Awaitable[None]]
