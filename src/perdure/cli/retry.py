"""`perdure retry`: go on with a run that failed or was cancelled."""

from typing import Any

import click

from perdure.cli.arguments import refuse
from perdure.cli.driving import Retry, carry_out
from perdure.cli.granting import place_of
from perdure.cli.interrupts import carried_out
from perdure.cli.journals import db_option, settings_for
from perdure.cli.manners import all_tools_from, announce, following_options, manner_from, tools_option, workspace_option
from perdure.cli.reaching import by_option, full_id, whoever
from perdure.plan import PlanError


@click.command()
@click.argument("run")
@click.argument("step", required=False)
@tools_option
@workspace_option
@by_option
@following_options
@db_option
@click.pass_context
def retry(ctx: click.Context, run: str, step: str | None, **given: Any) -> None:
    """Go on with RUN after it failed or was cancelled, and follow it as `perdure run` does.

    RUN is an id, the beginning of one, or @last. What worked stays. STEP is entered anew, or else whatever was cut off;
    that is a new visit, beyond what the plan allows.
    """
    settings = settings_for(given["db"])
    id_ = carried_out(full_id(settings, run))
    place = given["workspace"] or carried_out(place_of(settings, id_))
    manner = manner_from(settings, given, all_tools_from(given["addresses"]), begun=announce, workspace=place)
    job = Retry(id_, step or "", whoever(given["by"]))
    try:
        code = carried_out(carry_out(job, manner))
    except PlanError as error:
        refuse(error.problems, as_json=given["as_json"])
    ctx.exit(code)
