"""How this server comes to a journal and to whoever drives its runs. It may be this process, or another one."""

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

from perdure.control import Request
from perdure.engine import Engine
from perdure.engine.requests import replies_of
from perdure.ports import Journal


class Reach(Protocol):
    """What the tools of this server stand on."""

    def journal(self) -> AbstractAsyncContextManager[Journal]:
        """The journal, to be read."""
        ...

    def engine(self) -> AbstractAsyncContextManager[Engine]:
        """An engine that knows what there is here; to ask it and to plan with it, not to begin runs."""
        ...

    def owner(self) -> str:
        """Who carries runs on; empty: nobody does."""
        ...

    async def ask(self, request: Mapping[str, Any]) -> Any:
        """Have a message of `engine.requests` done; what came of it."""
        ...


class ByEngine:
    """By an engine of this process, which somebody else opens and closes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._reply = replies_of(engine)

    @asynccontextmanager
    async def journal(self) -> AsyncGenerator[Journal]:
        """That of the engine."""
        yield self._engine.journal

    @asynccontextmanager
    async def engine(self) -> AsyncGenerator[Engine]:
        """The engine."""
        yield self._engine

    def owner(self) -> str:
        """This process."""
        return str(os.getpid())

    async def ask(self, request: Mapping[str, Any]) -> Any:
        """Done here."""
        return (await self._reply(Request(dict(request), os.getpid(), os.getuid())))["done"]
