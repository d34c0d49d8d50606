"""`perdure draw`: a plan as a tree, as Mermaid, or as a picture."""

import asyncio
import sys
from typing import Any

import click

from perdure.cli.arguments import is_run, limit_options, limits_from, usable
from perdure.cli.journals import db_option
from perdure.cli.printing import console, write_output
from perdure.plan.model.document import Plan


@click.command()
@click.argument("plan")
@click.option("--mermaid", is_flag=True, help="Print a Mermaid flowchart.")
@click.option("--svg", metavar="FILE", help="Write a picture (- for standard output).")
@click.option("--html", metavar="FILE", help="Write a page to look around in (- for standard output).")
@db_option
@limit_options
def draw(plan: str, mermaid: bool, svg: str | None, html: str | None, db: str | None, **settings: Any) -> None:
    """Draw PLAN: a tree in the terminal, unless another form is asked for.

    PLAN is a file, or a run whose plan is meant as it is now: an id, the beginning of one, or @last.
    """
    found = _of_run(plan, db) if is_run(plan) else usable(plan, limits_from(settings))
    if mermaid:
        from perdure.plan.drawing.mermaid import mermaid as draw_mermaid  # noqa: PLC0415  only the form asked for

        click.echo(draw_mermaid(found))
    if svg:
        from perdure.plan.drawing.svg import svg as draw_svg  # noqa: PLC0415  only the form asked for

        write_output(svg, draw_svg(found))
    if html:
        from perdure.plan.drawing.page import html as draw_page  # noqa: PLC0415  only the form asked for

        write_output(html, draw_page(found))
    if not (mermaid or svg or html):
        _print_tree(found)


def _of_run(run: str, db: str | None) -> Plan:
    from perdure.cli.revisions import plan_of  # noqa: PLC0415  a file needs no journal

    return asyncio.run(plan_of(db, run))


def _print_tree(plan: Plan) -> None:
    from perdure.plan.drawing.tree import plain_tree, tree  # noqa: PLC0415  only the form asked for
    from perdure.plan.measures import measure, sentence  # noqa: PLC0415  only the form asked for

    if sys.stdout.isatty():
        console().print(tree(plan), soft_wrap=False)
    else:
        click.echo(plain_tree(plan).rstrip())
    click.echo(f"\n{sentence(measure(plan))}")
