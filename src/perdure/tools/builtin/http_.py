"""Tools that talk to the web. Each connection is judged, and made to an address that was looked at."""

import time
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from perdure.core.calls import Repeat
from perdure.tools.context import Context
from perdure.tools.tool import AnyTool, tool

LARGEST: Final = 10_000_000
"""Bytes of a body, sent or received."""
_PROMISED: Final[dict[str, Repeat]] = {
    "GET": "safe", "HEAD": "safe", "OPTIONS": "safe", "PUT": "keyed", "DELETE": "keyed",
}  # fmt: skip
"""What the protocol itself says about doing it twice."""

Method = Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]
Address = Annotated[str, Field(max_length=8_192)]
Headers = Annotated[dict[str, str], Field(max_length=100)]
Query = Annotated[dict[str, str | int | float | bool], Field(max_length=100)]
Seconds = Annotated[float, Field(gt=0, le=600)]
Bytes = Annotated[int, Field(ge=1, le=LARGEST)]


def _repeat(method: str, idempotent: bool | None = None) -> Repeat:  # noqa: FBT001  given by name
    """What the protocol promises of a method, or the caller of the other side."""
    promised = _PROMISED.get(method, "never")
    return promised if idempotent is None or promised == "safe" else "keyed" if idempotent else "never"


def _foresee(context: Context, url: str, query: dict[str, Any] | None = None) -> None:
    from perdure.tools.net import web  # noqa: PLC0415  most engines never ask the web

    web.foreseen(context.guard, url, query or {})


@tool(name="http.get", repeat="safe", effects=["network"], judges=True, foresee=_foresee)
def get(  # noqa: PLR0913  each word stands for itself where it is used
    *,
    url: Address,
    context: Context,
    query: Query | None = None,
    headers: Headers | None = None,
    timeout: Seconds = 60,
    max_bytes: Bytes = LARGEST,
    check: bool = True,
) -> dict[str, Any]:
    """Fetch something from the web.

    Args:
        url: Where, as in `https://example.com/data`.
        query: What to add to the URL; it is encoded here.
        headers: More headers.
        timeout: Seconds for all of it, redirects too.
        max_bytes: The most of the body that is kept; a longer one is cut, and `truncated` says so.
        check: Whether a status other than 2xx is a failure.
    """
    from perdure.tools.net import web  # noqa: PLC0415  most engines never ask the web

    asking = web.asking_of("GET", headers or {})
    bounds = web.Bounds(_until(context, timeout), max_bytes, lambda: context.cancelled)
    return web.result(web.asked(context.guard, asking, url, query or {}, bounds), asking, strict=check)


@tool(name="http.request", repeat=_repeat, effects=["network", "irreversible"], judges=True, foresee=_foresee)
def request(  # noqa: PLR0913  each word stands for itself where it is used
    *,
    method: Method,
    url: Address,
    context: Context,
    query: Query | None = None,
    headers: Headers | None = None,
    json: Any = None,
    body: Annotated[str, Field(max_length=LARGEST)] | None = None,
    idempotent: bool | None = None,
    timeout: Seconds = 60,
    max_bytes: Bytes = LARGEST,
    check: bool = True,
) -> dict[str, Any]:
    """Send a request to the web. One that changes something carries an `Idempotency-Key`.

    Args:
        method: What to do there.
        url: Where, as in `https://example.com/orders`.
        query: What to add to the URL; it is encoded here.
        headers: More headers.
        json: A value to send, as JSON.
        body: A text to send, in UTF-8.
        idempotent: Whether the other side knows a repetition by its `Idempotency-Key`, or takes no harm from it. Left
            out: PUT and DELETE are taken to be harmless, POST and PATCH are not.
        timeout: Seconds for all of it, redirects too.
        max_bytes: The most of the body that is kept; a longer one is cut, and `truncated` says so.
        check: Whether a status other than 2xx is a failure.
    """
    from perdure.tools.net import web  # noqa: PLC0415  most engines never ask the web

    repeat = _repeat(method, idempotent)
    asking = web.asking_of(method, headers or {}, json, body, key="" if repeat == "safe" else context.key)
    bounds = web.Bounds(_until(context, timeout), max_bytes, lambda: context.cancelled)
    found = web.asked(context.guard, asking, url, query or {}, bounds)
    return web.result(found, asking, strict=check, doubtful=repeat == "never")


HTTP: Final[tuple[AnyTool, ...]] = (get, request)


def _until(context: Context, timeout: float) -> float:
    left = context.seconds_left
    return time.monotonic() + (timeout if left is None else min(timeout, left))
