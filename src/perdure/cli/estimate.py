"""`perdure estimate`: what a plan will take, before it begins."""

import time
from typing import Any

import click

from perdure.cli.arguments import is_goal, is_run, limit_options, limits_from, usable
from perdure.cli.forecasting import forecast_here, left_words, lines
from perdure.cli.inputs import inputs_from
from perdure.cli.interrupts import carried_out
from perdure.cli.journals import check_here, db_option, opened, settings_for
from perdure.cli.manners import tools_option
from perdure.cli.printing import json_option, print_json
from perdure.config import Settings
from perdure.documents.estimates import estimate_document
from perdure.documents.progress import paced, progress_document
from perdure.estimates.history import gather
from perdure.plan import Plan


@click.command()
@click.argument("plan", metavar="PLAN|GOAL|RUN")
@click.option("-i", "pairs", multiple=True, metavar="NAME=VALUE", help="An input; VALUE may be @FILE.")
@click.option("--inputs", "file", metavar="FILE", help="Inputs, as a JSON object.")
@tools_option
@db_option
@json_option
@limit_options
def estimate(plan: str, pairs: tuple[str, ...], file: str | None, as_json: bool, **given: Any) -> None:
    """Say what PLAN (YAML or JSON; - for standard input) will take: time, tokens, money, memory. Nothing is done.

    Many runs are simulated, with what earlier runs took, else with what the plan and its tools declare; what nobody
    knows is guessed, and that is said. Half of all runs stay below the first number, nine of ten below the second.

    For a GOAL, several words in quotation marks, a plan is made first, as `perdure plan` does it. Of a RUN (an id, the
    beginning of one, or @last) it is told how far it is, and when it may be over.
    """
    if is_run(plan):
        carried_out(_tell_left(settings_for(given["db"]), plan, as_json=as_json))
        return
    from perdure.cli.goals import known_here, planned  # noqa: PLC0415  it loads much

    settings, tools = settings_for(given["db"]), known_here(given["addresses"])
    check_here(settings)
    if is_goal(plan):
        found: Plan = planned(plan, tools, {**given, "pairs": pairs, "file": file}).plan
        inputs: dict[str, Any] = {}
    else:
        found = usable(plan, limits_from(given), as_json=as_json)
        inputs = inputs_from(found.inputs, pairs, file)
    forecast = carried_out(forecast_here(found, settings, tools, inputs))
    if as_json:
        print_json(estimate_document(forecast))
        return
    for line in lines(forecast):
        click.echo(line)


async def _tell_left(settings: Settings, name: str, *, as_json: bool) -> None:
    now = int(time.time() * 1000)
    async with opened(settings) as journal:
        run = (await journal.run(name)).id
        if as_json:
            _, pace = await paced(journal, run, await gather(journal))
            print_json(progress_document(run, pace.progress(now), now))
        else:
            click.echo(f"{'left':<8} {await left_words(journal, run, now)}")
