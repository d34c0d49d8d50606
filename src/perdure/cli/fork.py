"""`perdure fork`: a new run that goes its own way from where another one stood."""

import json
from typing import Any

import click

from perdure.cli.arguments import usable
from perdure.cli.detaching import detach
from perdure.cli.inputs import inputs_from
from perdure.cli.interrupts import carried_out
from perdure.cli.jobs import Fork
from perdure.cli.journals import opened, settings_for
from perdure.cli.manners import carried_on, driving_options, manner_for
from perdure.cli.reaching import full_id, whoever
from perdure.config import Settings
from perdure.engine import View
from perdure.plan.limits import Limits


@click.command()
@click.argument("run")
@click.option("--from", "start", metavar="STEP|SEQ", help="Before the last visit of STEP, or after the fact SEQ.")
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="An input from there on; VALUE may be @FILE.")
@click.option("--plan", "file", metavar="FILE", help="What its plan is to be from there on: a revision.")
@click.option("--detach", is_flag=True, help="Let a process in the background drive it; print the id and leave.")
@driving_options
@click.pass_context
def fork(
    ctx: click.Context, run: str, start: str | None, pairs: tuple[str, ...], file: str | None, **given: Any
) -> None:
    """Begin a new run with the facts of RUN up to a point, and follow it as `perdure run` does.

    RUN is an id, the beginning of one, or @last; it stays as it is. Without --from, a run that failed is forked before
    the step whose failure it was, and one that is not over where it stands. What was done by then is not done again,
    and is not taken back here. What was under way there is in doubt here, as after a crash.

    --plan revises the plan of the new run: what was done stays in it, and what is to come is as FILE says.
    """
    settings = settings_for(given["db"])
    id_ = carried_out(full_id(settings, run))
    inputs = carried_out(_inputs(settings, id_, pairs))
    plan = json.loads(usable(file, Limits(), as_json=given["as_json"]).canonical_json()) if file else None
    job = Fork(id_, *_point(start), inputs, whoever(given["by"]), plan)
    manner = manner_for(id_, settings, given)
    if given["detach"]:
        detach(manner, job)
        return
    ctx.exit(carried_on(job, manner))


def _point(start: str | None) -> tuple[int | None, str]:
    """A number is that of a fact; no step is called so."""
    if start is not None and start.isdecimal() and start.isascii():
        return int(start), ""
    return None, start or ""


async def _inputs(settings: Settings, run: str, pairs: tuple[str, ...]) -> dict[str, Any]:
    """What is to be seen otherwise, as the inputs of the plan want it."""
    if not pairs:
        return {}
    async with opened(settings) as journal:
        view = await View.of(journal, run, 1)
        return inputs_from(view.state.cells[""].scope.outline.plan.inputs, pairs, None, option="--set")
