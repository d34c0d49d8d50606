"""`perdure plan`: a plan for a goal, made and not carried out."""

from typing import Any, Final

import click

from perdure.agents.planners import PLANNERS
from perdure.cli.goals import known_here, lacks, planned, tell
from perdure.cli.journals import db_option, settings_for
from perdure.cli.manners import tools_option
from perdure.cli.printing import STANDARD_STREAM, json_option, print_json, write_output
from perdure.documents.plans import planned_document
from perdure.plan.writing import to_yaml

_PLANNERS: Final = click.Choice(["auto", *PLANNERS, "model"])


@click.command()
@click.argument("goal")
@click.option("-o", "--output", metavar="FILE", default=STANDARD_STREAM, help="Write to a file; .json: as JSON.")
@click.option("--planner", type=_PLANNERS, default="auto", show_default=True, help="Who makes the plan.")
@click.option("--template", metavar="NAME", help="Take this template, whatever fits better.")
@click.option("-i", "pairs", multiple=True, metavar="NAME=VALUE", help="A value that is known; VALUE may be @FILE.")
@click.option("--inputs", "file", metavar="FILE", help="Such values, as a JSON object.")
@tools_option
@db_option
@json_option
def plan(goal: str, output: str, planner: Any, as_json: bool, **given: Any) -> None:
    """Make a plan for GOAL, in plain words, and print it. Nothing is carried out.

    auto asks for a template that fits, then for tools that a search finds, then a model if one is configured. What they
    do not find in the goal, a model fills in as far as it can; the rest is asked for in the plan. Who made the plan and
    why is said on standard error. For contracts, GOAL is a file. A model works in a run of its own, which is kept.

    Exit code 0: there is a plan. 6: nobody can make one.
    """
    if not goal.strip():
        raise click.UsageError("say a goal: this is empty")
    tools = known_here(given["addresses"])
    made = planned(goal, tools, given, planner)
    problems = lacks(made, tools, settings_for(given["db"]))
    if as_json:
        print_json(planned_document(made, problems))
        return
    tell(made, problems)
    is_json = output.endswith(".json")
    write_output(output, made.plan.canonical_json().decode() + "\n" if is_json else to_yaml(made.plan))
