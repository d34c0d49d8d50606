"""Scopes: what somebody has to be allowed for a route. Each route has one, written where the route is."""

from collections.abc import Collection, Iterable, MutableMapping
from typing import Any, Final, Literal, cast

from starlette.routing import BaseRoute, Match

Scope = Literal["read", "run", "approve", "admin"]
ALL: Final[tuple[Scope, ...]] = ("read", "run", "approve", "admin")
Open = Literal["open"]
"""In the place of a scope: nobody has to be known."""
OPEN: Final[Open] = "open"
WORD: Final = "x-scope"
"""Where a route says it, also in the OpenAPI document."""
_IMPLIED: Final[dict[str, frozenset[Scope]]] = {
    "read": frozenset({"read"}),
    "run": frozenset({"run", "read"}),
    "approve": frozenset({"approve", "read"}),
    "admin": frozenset(ALL),
}


def allows(granted: Collection[str], wanted: Scope) -> bool:
    """Whether somebody who has these scopes may do what needs that one."""
    return any(wanted in _IMPLIED.get(each, ()) for each in granted)


def scope_for(routes: Iterable[BaseRoute], asked: MutableMapping[str, Any]) -> str | None:
    """What a request needs, from its ASGI scope: a scope, `OPEN`, or None: no route says anything about it."""
    found = next((each for each in routes if each.matches(asked)[0] == Match.FULL), None)
    said = cast("dict[str, Any]", getattr(found, "openapi_extra", None) or {})
    return said.get(WORD)
