"""Messages to a run elsewhere: each request of the control socket has a route of its own, with the same fields."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from perdure.remote.errors import NotFromElsewhere, OtherServer
from perdure.remote.line import Line
from perdure.remote.wire import SCHEMA, Owner, owner_in

_ROUTES: Final = {
    "start": "/v1/runs",
    "stop": "/v1/stop",
    "resume": "/v1/runs/{run}/resume",
    "retry": "/v1/runs/{run}/retry",
    "fork": "/v1/runs/{run}/fork",
    "rollback": "/v1/runs/{run}/rollback",
    "pause": "/v1/runs/{run}/pause",
    "cancel": "/v1/runs/{run}/cancel",
    "signal": "/v1/runs/{run}/signals",
    "revise": "/v1/runs/{run}/revise",
    "answer": "/v1/runs/{run}/questions/{question}",
}
_IN_PATH: Final = ("do", "run", "question")
_NOT_SENT: Final = {"start": ("models",), "stop": ("by",)}
"""Who answers there is for the server to say; and who stops everything, its key says."""


async def tell(line: Line, request: Mapping[str, Any]) -> dict[str, Any]:
    """Have a request of the control socket done over HTTP; the same reply."""
    verb = str(request["do"])
    if verb == "who":
        return {"done": {}, **_as_reply(await who(line))}
    if verb not in _ROUTES or ("{run}" in _ROUTES[verb] and not request.get("run")):
        raise NotFromElsewhere(f"{verb} is only done where the journal is", "do it there")
    names = {name: quote(str(request.get(name, "")), safe="") for name in ("run", "question")}
    left_out = (*_IN_PATH, *_NOT_SENT.get(verb, ()))
    body = {name: value for name, value in request.items() if name not in left_out and value is not None}
    reply = await line.post(_filled(_ROUTES[verb], names), body)
    if "driven" in reply:
        return reply
    done = reply.get("runs") if verb == "stop" else reply.get("id")
    return {"done": done, **_as_reply(await who(line))}


def _filled(route: str, names: Mapping[str, str]) -> str:
    """A route with its names in their places."""
    for name, value in names.items():
        route = route.replace(f"{{{name}}}", value)
    return route


async def who(line: Line) -> Owner:
    """Who has the journal."""
    found = owner_in(await line.get("/v1/journal"))
    if found.journal != SCHEMA:
        raise OtherServer(
            f"the server is Perdure {found.version} and sends {found.journal[:60]}; this release reads {SCHEMA}",
            "use the same release of Perdure on both sides",
        )
    return found


def _as_reply(owner: Owner) -> dict[str, Any]:
    return {"driven": owner.driven, "owner": owner.owner}
