"""`perdure code`: a goal becomes a tested change of a repository, on a branch of its own."""

import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import click

from perdure.cli.arguments import refuse, usable
from perdure.cli.driving import Start, carry_out
from perdure.cli.feasibility import lacks_here
from perdure.cli.interrupts import carried_out
from perdure.cli.journals import db_option, settings_for
from perdure.cli.kits import provided
from perdure.cli.manners import announce, following_options, manner_from
from perdure.cli.printing import print_problems
from perdure.engine.ids import new_id
from perdure.errors import PerdureError
from perdure.kits.coding.detecting import test_command
from perdure.kits.coding.framing import framed, template_for, templates
from perdure.plan import Plan
from perdure.plan.limits import Limits
from perdure.plan.problems import errors_in
from perdure.plan.reading import Reading
from perdure.plan.visible import visible

_OVERVIEW: Final = 3
_WHOLE: Final = 1000
"""How deep the plan is drawn: whoever only looks at it sees all of it."""
LONGEST: Final = 40
"""Letters of a goal in the name of a branch."""


class NoRepository(PerdureError):
    """There is nothing to work on."""

    code: ClassVar[str] = "PRD7001"
    exit_code: int = 3


@click.command()
@click.argument("goal")
@click.option(
    "--repo",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    metavar="DIR",
    help="The repository; left out: the one around this directory.",
)
@click.option("--test", "test", metavar="COMMAND", help="What tests it; left out: as its files tell. Empty: nothing.")
@click.option("--report", default="", metavar="FILE", help="Where that command writes its results as JUnit XML.")
@click.option("--template", metavar="NAME|FILE", help="The way of working; left out: the one that fits the goal.")
@click.option("--base", default="HEAD", show_default=True, metavar="COMMIT", help="What to begin with.")
@click.option("--branch", metavar="NAME", help="Where the work goes; left out: perdure/ and words of the goal.")
@click.option("--model", metavar="MODEL", help="The model to ask, as provider:model; left out: as configured.")
@click.option("--calls", type=click.IntRange(1), default=400, show_default=True, help="The most calls of models.")
@click.option("--tokens", type=click.IntRange(1), metavar="N", help="The most tokens.")
@click.option("--usd", type=click.FloatRange(0, min_open=True), metavar="N", help="The most it may cost.")
@click.option("--dry-run", is_flag=True, help="Show the plan and what it may take, and leave.")
@click.option("--yes", is_flag=True, help="Begin without asking.")
@following_options
@db_option
@click.pass_context
def code(ctx: click.Context, goal: str, repo: Path, **given: Any) -> None:
    """Have GOAL done to a repository: planned, edited, tested, mended, reviewed, and kept on a branch of its own.

    All work is done on a copy of the commit that it begins with. Your files, your index and your branches stay as they
    are; at the end there is one new branch, or nothing. The plan is shown and asked about first.

    Exit codes are those of `perdure run`. Killed at any moment, it goes on with `perdure resume`.
    """
    root = _root(repo)
    settings = _with_model(settings_for(given["db"]), given["model"])
    plan = _plan(goal, given)
    inputs = _inputs(goal, root, given)
    lacks = lacks_here(Reading(plan), settings, provided(), root)
    if errors := errors_in(lacks):
        refuse(errors, as_json=given["as_json"])
    _show(plan, inputs, given)
    print_problems(lacks, err=True)
    if given["dry_run"]:
        return
    if not given["yes"]:
        _confirm()
    job = Start(plan, inputs, workspace=str(root))
    manner = manner_from(settings, {**given, "addresses": ()}, (), begun=announce, workspace=root)
    ctx.exit(carried_out(carry_out(job, manner)))


# ------------------------------------------------------------------------------- what is wanted


def _root(place: Path) -> Path:
    """The root of the repository around a directory."""
    place = place.resolve()
    for each in (place, *place.parents):
        if (each / ".git").exists():
            return each
    hint = "make it one: git init && git add . && git commit -m Begin"
    raise NoRepository(f"{place} is in no git repository", hint)


def _with_model(settings: Any, model: str | None) -> Any:
    """The settings, with one model for all tiers if one is named."""
    if model is None:
        return settings
    from dataclasses import replace  # noqa: PLC0415  few name one

    return replace(settings, heads=replace(settings.heads, tiers={"default": model}))


def _plan(goal: str, given: Mapping[str, Any]) -> Plan:
    shape, why = _shape(goal, given["template"])
    click.echo(visible(f"template {why}"), err=True)
    most = {"calls": given["calls"], "tokens": given["tokens"], "usd": given["usd"]}
    budget = {word: value for word, value in most.items() if value is not None}
    whole = framed(shape)
    return Plan.model_validate({**whole.canonical(), "budget": budget})


def _shape(goal: str, named: str | None) -> tuple[Plan, str]:
    if named is None:
        found, why = template_for(goal)
        return found.plan, why
    if named in templates():
        return templates()[named].plan, f"{named}, as you say"
    if not Path(named).exists():
        raise click.UsageError(f"--template {named}: there are {', '.join(templates())}; or name a file")
    return usable(named, Limits()), f"{named}, as you say"


def _inputs(goal: str, root: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    test = test_command(root) if given["test"] is None else shlex.split(given["test"])
    return {
        "goal": goal,
        "base": given["base"],
        "branch": given["branch"] or _branch(goal),
        "test": list(test),
        "report": given["report"],
    }


def _branch(goal: str) -> str:
    """A name that tells the goal, and that no other run has."""
    words = re.sub(r"[^a-z0-9]+", "-", goal.lower()).strip("-")[:LONGEST].rstrip("-")
    return f"perdure/{words or 'work'}-{new_id('r', 0)[-4:]}"


# ------------------------------------------------------------------------------- what is said


def _show(plan: Plan, inputs: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """What would be done, and what it may take."""
    if given["as_json"] or given["jsonl"]:
        return
    from perdure.plan.drawing.tree import plain_tree  # noqa: PLC0415  only for people
    from perdure.plan.measures import measure, sentence  # noqa: PLC0415  only for people

    plan = plan.model_copy(update={"goal": visible(inputs["goal"])})
    click.echo(plain_tree(plan, depth=_WHOLE if given["dry_run"] else _OVERVIEW).rstrip(), err=True)
    click.echo(f"\n{sentence(measure(plan))}", err=True)
    test = shlex.join(inputs["test"]) or "nothing: what it does cannot be proven"
    click.echo(visible(f"tested by: {test}"), err=True)
    click.echo(visible(f"kept on:   {inputs['branch']}, from {inputs['base']}"), err=True)
    words = {"calls": "calls of models", "tokens": "tokens", "usd": "USD"}
    most = ", ".join(f"{given[word]} {name}" for word, name in words.items() if given[word])
    click.echo(f"at most:   {most}", err=True)


def _confirm() -> None:
    if not sys.stdin.isatty():
        raise click.UsageError("nobody can be asked here: say --yes to begin, or --dry-run to look")
    if not click.confirm("Begin?", default=True, err=True):
        raise click.exceptions.Exit(1)
