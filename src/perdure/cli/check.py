"""`perdure check`: everything that is wrong with a plan, at once."""

from pathlib import Path
from typing import Any

import click

from perdure.cli.arguments import leave, limit_options, limits_from, name_of, read, toolbox_from
from perdure.cli.codes import INVALID_PLAN
from perdure.cli.printing import json_option, print_json, print_problems
from perdure.plan.measures import measure, sentence
from perdure.plan.reading import Reading
from perdure.plan.visible import visible


@click.command()
@click.argument("plans", nargs=-1, required=True, metavar="PLAN…")
@click.option(
    "--toolbox",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="JSON with the tools and agents that exist; names are checked against it.",
)
@click.option("--strict", is_flag=True, help="Take warnings for errors.")
@json_option
@limit_options
@click.pass_context
def check(
    ctx: click.Context, plans: tuple[str, ...], toolbox: Path | None, strict: bool, as_json: bool, **settings: Any
) -> None:
    """Say everything that is wrong with each PLAN (YAML or JSON; - for standard input).

    Exit code 0: all can be used. 6: some cannot. 3: a file cannot be read.
    """
    known = toolbox_from(toolbox)
    readings = [(name_of(name), read(name, limits_from(settings), known)) for name in plans]
    if as_json:
        print_json({"schema": "perdure.check/1", "plans": [_as_json(name, reading) for name, reading in readings]})
    else:
        for name, reading in readings:
            _report(name, reading)
    errors = [problem for _, reading in readings for problem in reading.errors]
    if errors:
        leave(errors)
    if strict and any(reading.problems for _, reading in readings):
        ctx.exit(INVALID_PLAN)


def _report(name: str, reading: Reading) -> None:
    print_problems(reading.problems)
    if reading.plan is None or reading.errors:
        count = len(reading.errors)
        click.echo(visible(f"{name}: {count} problem{'s' if count != 1 else ''}"), err=True)
    else:
        click.echo(visible(f"{name}: ok: {sentence(measure(reading.plan))}"), err=True)


def _as_json(name: str, reading: Reading) -> dict[str, Any]:
    usable = reading.plan if not reading.errors else None
    return {
        "file": name,
        "ok": usable is not None,
        "dialect": reading.dialect,
        "hash": usable.hash if usable else None,
        "measures": measure(usable).as_json() if usable else None,
        "problems": [problem.as_json() for problem in reading.problems],
    }
