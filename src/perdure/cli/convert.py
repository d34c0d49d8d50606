"""`perdure convert`: a plan in the current format, whatever it was written in."""

from typing import Any

import click

from perdure.cli.arguments import leave, limit_options, limits_from, read
from perdure.cli.printing import print_problems, write_output
from perdure.plan.writing import to_yaml


@click.command()
@click.argument("plan")
@click.option("-o", "--output", metavar="FILE", default="-", help="Write to a file instead of standard output.")
@click.option("--json", "as_json", is_flag=True, help="Write canonical JSON instead of YAML.")
@limit_options
def convert(plan: str, output: str, as_json: bool, **settings: Any) -> None:
    """Write PLAN in the current format. What had to be assumed is said on standard error."""
    reading = read(plan, limits_from(settings))
    print_problems(reading.problems, err=True)
    if reading.plan is None or reading.errors:
        leave(reading.errors)
    text = reading.plan.canonical_json().decode() + "\n" if as_json else to_yaml(reading.plan)
    write_output(output, text)
