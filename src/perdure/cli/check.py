"""`perdure check`: everything that is wrong with a plan, at once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from perdure.cli.arguments import leave, limit_options, limits_from, name_of, read, toolbox_from
from perdure.cli.codes import INVALID_PLAN
from perdure.cli.journals import settings_for
from perdure.cli.manners import tools_option
from perdure.cli.printing import json_option, print_json, print_problems
from perdure.cli.toolboxes import ToolsHere
from perdure.documents.checks import check_document
from perdure.documents.checks import checked as checked_plan
from perdure.plan.limits import Limits
from perdure.plan.measures import measure, sentence
from perdure.plan.reading import Reading
from perdure.plan.toolbox import Toolbox
from perdure.plan.visible import visible
from perdure.tools import toolbox_of


@dataclass(frozen=True, slots=True)
class _Checked:
    name: str
    reading: Reading
    unknown: tuple[str, ...] = ()
    """Tools that are known nowhere here, and so were not checked."""


@click.command()
@click.argument("plans", nargs=-1, required=True, metavar="PLAN…")
@click.option(
    "--toolbox",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="JSON with the tools and agents that exist; names are checked against it, and against nothing else.",
)
@tools_option
@click.option("--feasible", is_flag=True, help="Also say what is not here: tools, agents, models, secrets, budget.")
@click.option("--strict", is_flag=True, help="Take warnings for errors.")
@json_option
@limit_options
@click.pass_context
def check(ctx: click.Context, plans: tuple[str, ...], strict: bool, as_json: bool, **given: Any) -> None:
    """Say everything that is wrong with each PLAN (YAML or JSON; - for standard input).

    Tools are checked against those that are here. With --tools or --toolbox, one that is unknown is an error, as it is
    for `perdure run`; without them it is one if it is nearly the name of another, and else it is noted: a plan may be
    for another machine.

    With --feasible, a plan is checked as `perdure run` does it here: what is missing is an error, whatever it is, and
    what may never be needed is a warning.

    Exit code 0: all can be used. 6: some cannot. 3: a file cannot be read.
    """
    if given["toolbox"] and given["addresses"]:
        raise click.UsageError("--toolbox says which tools there are, and --tools adds to those here: give one of them")
    if given["toolbox"] and given["feasible"]:
        raise click.UsageError("--toolbox is about another machine, and --feasible about this one: give one of them")
    checked = _checking(given)
    found = [checked(name) for name in plans]
    if as_json:
        print_json(check_document([checked_plan(each.name, each.reading, each.unknown) for each in found]))
    else:
        for each in found:
            _report(each)
    if errors := [problem for each in found for problem in each.reading.errors]:
        leave(errors)
    if strict and any(each.reading.problems for each in found):
        ctx.exit(INVALID_PLAN)


def _checking(given: Mapping[str, Any]) -> Callable[[str], _Checked]:
    """Checks one plan after another against the tools that count."""
    limits, toolbox = limits_from(dict(given)), toolbox_from(given["toolbox"])
    if toolbox is not None:
        return lambda plan: _Checked(name_of(plan), read(plan, limits, toolbox))
    if given["feasible"]:
        return _checking_feasibility(given, limits)
    here = ToolsHere(given["addresses"])
    known = Toolbox.model_construct(tools=here)
    return lambda plan: _Checked(name_of(plan), read(plan, limits, known), here.take_unknown())


def _checking_feasibility(given: Mapping[str, Any], limits: Limits) -> Callable[[str], _Checked]:
    """Checks against all that there is here."""
    from perdure.agents.feasibility import lacking  # noqa: PLC0415  few need it, and it loads what agents are
    from perdure.cli.feasibility import means_here  # noqa: PLC0415  as above
    from perdure.cli.goals import known_here  # noqa: PLC0415  as above

    tools = known_here(given["addresses"])
    means, toolbox = means_here(settings_for(None), tools), toolbox_of(tools)

    def checked(plan: str) -> _Checked:
        found = read(plan, limits, toolbox)
        more = lacking(found.plan, means) if found.plan is not None and not found.errors else ()
        return _Checked(name_of(plan), found.with_more(more))

    return checked


def _report(checked: _Checked) -> None:
    name, reading = checked.name, checked.reading
    print_problems(reading.problems)
    if checked.unknown:
        hint = "name them with --tools or --toolbox to have them checked"
        told = f"{name}: note: not known here, and so not checked: {', '.join(checked.unknown)}; {hint}"
        click.echo(visible(told), err=True)
    if reading.plan is None or reading.errors:
        count = len(reading.errors)
        click.echo(visible(f"{name}: {count} problem{'s' if count != 1 else ''}"), err=True)
    else:
        click.echo(visible(f"{name}: ok: {sentence(measure(reading.plan))}"), err=True)
