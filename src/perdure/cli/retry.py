"""`perdure retry`: go on with a run that failed or was cancelled."""

from typing import Any

import click

from perdure.cli.driving import Retry
from perdure.cli.interrupts import carried_out
from perdure.cli.journals import settings_for
from perdure.cli.manners import carried_on, driving_options, manner_for
from perdure.cli.reaching import full_id, whoever


@click.command()
@click.argument("run")
@click.argument("step", required=False)
@driving_options
@click.pass_context
def retry(ctx: click.Context, run: str, step: str | None, **given: Any) -> None:
    """Go on with RUN after it failed or was cancelled, and follow it as `perdure run` does.

    RUN is an id, the beginning of one, or @last. What worked stays. STEP is entered anew, or else whatever was cut off;
    that is a new visit, beyond what the plan allows.
    """
    settings = settings_for(given["db"])
    id_ = carried_out(full_id(settings, run))
    job = Retry(id_, step or "", whoever(given["by"]))
    ctx.exit(carried_on(job, manner_for(id_, settings, given)))
