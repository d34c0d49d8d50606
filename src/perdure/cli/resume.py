"""`perdure resume`: go on with a run that was paused, that waited, or whose process is gone."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import click

from perdure.cli.codes import BUDGET, CANCELLED, FAILED, INTERRUPTED, LATE, OK, WAITING, code_of
from perdure.cli.detaching import detach
from perdure.cli.driving import Manner, driven_on
from perdure.cli.following import follow, rests
from perdure.cli.hints import standing
from perdure.cli.interrupts import Interrupts, carried_out
from perdure.cli.jobs import Resume
from perdure.cli.journals import settings_for
from perdure.cli.manners import carried_on, driving_options, manner_for
from perdure.cli.printing import print_json
from perdure.cli.reaching import Reached, full_id, owner_or, whoever
from perdure.cli.reporting import say_waits
from perdure.cli.screens import Silent
from perdure.engine import Engine, View
from perdure.errors import PerdureError
from perdure.plan.visible import number_of, visible

_MOST: Final = 2_000
"""Letters of a reason."""
_WORST_FIRST: Final = (FAILED, BUDGET, WAITING, CANCELLED)


@click.command()
@click.argument("run", required=False)
@click.option("--all", "everything", is_flag=True, help="Go on with every run that was under way.")
@click.option(
    "--map",
    "pairs",
    multiple=True,
    metavar="OLD=NEW",
    help="What a tool, a strategy or a plan by name is called now; can be repeated.",
)
@click.option("--detach", is_flag=True, help="Let a process in the background drive it; print the id and leave.")
@driving_options
@click.pass_context
def resume(ctx: click.Context, run: str | None, everything: bool, pairs: tuple[str, ...], **given: Any) -> None:
    """Go on with RUN, and follow it as `perdure run` does.

    RUN is an id, the beginning of one, or @last. A run whose process is gone goes on where it stood, and what was done
    is not done again. A run that is over is only shown. One that still calls what is not there any more stays as it
    was; --map says what that is called now.
    """
    if (run is None) is not everything:
        raise click.UsageError("name a run, or say --all")
    names = _names_from(pairs)
    if names and everything:
        raise click.UsageError("--map is about one run: name it")
    settings = settings_for(given["db"])
    by = whoever(given["by"])
    id_ = None if run is None else carried_out(full_id(settings, run))
    manner = manner_for(id_, settings, given)
    if id_ is None:
        ctx.exit(carried_out(_all(manner, by)))
    job = Resume(id_, by, names)
    if given["detach"]:
        detach(manner, job)
        return
    ctx.exit(carried_on(job, manner))


def _names_from(pairs: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        old, sign, new = pair.partition("=")
        if not (old and sign and new):
            raise click.UsageError(f"--map {pair}: write OLD=NEW")
        if found.setdefault(old, new) != new:
            raise click.UsageError(f"--map names {old} twice")
    return found


# ------------------------------------------------------------------------------- all of them


async def _all(manner: Manner, by: str) -> int:
    """Go on with every run that was under way; leave when none of them comes further by itself."""

    async def here() -> Reached:
        async with manner.engine(manner.patience) as engine:
            return Reached(await _drive_all(engine, manner), driven=True)

    reached = await owner_or(manner.settings, {"do": "resume", "by": by}, here)
    if isinstance(reached.done, int):
        return reached.done
    runs, left = reached.done["runs"], reached.done["left"]
    _print_runs(runs, left, manner)
    click.echo("the process that has the journal goes on with them", err=True)
    return FAILED if left else OK


def _print_runs(runs: list[str], left: Mapping[str, str], manner: Manner) -> None:
    for run, why in left.items():
        _say_left(run, why)
    if manner.as_json:
        print_json({"schema": "perdure.resumed/1", "runs": runs, "left": dict(left)})
    elif not manner.jsonl:
        for run in runs:
            click.echo(run)


def _say_left(run: str, why: str) -> None:
    click.echo(visible(f"run {run} cannot go on: {why}", _MOST), err=True)


async def _drive_all(engine: Engine, manner: Manner) -> int:
    with Interrupts() as interrupts:
        runs = await engine.resume()
        left = {run: f"{why.code}: {why.message}" for run, why in engine.left.items()}
        if manner.as_json:
            _print_runs(runs, left, manner)
        else:
            for each in left.items():
                _say_left(*each)
        click.echo(f"going on with {number_of(len(runs), 'run')}", err=True)
        work = asyncio.gather(*(_to_rest(engine, run, wait=manner.wait) for run in runs))
        stop = asyncio.create_task(interrupts.asked.wait())
        await asyncio.wait([work, stop], timeout=manner.timeout, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if work.done():
            found = [*work.result(), *([FAILED] if left else ())]
            return next((code for code in _WORST_FIRST if code in found), OK)
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
        _say_left(run, f"{error.code}: {error.message}")
        return FAILED
    finally:
        following.cancel()
    click.echo(standing(view.state), err=True)
    if view.state.ended is None:
        say_waits(view.state)
    result = view.result
    return code_of(result.status, result.failure.kind if result.failure else "")
