"""What can go wrong between this process and a server."""

from typing import ClassVar

from perdure.errors import HandedOn, PerdureError


class RemoteError(PerdureError):
    """A server elsewhere did not give what was asked of it."""


class Unreachable(RemoteError):
    """The server is not there, or not any more. Nothing was changed by what was asked."""

    code: ClassVar[str] = "PRD6040"
    exit_code: int = 75  # EX_TEMPFAIL: once it is there, the same command can succeed


class InDoubt(RemoteError):
    """The server went away after it was asked to do something. Whether it did is not known."""

    code: ClassVar[str] = "PRD6041"


class Insecure(RemoteError):
    """Others on the way could read the key."""

    code: ClassVar[str] = "PRD6042"
    exit_code: int = 2


class OtherServer(RemoteError):
    """What answers is no Perdure, or one that is read in another way."""

    code: ClassVar[str] = "PRD6043"


class BadKeyFile(RemoteError):
    """The file of the key cannot be used."""

    code: ClassVar[str] = "PRD6044"
    exit_code: int = 6


class NotFromElsewhere(RemoteError):
    """It can only be done where the journal is."""

    code: ClassVar[str] = "PRD6045"
    exit_code: int = 2


class BadAddress(RemoteError):
    """The address of a server is none."""

    code: ClassVar[str] = "PRD6046"
    exit_code: int = 2


class ServerRefused(HandedOn, RemoteError):
    """The server got what was asked and did not do it. It carries the server's own code."""

    code: ClassVar[str] = "PRD6047"
