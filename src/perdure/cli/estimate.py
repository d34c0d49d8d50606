"""`perdure estimate`: what a plan will take, before it begins."""

from typing import Any

import click

from perdure.cli.arguments import is_goal, limit_options, limits_from, usable
from perdure.cli.forecasting import forecast_here, lines
from perdure.cli.inputs import inputs_from
from perdure.cli.interrupts import carried_out
from perdure.cli.journals import db_option, settings_for
from perdure.cli.manners import tools_option
from perdure.cli.printing import json_option, print_json
from perdure.documents.estimates import estimate_document
from perdure.plan import Plan


@click.command()
@click.argument("plan", metavar="PLAN|GOAL")
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

    For a GOAL, several words in quotation marks, a plan is made first, as `perdure plan` does it.
    """
    from perdure.cli.goals import known_here, planned  # noqa: PLC0415  it loads much

    settings, tools = settings_for(given["db"]), known_here(given["addresses"])
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
