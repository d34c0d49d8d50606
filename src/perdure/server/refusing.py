"""What the guard refuses: each with a code, and the status of HTTP that goes with it."""

from collections.abc import Mapping
from typing import ClassVar

from perdure.server.errors import RequestError


class Refusal(RequestError):
    """A request is not let in."""

    headers: ClassVar[Mapping[str, str]] = {}
    """What is said besides, for those who read headers."""


class ForeignHost(Refusal):
    """The request means another host: a page that has its name point at us, perhaps."""

    code: ClassVar[str] = "PRD6020"
    status: ClassVar[int] = 421


class ForeignOrigin(Refusal):
    """A page of somebody else's sent it."""

    code: ClassVar[str] = "PRD6021"
    status: ClassVar[int] = 403


class NoKey(Refusal):
    """Nobody says who asks, or not truly."""

    code: ClassVar[str] = "PRD6022"
    status: ClassVar[int] = 401
    headers: ClassVar[Mapping[str, str]] = {"WWW-Authenticate": "Bearer"}


class NoScope(Refusal):
    """Whoever asks may not do this."""

    code: ClassVar[str] = "PRD6023"
    status: ClassVar[int] = 403


class OddRequest(Refusal):
    """A request is not written in the one way that everybody reads alike."""

    code: ClassVar[str] = "PRD6024"


class NotThisWay(OddRequest):
    """No method of ours."""

    status: ClassVar[int] = 405
    headers: ClassVar[Mapping[str, str]] = {"Allow": "GET, HEAD, POST, DELETE"}


class HeadTooLarge(OddRequest):
    """More headers than anybody needs."""

    status: ClassVar[int] = 431


class BodyTooSlow(Refusal):
    """A body that does not come."""

    code: ClassVar[str] = "PRD6026"
    status: ClassVar[int] = 408


class TooMany(Refusal):
    """More is asked at once than there is room for."""

    code: ClassVar[str] = "PRD6027"
    status: ClassVar[int] = 429
    headers: ClassVar[Mapping[str, str]] = {"Retry-After": "1"}


class KeyInAddress(Refusal):
    """A key stands in an address, where logs and histories keep it."""

    code: ClassVar[str] = "PRD6029"


class LinkIsOver(Refusal):
    """A link was used, is too old, or never was."""

    code: ClassVar[str] = "PRD6036"
    status: ClassVar[int] = 410
