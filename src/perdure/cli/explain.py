"""`perdure explain`: what an error code means and how to repair it."""

import sys

import click

from perdure.cli.codes import NOT_FOUND
from perdure.cli.printing import console
from perdure.errors import codes, page, title
from perdure.plan.visible import visible


@click.command()
@click.argument("code", required=False)
@click.pass_context
def explain(ctx: click.Context, code: str | None) -> None:
    """Explain the error CODE, as in PRD1203; without one, list them all."""
    if code is None:
        for each in codes():
            click.echo(f"{each}  {title(each)}")
        return
    found = page(code.upper())
    if found is None:
        click.echo(visible(f"there is no code {code}; `perdure explain` lists them all"), err=True)
        ctx.exit(NOT_FOUND)
    elif sys.stdout.isatty():
        from rich.markdown import Markdown  # noqa: PLC0415  only when something is drawn

        console().print(Markdown(found))
    else:
        click.echo(found)
