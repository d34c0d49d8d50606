"""What can be wrong with a request, whatever it asks for."""

from collections.abc import Sequence
from typing import ClassVar

from perdure.errors import PerdureError
from perdure.plan.problems import Problem


class RequestError(PerdureError):
    """A request cannot be taken as it came."""

    status: ClassVar[int] = 400
    """Of HTTP."""


class NoRoute(RequestError):
    """There is nothing at this address."""

    code: ClassVar[str] = "PRD6001"
    status: ClassVar[int] = 404


class WrongMethod(RequestError):
    """There is something at this address, and this cannot be done with it."""

    code: ClassVar[str] = "PRD6002"
    status: ClassVar[int] = 405


class NotJson(RequestError):
    """The body is not said to be JSON."""

    code: ClassVar[str] = "PRD6003"
    status: ClassVar[int] = 415


class TooLarge(RequestError):
    """The body is larger than any request has to be."""

    code: ClassVar[str] = "PRD6004"
    status: ClassVar[int] = 413


class Invalid(RequestError):
    """The request lacks something, or has something that is not what it should be. `problems` has every place."""

    code: ClassVar[str] = "PRD6005"
    status: ClassVar[int] = 422

    def __init__(self, message: str, help: str = "", problems: Sequence[Problem] = ()) -> None:  # noqa: A002  the word users read
        super().__init__(message, help)
        self.problems = tuple(problems)


class Broken(RequestError):
    """Something failed here that is no fault of the request."""

    code: ClassVar[str] = "PRD6006"
    status: ClassVar[int] = 500


class NotReady(RequestError):
    """Nothing is carried on here now."""

    code: ClassVar[str] = "PRD6007"
    status: ClassVar[int] = 503


class NoPage(RequestError):
    """The web page is not there: it was not built."""

    code: ClassVar[str] = "PRD6060"
    status: ClassVar[int] = 503


class Ahead(RequestError):
    """Somebody has seen more than this journal has."""

    code: ClassVar[str] = "PRD6008"
    status: ClassVar[int] = 409
