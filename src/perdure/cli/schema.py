"""`perdure schema`: the JSON Schema of a plan."""

import click

from perdure.cli.printing import print_json
from perdure.plan.schema import plan_schema


@click.command()
def schema() -> None:
    """Print the JSON Schema of a plan, for editors and models."""
    print_json(plan_schema())
