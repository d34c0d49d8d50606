"""What can go wrong between a process and the owner of a journal."""

from typing import ClassVar

from perdure.errors import HandedOn, PerdureError


class ControlError(PerdureError):
    """A message did not get to the owner, or no good answer came back."""


class OwnerRefused(HandedOn, ControlError):
    """The owner got the message and did not do it. It carries the owner's own code, if there was one."""

    code: ClassVar[str] = "PRD2301"


class NoOwner(ControlError):
    """Nobody listens there."""

    code: ClassVar[str] = "PRD2302"


class NoAnswer(ControlError):
    """The owner was reached and then said nothing; whether it did what was asked is not known."""

    code: ClassVar[str] = "PRD2303"


class OtherVersion(ControlError):
    """The two sides speak different versions."""

    code: ClassVar[str] = "PRD2304"


class Garbled(ControlError):
    """A line is no message."""

    code: ClassVar[str] = "PRD2305"


class TooLong(Garbled):
    """A message has more bytes than a line may have. It was not sent."""

    code: ClassVar[str] = "PRD2309"
    exit_code: int = 75  # EX_TEMPFAIL: once the owner has left, the same command can succeed


class CannotListen(ControlError):
    """The socket cannot be made."""

    code: ClassVar[str] = "PRD2306"


class NameTooLong(ControlError):
    """No socket can have this name."""

    code: ClassVar[str] = "PRD2307"


class Stranger(ControlError):
    """The other side belongs to another user."""

    code: ClassVar[str] = "PRD2308"
