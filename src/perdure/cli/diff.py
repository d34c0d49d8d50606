"""`perdure diff`: what differs between two plans."""

from typing import Any

import click

from perdure.cli.arguments import limit_options, limits_from, usable
from perdure.cli.printing import json_option, print_json
from perdure.plan.diff import diff as compare


@click.command()
@click.argument("before")
@click.argument("after")
@json_option
@limit_options
def diff(before: str, after: str, as_json: bool, **settings: Any) -> None:
    """Show what differs between the plans BEFORE and AFTER, step by step.

    A step is known by its id: + added, - removed, ~ changed, > moved.
    """
    limits = limits_from(settings)
    old, new = usable(before, limits, as_json=as_json), usable(after, limits, as_json=as_json)
    found = compare(old, new)
    if as_json:
        print_json({"schema": "perdure.diff/1", "before": old.hash, "after": new.hash, **found.as_json()})
        return
    for line in found.lines():
        click.echo(line)
    if not found:
        click.echo("the plans are the same", err=True)
