"""`perdure resume`: go on with a run that was paused, that waited, or whose process is gone."""

import asyncio
from contextlib import suppress
from typing import Any, Final

import click

from perdure.cli.codes import BUDGET, CANCELLED, FAILED, INTERRUPTED, LATE, OK, WAITING, code_of
from perdure.cli.detaching import detach_resume
from perdure.cli.driving import Manner, Resume, driven_on
from perdure.cli.following import follow, rests
from perdure.cli.hints import standing
from perdure.cli.interrupts import Interrupts, carried_out
from perdure.cli.journals import settings_for
from perdure.cli.manners import carried_on, driving_options, manner_for
from perdure.cli.printing import print_json
from perdure.cli.reaching import Reached, full_id, owner_or, whoever
from perdure.cli.reporting import say_waits
from perdure.cli.screens import Silent
from perdure.engine import Engine, View
from perdure.errors import PerdureError
from perdure.plan.visible import number_of, visible

_WORST_FIRST: Final = (FAILED, BUDGET, WAITING, CANCELLED)


@click.command()
@click.argument("run", required=False)
@click.option("--all", "everything", is_flag=True, help="Go on with every run that was under way.")
@click.option("--detach", is_flag=True, help="Let a process in the background drive it; print the id and leave.")
@driving_options
@click.pass_context
def resume(ctx: click.Context, run: str | None, everything: bool, **given: Any) -> None:
    """Go on with RUN, and follow it as `perdure run` does.

    RUN is an id, the beginning of one, or @last. A run whose process is gone goes on where it stood, and what was done
    is not done again. A run that is over is only shown.
    """
    if (run is None) is not everything:
        raise click.UsageError("name a run, or say --all")
    settings = settings_for(given["db"])
    by = whoever(given["by"])
    id_ = None if run is None else carried_out(full_id(settings, run))
    manner = manner_for(id_, settings, given)
    if id_ is None:
        ctx.exit(carried_out(_all(manner, by)))
    job = Resume(id_, by)
    if given["detach"]:
        detach_resume(manner, job)
        return
    ctx.exit(carried_on(job, manner))


# ------------------------------------------------------------------------------- all of them


async def _all(manner: Manner, by: str) -> int:
    """Go on with every run that was under way; leave when none of them comes further by itself."""

    async def here() -> Reached:
        async with manner.engine(manner.patience) as engine:
            return Reached(await _drive_all(engine, manner), driven=True)

    reached = await owner_or(manner.settings, {"do": "resume", "by": by}, here)
    if isinstance(reached.done, int):
        return reached.done
    _print_runs(reached.done, manner)
    click.echo("the process that has the journal goes on with them", err=True)
    return OK


def _print_runs(runs: list[str], manner: Manner) -> None:
    if manner.as_json:
        print_json({"schema": "perdure.resumed/1", "runs": runs})
    elif not manner.jsonl:
        for run in runs:
            click.echo(run)


async def _drive_all(engine: Engine, manner: Manner) -> int:
    with Interrupts() as interrupts:
        runs = await engine.resume()
        if manner.as_json:
            _print_runs(runs, manner)
        click.echo(f"going on with {number_of(len(runs), 'run')}", err=True)
        work = asyncio.gather(*(_to_rest(engine, run, wait=manner.wait) for run in runs))
        stop = asyncio.create_task(interrupts.asked.wait())
        await asyncio.wait([work, stop], timeout=manner.timeout, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if work.done():
            return next((code for code in _WORST_FIRST if code in work.result()), OK)
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work
        return INTERRUPTED if interrupts.asked.is_set() else LATE


async def _to_rest(engine: Engine, run: str, *, wait: bool) -> int:
    """Follow a run until it is over or comes no further by itself, and say so."""
    handle, view = engine.run(run), View(engine.journal, run)

    async def enough(view: View) -> bool:
        return not wait and rests(view.state) and handle.is_idle

    following = asyncio.create_task(follow(engine.journal, view, Silent(), enough))
    try:
        await driven_on(handle, following)
    except PerdureError as error:  # about this run alone; the others go on
        click.echo(visible(f"run {run} cannot go on: {error.code}: {error.message}"), err=True)
        return FAILED
    finally:
        following.cancel()
    click.echo(standing(view.state), err=True)
    if view.state.ended is None:
        say_waits(view.state)
    result = view.result
    return code_of(result.status, result.failure.kind if result.failure else "")
