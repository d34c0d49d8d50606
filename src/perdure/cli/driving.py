"""Carrying a run on and following it: in this process if nobody owns the journal, else through the owner.

Whoever owns the journal drives all its runs. When an owner leaves while we follow one of them, we take over; if another
process was faster, the run is handed to that one.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

import click

from perdure.cli.codes import INTERRUPTED, LATE, LOCKED
from perdure.cli.commands import command, resume_command
from perdure.cli.following import Enough, follow, rests
from perdure.cli.granting import granted
from perdure.cli.hints import standing
from perdure.cli.interrupts import Interrupts
from perdure.cli.jobs import Fork, Job, Resume, Retry, Rollback
from perdure.cli.journals import opened
from perdure.cli.kits import kit_document, kit_tools, kit_words
from perdure.cli.observing import observed
from perdure.cli.printing import print_json
from perdure.cli.reaching import AGAIN, TRIES, ask_owner, is_owned, whoever
from perdure.cli.reporting import report
from perdure.cli.screens import Screen, screen_for
from perdure.config import Settings
from perdure.config.heads import models_of
from perdure.control import NoOwner, OwnerRefused
from perdure.core.refusing import Refused
from perdure.documents.listing import fork_of
from perdure.documents.runs import run_document
from perdure.engine import Engine, RunHandle, View
from perdure.engine.requests import OtherModels
from perdure.engine.upgrading import Gone
from perdure.errors import PerdureError
from perdure.plan import PlanError
from perdure.ports import Journal, JournalError, Locked
from perdure.runtime.room import Limits
from perdure.tools import AnyTool
from perdure.tools.mcp import Toolset

PATIENCE: Final = 10.0
"""Seconds that attempts at work have to end when somebody wants to stop."""
CLOSING: Final = 1.0
"""Seconds for what is left when all that was waited for is over."""
_LOOK: Final = 8
"""Times that a run is looked at before its owner is, when nothing comes."""


NOT_HERE: Final = frozenset({PlanError.code, Gone.code, OtherModels.code})
"""What an owner says that has not the tools of a run, or not its models."""


class NotThere(PerdureError):
    """The process that owns the journal cannot carry out this plan."""

    code: ClassVar[str] = "PRD3104"
    exit_code: int = LOCKED  # EX_TEMPFAIL: once that process has left, the same command can succeed


@dataclass(frozen=True, slots=True)
class Manner:
    """How a run is carried on and followed."""

    settings: Settings
    tools: tuple[AnyTool, ...] = ()
    addresses: tuple[str, ...] = ()
    """Where the tools come from, for the command that resumes."""
    toolset: Toolset | None = None
    """The MCP servers of the user; each is started when a tool of it is called."""
    workspace: Path | None = None
    """The directory to work on; None: where the command was given."""
    wait: bool = False
    """Stay until the run is over, also while it waits for somebody."""
    timeout: float | None = None
    patience: float = PATIENCE
    as_json: bool = False
    jsonl: bool = False
    begun: Callable[[str], None] = lambda _: None
    """Called with the run's id once it is durable."""

    @asynccontextmanager
    async def engine(self, patience: float = CLOSING) -> AsyncGenerator[Engine]:
        """An engine of our own; `Locked` if another process owns the journal."""
        most = self.settings.limits
        limits = Limits(most.run, most.total, most.tools)
        named = (*self.tools, *(self.toolset.tools() if self.toolset else ()))
        tools = {each.name: each for each in (*kit_tools(), *named)}
        async with AsyncExitStack() as closing:
            if self.toolset:
                closing.push_async_callback(self.toolset.close)
            opened = Engine.open(
                self.settings.db,
                tools=tools.values(),
                limits=limits,
                network=self.settings.network_disk,
                patience=patience,
                supervise=True,
                memory=most.memory,
                failures=self.settings.failures,
                agent_planning=self.settings.agent_planning,
                models=lambda: models_of(self.settings.heads),
                **granted(self.workspace),
            )
            engine = await closing.enter_async_context(opened)
            await closing.enter_async_context(observed(engine, self.settings.telling))
            yield engine

    def screen(self, view: View) -> Screen:
        """Where it is shown."""
        return screen_for(view, as_json=self.as_json, jsonl=self.jsonl)


async def carry_out(job: Job, manner: Manner) -> int:
    """Do it and follow it; the exit code."""
    with Interrupts() as interrupts:
        deadline = None if manner.timeout is None else asyncio.get_running_loop().time() + manner.timeout
        following = _Following(manner, interrupts, deadline)
        return await following.until_left(job)


async def _there(manner: Manner, run: str) -> int:
    async with opened(manner.settings) as journal:
        return (await journal.run(run)).head_seq


def _say_heard(left: int) -> None:
    """Answer a Ctrl-C once the pause is kept: nothing begins after these words."""
    if left == INTERRUPTED:
        click.echo("stopping at a safe point; once more leaves at once", err=True)


class _Following:
    """One run that is followed, whoever drives it."""

    def __init__(self, manner: Manner, interrupts: Interrupts, deadline: float | None) -> None:
        self._manner = manner
        self._interrupts = interrupts
        self._deadline = deadline
        self._announced = False
        self._shown = 0
        """The last entry that was shown, or was there before we came."""

    async def until_left(self, job: Job) -> int:
        if isinstance(job, (Resume, Retry, Rollback)):
            self._shown = await _there(self._manner, job.run)
        for left in reversed(range(TRIES)):
            try:
                if not self._manner.settings.server.url:
                    return await self._own(job)
            except Locked:
                if not left:
                    raise
            with suppress(NoOwner):
                code, run = await self._ask(job)
                if code is not None:
                    return code
                job = Resume(run)
            await asyncio.sleep(AGAIN)
        raise AssertionError  # the last try has left

    def _begun(self, run: str) -> None:
        if not self._announced:
            self._announced = True
            self._manner.begun(run)

    async def _skip_copied(self, job: Job, journal: Journal, run: str) -> None:
        """What a fork has taken over was shown when it happened."""
        if isinstance(job, Fork):
            self._shown = max(self._shown, fork_of(await journal.run(run))[1])

    # ------------------------------------------------------------ here

    async def _own(self, job: Job) -> int:
        async with AsyncExitStack() as closing:
            engine = await closing.enter_async_context(self._manner.engine())
            handle = engine.run(await job.begin(engine))
            self._begun(handle.id)
            await self._skip_copied(job, engine.journal, handle.id)
            view = View(engine.journal, handle.id)
            screen = self._manner.screen(view)
            left = await self._drive(engine, handle, view, screen)
            code = await self._report(engine.journal, view, left)
            if left is None:
                await self._stay_for_others(engine, handle.id)
        if left is not None and view.state.ended is None:
            self._say_paused(view)
        return code

    async def _drive(self, engine: Engine, handle: RunHandle, view: View, screen: Screen) -> int | None:
        leaving = False

        async def enough(view: View) -> bool:
            rest = rests(view.state) and handle.is_idle
            return rest and (leaving or not self._manner.wait)

        task = asyncio.create_task(follow(engine.journal, view, screen, enough, self._shown))
        driven = asyncio.create_task(driven_on(handle, task))
        try:
            left = await self._until(driven)
            if left is not None:
                leaving = True
                await _pause(engine, handle, "timeout" if left == LATE else "interrupted")
                _say_heard(left)
                await asyncio.wait([driven], timeout=self._manner.patience)
        finally:
            await _stopped(driven, task)
            await _drain(engine.journal, view, screen)
        return left

    async def _until(self, task: "asyncio.Task[None]") -> int | None:
        """Wait for the end of a task; or say why to leave before."""
        stop = asyncio.create_task(self._interrupts.asked.wait())
        try:
            await asyncio.wait([task, stop], timeout=self._left(), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
                return None
            return INTERRUPTED if stop.done() else LATE
        finally:
            stop.cancel()

    def _left(self) -> float | None:
        return None if self._deadline is None else max(0.0, self._deadline - asyncio.get_running_loop().time())

    async def _stay_for_others(self, engine: Engine, run: str) -> None:
        """Other processes may have had runs started here; they are not dropped in the middle of their work."""
        told = False
        while busy := [each for each, runner in engine.host.runners.items() if each != run and not runner.is_idle]:
            if not told:
                click.echo(f"staying for what others have started here: {', '.join(busy[:3])}", err=True)
                told = True
            with suppress(TimeoutError):
                await asyncio.wait_for(self._interrupts.asked.wait(), 0.2)
                return

    # ------------------------------------------------------------ through the owner

    async def _ask(self, job: Job) -> tuple[int | None, str]:
        """Have the owner do it, and follow. No code: that owner has left, and the run needs another."""
        run, owner = await self._asked(job)
        self._begun(run)
        async with opened(self._manner.settings) as journal:
            await self._skip_copied(job, journal, run)
            view = View(journal, run)
            screen = self._manner.screen(view)
            task = asyncio.create_task(follow(journal, view, screen, self._enough(owner), self._shown))
            try:
                left = await self._until(task)
                if left is not None:
                    await self._pause_there(run)
                    _say_heard(left)
            finally:
                await _stopped(task)
                await _drain(journal, view, screen)
            self._shown = view.seq
            if left is None and view.state.ended is None and not self._is_enough(view):
                return None, run
            code = await self._report(journal, view, left)
        if left is not None and view.state.ended is None:
            self._say_paused(view)
        return code, run

    async def _asked(self, job: Job) -> tuple[str, str]:
        """The run, and who has it."""
        try:
            reached = await ask_owner(self._manner.settings, job.request())
        except OwnerRefused as refusal:
            if refusal.code not in NOT_HERE:
                raise
            hint = "wait until that process has left, or name another journal with --db"
            told = f"the process that has the journal cannot carry this out: {refusal.message}"
            raise NotThere(told, hint) from refusal
        return reached.done if isinstance(reached.done, str) else reached.done[0], reached.owner

    def _is_enough(self, view: View) -> bool:
        return not self._manner.wait and rests(view.state)

    def _enough(self, owner: str) -> Enough:
        idle = 0

        async def enough(view: View) -> bool:
            nonlocal idle
            idle += 1
            if self._is_enough(view):
                return True
            return idle % _LOOK == 0 and not await is_owned(self._manner.settings, owner)

        return enough

    async def _pause_there(self, run: str) -> None:
        with suppress(PerdureError):
            await ask_owner(self._manner.settings, {"do": "pause", "run": run, "by": whoever(None)})

    # ------------------------------------------------------------ the end

    async def _report(self, journal: Journal, view: View, left: int | None) -> int:
        manner = self._manner
        if left is None or view.state.ended is not None:
            said = await (kit_document if manner.as_json else kit_words)(journal, view)
            return report(view, manner.addresses, said, as_json=manner.as_json, jsonl=manner.jsonl)
        if manner.as_json:
            print_json(run_document(view, command=command))
        return left

    def _say_paused(self, view: View) -> None:
        command = resume_command(view.run, self._manner.addresses)
        word = "is paused" if view.status == "paused" else standing(view.state).removeprefix(f"run {view.run} ")
        click.echo(f"run {view.run} {word}; resume with: {command}", err=True)


async def _pause(engine: Engine, handle: RunHandle, reason: str) -> None:
    state = (await engine.host.runner(handle.id)).state
    if state.stopping is None and state.ended is None:
        with suppress(Refused):
            await handle.pause(reason, whoever(None))


async def driven_on(handle: RunHandle, following: "asyncio.Task[None]") -> None:
    """Until a run was followed far enough. That it cannot be driven any more is not in its journal: that is raised."""
    over = asyncio.create_task(handle.result())
    try:
        await asyncio.wait([over, following], return_when=asyncio.FIRST_COMPLETED)
        if over.done():
            over.result()
        await following
    finally:
        over.cancel()


async def _stopped(*tasks: "asyncio.Task[None]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def _drain(journal: Journal, view: View, screen: Screen) -> None:
    """Show the last that is there."""
    with suppress(JournalError):
        while page := await journal.read(view.run, view.seq):
            for entry in page:
                event = view.take(entry)
                screen.passed(event)
                screen.told(entry, event)
    screen.close(view)
