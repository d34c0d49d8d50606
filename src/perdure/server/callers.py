"""Callers: who a request comes from. Whoever guards the door says so; without a guard, everybody may do everything."""

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends, Request
from starlette.requests import HTTPConnection

from perdure.server.scopes import ALL, Scope

CALLER: Final = "caller"
"""Where in the state of a request the guard puts it."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks."""

    name: str = ""
    """Empty: nobody said so, and whoever asks may."""
    scopes: tuple[Scope, ...] = ALL

    def named(self, said: str) -> str:
        """In whose name something is done: nobody speaks in that of another."""
        return self.name or said


def caller_of(request: HTTPConnection) -> Caller:
    """Who a request comes from."""
    return getattr(request.state, CALLER, None) or Caller()


async def _caller(request: Request) -> Caller:
    return caller_of(request)


Asking = Annotated[Caller, Depends(_caller)]
