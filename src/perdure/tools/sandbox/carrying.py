"""A command on a stage: run, looked at, and carried over into the workspace if it may be.

What it has changed is written down before anything is carried over, under the key of the deed. So whoever is asked
agrees to exactly that, and not to a second run of the command; and after a crash it is carried over, not run again.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from perdure.core.policy import Deed
from perdure.tools.changes import ChangeSet, Images, carry_out
from perdure.tools.context import Context
from perdure.tools.failure import ToolFailure, unchanged
from perdure.tools.sandbox.collecting import collected
from perdure.tools.sandbox.command import Command, Ran
from perdure.tools.sandbox.ending import surely
from perdure.tools.sandbox.errors import SandboxFailed, SandboxUnavailable, StageFailed
from perdure.tools.sandbox.finding import Findings, Found
from perdure.tools.sandbox.hiding import hidden_from
from perdure.tools.sandbox.layer import left_on
from perdure.tools.sandbox.probes import available
from perdure.tools.sandbox.running import run
from perdure.tools.sandbox.stage import Stage, Staging, staged
from perdure.tools.sandbox.telling import hearing, refuse_bad_end, told

Output = dict[str, Any]
FEW: Final = 20


def _nothing_more(_: Ran) -> Output:
    return {}


@dataclass(frozen=True, slots=True)
class Errand:
    """A command, and what is wanted of it."""

    command: Command
    name: str
    """As failures call it."""
    deeds: tuple[Deed, ...]
    check: bool = True
    """Whether a code other than 0 is a failure."""
    keep: bool = True
    """Whether what it changes is kept."""
    more: Callable[[Ran], Output] = _nothing_more
    """What else it gives."""
    collect: Sequence[str] = ()
    """Paths and patterns of files that are read when it has ended, whatever becomes of its changes."""


async def carried(context: Context, errand: Errand) -> Output:
    """Run it, and carry its changes over. `ToolFailure` leaves the workspace as it was."""
    have_judged(context, errand.deeds)
    findings = Findings(context.hands.state, context.key)
    found = await asyncio.to_thread(findings.get)
    if found is None:
        with unchanged():
            found = await _ran(context, errand)
            if not found.changes.changes:
                return {**found.output, "changes": [], "diff": ""}
            await asyncio.to_thread(findings.put, found)
    context.kept_in(found.output["sandboxed"])
    try:
        made = await surely(asyncio.to_thread(carry_out, context, found.changes))
    except ToolFailure as failure:
        if failure.failure.kind not in ("in_doubt", "unavailable"):
            findings.forget()
        raise
    return {**found.output, **made}


def have_judged(context: Context, deeds: Iterable[Deed]) -> None:
    """One by one, so that what is agreed to holds for a connection by itself."""
    for deed in deeds:
        context.guard.check([deed])


async def _ran(context: Context, errand: Errand) -> Found:
    try:
        report = await available(context.hands)
        hidden = await asyncio.to_thread(hidden_from, context)
        command = replace(errand.command, hidden=[*errand.command.hidden, *hidden])
        async with _on_stage(context, report.staging) as stage:
            return await _run(stage, context, replace(errand, command=command))
    except (SandboxUnavailable, SandboxFailed, StageFailed) as error:
        said = f"{error.code}: {error.message}" + (f"; {error.help}" if error.help else "")
        raise ToolFailure("unavailable", said) from error


async def _run(stage: Stage, context: Context, errand: Errand) -> Found:
    most = errand.command.limits.disk
    context.kept_in(errand.command.tier)
    ran = await run(stage.command(errand.command), hearing(context), lambda: "disk" if stage.grown_over(most) else "")
    refuse_bad_end(errand.name, ran, check=errand.check, repeat="never" if errand.command.network else "safe")
    read = await asyncio.to_thread(collected, stage, context, errand.collect)
    output = {**told(ran), **errand.more(ran), **read, "staging": stage.kind}
    if not errand.keep or ran.code != 0:
        return Found(output, ChangeSet(()), context.run)
    left = await asyncio.to_thread(left_on, stage, Images(context.hands.state))
    more = {"left_out": left.left_out[:FEW]} if left.left_out else {}
    return Found({**output, **more}, left.changes, context.run)


@asynccontextmanager
async def _on_stage(context: Context, staging: Staging) -> AsyncGenerator[Stage]:
    """A stage that is made and removed in a thread, each to its end."""
    made = staged(context.hands.state, context.hands.workspace, staging)

    def leave() -> None:
        made.__exit__(None, None, None)

    try:
        stage = await surely(asyncio.to_thread(made.__enter__))
    except asyncio.CancelledError:
        with contextlib.suppress(Exception):  # it was not made after all
            await surely(asyncio.to_thread(leave))
        raise
    try:
        yield stage
    finally:
        await surely(asyncio.to_thread(leave))
