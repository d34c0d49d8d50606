"""Problems: whatever goes wrong is answered as `application/problem+json` (RFC 9457), with our codes."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from perdure import errors
from perdure.core import refusing
from perdure.core.values import to_json, well_formed
from perdure.engine.requests import Passing
from perdure.errors import PerdureError
from perdure.plan.problems import MOST, TOLD, HasProblems, Path, Problem, written
from perdure.ports import Closed, Corrupt, DiskFull, NoMemory, ReadOnlyDisk, Suspect, UnknownArtifact
from perdure.server.errors import Broken, Invalid, NoRoute, RequestError, WrongMethod

_log: Final = logging.getLogger("perdure.server")
MEDIA_TYPE: Final = "application/problem+json"
_STATUSES: Final[Mapping[type[PerdureError], int]] = {
    refusing.OtherRevision: 412,
    refusing.Answered: 409,
    refusing.BadAnswer: 422,
    refusing.NoQuestion: 404,
    refusing.Refused: 409,
    HasProblems: 422,
    UnknownArtifact: 404,
    Corrupt: 500,
    DiskFull: 503,
    Suspect: 503,
    ReadOnlyDisk: 503,
    Closed: 503,
    NoMemory: 503,
    Passing: 503,
}
_BY_EXIT: Final = {2: 422, 3: 404, 6: 422, 75: 503}
"""What a command ends with says what sort of error it is."""
MEANINGS: Final = {
    401: "Nobody knows who asks.",
    403: "Whoever asks may not do this.",
    404: "There is no such thing.",
    409: "It does not fit what is so now. Nothing has changed.",
    412: "It was made for another revision. Nothing has changed.",
    413: "The body is too large.",
    415: "The body is not said to be JSON.",
    422: "Something in the request is not what it should be; `problems` says where.",
    429: "Too much was asked; `Retry-After` says when to come again.",
    500: "Something is broken here, whatever was asked.",
    503: "It cannot be done now.",
}


def status_of(error: PerdureError) -> int:
    """The status of HTTP that an error has."""
    if isinstance(error, RequestError):
        return error.status
    known = next((_STATUSES[each] for each in type(error).__mro__ if each in _STATUSES), None)
    return known or _BY_EXIT.get(error.exit_code, 409)


def problem_document(error: PerdureError) -> dict[str, Any]:
    """An error as RFC 9457 has it."""
    return {
        "type": f"/docs/{error.code}",
        "title": _title(error.code),
        "status": status_of(error),
        "detail": well_formed(error.message),
        "code": error.code,
        "help": well_formed(error.help) or None,
        "exit_code": error.exit_code,
        "problems": [each.as_json() for each in _problems_of(error)],
    }


def _problems_of(error: PerdureError) -> Sequence[Problem]:
    return cast("Sequence[Problem]", getattr(error, "problems", ()))[:MOST]


@cache
def _title(code: str) -> str:
    return errors.title(code)


def problem(error: PerdureError, headers: Mapping[str, str] | None = None) -> Response:
    """The answer that tells of an error."""
    said = {"Cache-Control": "no-store", **(headers or {})}
    return Response(to_json(problem_document(error)), status_of(error), said, MEDIA_TYPE)


# ------------------------------------------------------------------------------- what the framework finds


def tell_all(app: FastAPI) -> None:
    """Have an app tell of everything that goes wrong in this way."""
    app.add_exception_handler(PerdureError, _of_ours)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(HTTPException, _of_the_framework)
    app.add_exception_handler(Exception, _of_a_mistake)


async def _of_ours(_: Request, error: Exception) -> Response:
    assert isinstance(error, PerdureError)  # noqa: S101  it is registered for these
    if status_of(error) == Broken.status:
        _log.error("%s: %s", error.code, error.message)
    return problem(error)


async def _of_validation(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101  as above
    found = [*_flaws(error.errors())]
    told = "; ".join(f"{written(each.path)}: {each.message}" for each in found[:TOLD])
    return problem(Invalid(f"the request is not what it should be: {told}", "see /openapi.json", found))


def _flaws(found: Iterable[Any]) -> Iterator[Problem]:
    for each in found:
        place: Path = tuple(part if isinstance(part, int) else well_formed(str(part)) for part in each["loc"])
        yield Problem(Invalid.code, well_formed(str(each["msg"])), place)


async def _of_the_framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  as above
    place = f"{request.method} {well_formed(request.url.path)}"
    if error.status_code == NoRoute.status:
        return problem(NoRoute(f"there is nothing at {place}", "see /docs"))
    if error.status_code == WrongMethod.status:
        return problem(WrongMethod(f"{place} cannot be done", "see /docs"), error.headers)
    return problem(Invalid(f"{place}: {error.detail}"))


async def _of_a_mistake(request: Request, error: Exception) -> Response:
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem(Broken("something failed here that is no fault of the request", "the log of the server says what"))
