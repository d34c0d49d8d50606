"""Following redirects: each place it leads to is judged anew, and what was meant for one origin stays there."""

from dataclasses import replace
from typing import Final

from perdure.tools.failure import ToolFailure
from perdure.tools.guard import Unapproved
from perdure.tools.net.answer import Answer
from perdure.tools.net.asking import Asking, Bounds, ask
from perdure.tools.net.gate import Gate
from perdure.tools.net.url import Url

MOST: Final = 5
_AS_IT_WAS: Final = frozenset({307, 308})
"""Statuses that ask for the same request elsewhere: it has not been carried out."""
_TO_GET: Final = frozenset({301, 302, 303})
_ANYWHERE: Final = frozenset({"accept", "accept-language", "user-agent"})
"""Headers that say nothing about who asks. A key can be in any other, not only in `Authorization`."""
_OF_BODY: Final = frozenset({"content-type", "content-encoding", "content-language", "idempotency-key"})


def followed(gate: Gate, asking: Asking, url: Url, bounds: Bounds, most: int = MOST) -> tuple[Answer, str]:
    """The last answer on the way, and why it was not followed further although it is a redirect."""
    for _ in range(most):
        answer, location = _asked(gate, asking, url, bounds)
        if location is None:
            return answer, ""
        if not asking.is_safe and answer.status in _TO_GET:
            return _looked_at(gate, asking, answer, location, bounds)
        url, asking = _next(asking, url, url.beside(location))
    answer, location = _asked(gate, asking, url, bounds)
    return answer, "" if location is None else f"there were more than {most} redirects"


def _asked(gate: Gate, asking: Asking, url: Url, bounds: Bounds) -> tuple[Answer, str | None]:
    """The answer, and where it leads if it is a redirect."""
    answer = ask(gate, asking, url, bounds)
    return answer, answer.headers.get("location") if answer.status in _AS_IT_WAS | _TO_GET else None


def _next(asking: Asking, here: Url, there: Url) -> tuple[Url, Asking]:
    if here.scheme == "https" and there.scheme == "http":
        raise ToolFailure("denied", f"{here.authority} redirects from https to {there}, where everybody can listen")
    if here.origin == there.origin:
        return there, asking
    if not asking.is_safe:
        raise ToolFailure(
            "denied", f"{here.authority} redirects the request to another origin; to send it there, ask {there}"
        )
    kept = {name: value for name, value in asking.headers.items() if name.lower() in _ANYWHERE}
    return there, replace(asking, headers=kept)


def _looked_at(gate: Gate, asking: Asking, answer: Answer, location: str, bounds: Bounds) -> tuple[Answer, str]:
    """What a request that was carried out points to. It was: so whatever goes wrong from here on does not undo it."""
    headers = {name: value for name, value in asking.headers.items() if name.lower() not in _OF_BODY}
    try:
        there, get = _next(Asking("GET", headers), answer.url, answer.url.beside(location))
        return followed(gate, get, there, bounds)
    except (ToolFailure, Unapproved) as stopped:
        return answer, str(stopped)
