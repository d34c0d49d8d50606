"""Serving: what the commands share that open a door to others. The library that speaks HTTP is an extra."""

from importlib.util import find_spec
from typing import ClassVar, Final

from perdure.cli.codes import USAGE
from perdure.errors import PerdureError

_LIBRARIES: Final = ("fastapi", "uvicorn")
SCOPES: Final = ("read", "run", "approve", "admin")
"""What a key or a session may be good for; written here too, so that help needs no library."""


class NoLibrary(PerdureError):
    """What speaks HTTP is not installed."""

    code: ClassVar[str] = "PRD6032"
    exit_code: int = USAGE


def need_server() -> None:
    """Refuse where the extra is not installed."""
    if not all(map(find_spec, _LIBRARIES)):
        raise NoLibrary("what speaks HTTP is not installed", 'pip install "perdure[server]"')
