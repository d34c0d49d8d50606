"""`perdure mcp` without a command: this process is an MCP server for the client that has started it.

A client comes and goes, and its runs shall not. So they are driven by whoever owns the journal, or by a process in the
background, as with `--detach`; this one only looks at the journal and hands on messages.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from perdure.cli.carrying import Carry
from perdure.cli.detaching import detached
from perdure.cli.driving import Manner
from perdure.cli.granting import granted
from perdure.cli.jobs import Job, Start, job_of
from perdure.cli.journals import opened
from perdure.cli.reaching import reach, whoever
from perdure.cli.worlds import Yours
from perdure.config.heads import models_of
from perdure.documents.owning import is_interrupted, writer_of
from perdure.engine import Engine, Result, View
from perdure.journal import open_journal
from perdure.mcp import Caller, Callers, server_of
from perdure.mcp.scopes import APPROVE, READ, RUN, via
from perdure.plan import Plan
from perdure.ports import Journal

BEGINNING: Final = frozenset({"start", "fork", "resume", "retry", "rollback"})
"""After these somebody has to drive a run."""
GLANCE: Final = 1.0
"""Seconds after which it is looked again whether anybody drives a run that is waited for."""


class Elsewhere:
    """A journal that others write, and an engine that remembers nothing."""

    def __init__(self, manner: Manner, world: Yours) -> None:
        self._manner = manner
        self._world = world

    @asynccontextmanager
    async def journal(self) -> AsyncGenerator[Journal]:
        """The journal, to be read; one that is not there yet is empty."""
        if self._manner.settings.db.exists():
            async with opened(self._manner.settings) as journal:
                yield journal
        else:
            empty = await open_journal(":memory:")
            try:
                yield empty
            finally:
                await empty.close()

    @asynccontextmanager
    async def engine(self) -> AsyncGenerator[Engine]:
        """One that knows what there is here."""
        settings = self._manner.settings
        async with Engine.open(
            tools=self._world.tools(),
            failures=settings.failures,
            agent_planning=settings.agent_planning,
            models=lambda: models_of(settings.heads),
            **granted(self._manner.workspace),
        ) as engine:
            yield engine

    def owner(self) -> str:
        """The process that has the journal."""
        return writer_of(self._manner.settings.db)

    async def ask(self, request: Mapping[str, Any]) -> Any:
        """Done by the owner of the journal. Where there is none, a process is begun that drives the run, if need be."""
        if request["do"] not in BEGINNING:
            return (await reach(self._manner.settings, request)).done
        run, _ = await detached(self._manner, self._job(request))
        return run

    def _job(self, request: Mapping[str, Any]) -> Job:
        """What is to be begun; a new run works where this process was begun."""
        if request["do"] != "start":
            return job_of(request)
        place, models = str(self._world.workspace), self._manner.settings.heads.tiers
        return job_of({**request, "workspace": place, "models": models})


def carried_elsewhere(manner: Manner) -> Carry:
    """Carries runs out that a plan is waited for; they are remembered like any other."""

    def carry(plan: Plan, inputs: Mapping[str, Any]) -> tuple[str, Result]:
        return asyncio.run(_carried(manner, Start(plan, inputs)))

    return carry


async def _carried(manner: Manner, job: Start) -> tuple[str, Result]:
    run, _ = await detached(manner, job)
    async with opened(manner.settings) as journal:
        view = View(journal, run)
        while True:
            while entries := await journal.read(run, view.seq):
                for entry in entries:
                    view.take(entry)
            if view.state.ended is not None or is_interrupted(view.status, writer_of(manner.settings.db)):
                return run, view.result
            await journal.grown(run, view.seq, GLANCE)


def caller_here(*, may_answer: bool) -> Callers:
    """Whoever has started us, through their client: it may begin runs, and answer only if they have said so."""
    scopes = frozenset((READ, RUN, APPROVE) if may_answer else (READ, RUN))

    def caller(context: Any) -> Caller:
        return Caller(via(whoever(None), context), scopes)

    return caller


async def serve_client(manner: Manner, *, may_answer: bool) -> None:
    """Talk to the client on standard input and output until it leaves."""
    world = Yours(manner, lambda _: carried_elsewhere(manner))
    try:
        await server_of(Elsewhere(manner, world), world, caller_here(may_answer=may_answer)).run_stdio_async()
    finally:
        if manner.toolset:
            await manner.toolset.close()
