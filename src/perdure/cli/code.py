"""`perdure code`: a goal becomes a tested change of a repository, on a branch of its own."""

import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from perdure.agents.feasibility import MODEL
from perdure.cli.arguments import refuse, usable
from perdure.cli.commands import VARIABLES
from perdure.cli.driving import carry_out
from perdure.cli.environments import hint_for, is_shown
from perdure.cli.feasibility import lacks_here
from perdure.cli.heads import known_agents
from perdure.cli.inputs import inputs_from
from perdure.cli.interrupts import carried_out
from perdure.cli.jobs import Start
from perdure.cli.journals import db_option, settings_for
from perdure.cli.kits import provided
from perdure.cli.manners import announce, following_options, manner_from
from perdure.cli.printing import print_problems
from perdure.cli.surveying import SHORT, Survey, root_of, survey
from perdure.config import Settings
from perdure.config.policy import UserPolicy, load_policy
from perdure.engine.ids import new_id
from perdure.kits.coding.framing import framed, template_for, templates
from perdure.plan import Plan
from perdure.plan.limits import Limits
from perdure.plan.problems import Problem, did_you_mean, errors_in
from perdure.plan.reading import Reading
from perdure.plan.visible import number_of, visible

_OVERVIEW: Final = 3
_WHOLE: Final = 1000
"""How deep the plan is drawn: whoever only looks at it sees all of it."""
_NAMED: Final = 20
"""Files with tests that a run is told of."""
LONGEST: Final = 40
"""Letters of a goal in the name of a branch."""


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
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=600,
    show_default=True,
    help="How long each run of the tests may take.",
)
@click.option("--template", metavar="NAME|FILE", help="The way of working; left out: the one that fits the goal.")
@click.option("-i", "pairs", multiple=True, metavar="NAME=VALUE", help="An option of that way; VALUE may be @FILE.")
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
    _refuse_nonsense(goal, given)
    settings = _settings(ctx, given["db"], given["model"])
    shape, why = _shape(goal, given["template"])
    seen = carried_out(survey(settings, root_of(repo), given["base"], _branches(goal, given["branch"])))
    plan = _plan(shape, given)
    policy = load_policy(seen.root)
    inputs = {**_inputs(goal, seen, given, policy), "options": _options(shape, given["pairs"])}
    lacks = _told_once(lacks_here(Reading(plan), settings, provided(), seen.root))
    errors, for_people = errors_in(lacks), not (given["as_json"] or given["jsonl"])
    if errors and not (given["dry_run"] and for_people):
        refuse(errors, as_json=given["as_json"])
    if for_people:
        click.echo(visible(f"template {why}"), err=True)
        _show(plan, inputs, seen, given)
        print_problems([each for each in lacks if each not in errors], err=True)
    if errors:  # who only looks has seen the plan first: most look before they have set a model
        refuse(errors, as_json=given["as_json"])
    if given["dry_run"]:
        return
    if not given["yes"]:
        _confirm()
    job = Start(plan, inputs, workspace=str(seen.root), models=settings.heads.tiers)
    manner = manner_from(settings, {**given, "addresses": ()}, (), begun=announce, workspace=seen.root)
    ctx.exit(carried_out(carry_out(job, manner)))


# ------------------------------------------------------------------------------- what is wanted


def _refuse_nonsense(goal: str, given: Mapping[str, Any]) -> None:
    """What cannot be meant is said before anything is looked at."""
    if not goal.strip():
        raise click.UsageError("say what is to be done: the goal is empty")
    if given["as_json"] and given["jsonl"]:
        raise click.UsageError("--json and --jsonl both want standard output")
    if not (given["yes"] or given["dry_run"] or sys.stdin.isatty()):
        raise click.UsageError("nobody can be asked here: say --yes to begin, or --dry-run to look")
    _words(given["test"] or "")


def _words(test: str) -> list[str]:
    try:
        return shlex.split(test)
    except ValueError as error:
        raise click.UsageError(f"--test {test}: {str(error).lower()}; close the quotation marks") from None


def _settings(ctx: click.Context, db: str | None, model: str | None) -> Settings:
    """The settings, with one model for all tiers if one is named; who goes on later is told to name it, too."""
    if model is None:
        return settings_for(db)
    tiers = ("default", *(tier for tier in settings_for(db).heads.tiers if tier != "default"))
    ctx.meta[VARIABLES] = {f"PERDURE_MODELS__{tier.upper()}": model for tier in tiers[1:]} | {"PERDURE_MODEL": model}
    return settings_for(db, **{f"models__{tier}": model for tier in tiers})


def _shape(goal: str, named: str | None) -> tuple[Plan, str]:
    if named is None:
        found, why = template_for(goal)
        return found.plan, why
    if named in templates():
        return templates()[named].plan, f"{named}, as you say"
    if not Path(named).is_file():
        hint = did_you_mean(named, templates()) or f"there are {', '.join(templates())}"
        raise click.UsageError(f"--template {named}: there is no such way of working, and no such file; {hint}")
    return usable(named, Limits()), f"{named}, as you say"


def _plan(shape: Plan, given: Mapping[str, Any]) -> Plan:
    most = {"calls": given["calls"], "tokens": given["tokens"], "usd": given["usd"]}
    budget = {word: value for word, value in most.items() if value is not None}
    return Plan.model_validate({**framed(shape).canonical(), "budget": budget})


def _told_once(lacks: Iterable[Problem]) -> list[Problem]:
    """One model is wanted at many places, and the plan is not the user's: they are told once what to do about it."""
    found: dict[tuple[Any, ...], list[Problem]] = {}
    for each in lacks:
        alike = (each.help, each.severity) if each.code == MODEL else each
        found.setdefault((each.code, alike), []).append(each)
    return [
        replace(first, message=f"{first.message}; {number_of(len(more), 'more place')} likewise") if more else first
        for first, *more in found.values()
    ]


def _options(shape: Plan, pairs: tuple[str, ...]) -> dict[str, Any]:
    """What is given to a way of working beside the goal; what it does not know is refused before anything is done."""
    taken: Any = shape.inputs.get("options", {"additionalProperties": False})
    known = taken.get("properties", {})
    given = inputs_from(known, pairs, None)
    if odd := [name for name in given if name not in known and taken.get("additionalProperties") is False]:
        told = f"this way of working has no {visible(odd[0], 60)}; it has {', '.join(known) or 'no options'}"
        raise click.BadParameter(told, param_hint="-i")
    return given


def _inputs(goal: str, seen: Survey, given: Mapping[str, Any], policy: UserPolicy) -> dict[str, Any]:
    test = _command(seen, policy) if given["test"] is None else tuple(_words(given["test"]))
    return {
        "goal": goal,
        "base": seen.commit or given["base"],
        "branch": seen.branch,
        "author": seen.author,
        "test": list(test),
        "report": given["report"],
        "seconds": given["seconds"],
        "test_files": list(seen.tests.files[:_NAMED]),
        "hint": hint_for(seen.environment, policy, test) if test else "",
    }


def _command(seen: Survey, policy: UserPolicy) -> tuple[str, ...]:
    """What tests it as its files tell, with the packages that the user lets commands see."""
    is_seen = seen.environment and is_shown(seen.environment, policy)
    return seen.environment.by(seen.tests.command) if seen.environment and is_seen else seen.tests.command


def _branches(goal: str, named: str | None) -> list[str]:
    """The branch that is named; or names that tell the goal, and that no other run has. The first one is preferred."""
    if named is not None:
        return [named]
    words = re.sub(r"[^a-z0-9]+", "-", goal.lower()).strip("-")[:LONGEST].rstrip("-")
    own = f"{words or 'work'}-{new_id('r', 0)[-4:]}"
    return [f"perdure/{own}", f"perdure-{own}"]


# ------------------------------------------------------------------------------- what is said


def _show(plan: Plan, inputs: Mapping[str, Any], seen: Survey, given: Mapping[str, Any]) -> None:
    """What would be done to what, and what it may take."""
    from perdure.plan.drawing.tree import plain_tree  # noqa: PLC0415  only for people
    from perdure.plan.measures import measure, sentence  # noqa: PLC0415  as above

    plan = plan.model_copy(update={"goal": visible(inputs["goal"])})
    click.echo(plain_tree(plan, depth=_WHOLE if given["dry_run"] else _OVERVIEW).rstrip(), err=True)
    click.echo(f"\n{sentence(measure(plan))}", err=True)
    for name, told in _told(inputs, seen, given).items():
        click.echo(visible(f"{name + ':':<11}{told}"), err=True)


def _told(inputs: Mapping[str, Any], seen: Survey, given: Mapping[str, Any]) -> dict[str, str]:
    test = shlex.join(inputs["test"]) or "nothing: what it does cannot be proven"
    found = ", as its files tell" if given["test"] is None and inputs["test"] else ""
    words = {"calls": "calls of models", "tokens": "tokens", "usd": "USD"}
    told = {
        "works on": f"a copy of {given['base']}{f' ({seen.commit[:SHORT]})' if seen.commit else ''} of {seen.root}",
        "tested by": f"{test}{found}",
        "kept on": seen.branch,
        "at most": ", ".join(f"{given[word]} {name}" for word, name in words.items() if given[word]),
    }
    if seen.environment and not is_shown(seen.environment, load_policy(seen.root)):
        told["not seen"] = f"{seen.environment.place}; {inputs['hint']}"
    if seen.changed:
        told["left out"] = f"your uncommitted changes in {number_of(seen.changed, 'file')}"
    if own := [each.agent.name for each in known_agents(seen.root) if Path(each.origin).is_relative_to(seen.root)]:
        told["brings"] = f"agents of its own, with what they are told: {', '.join(own)}"
    if seen.settings:
        told["asks first"] = f"whether git may be used with settings of the repository: {', '.join(seen.settings)}"
    return told


def _confirm() -> None:
    if not click.confirm("Begin?", default=True, err=True):
        raise click.exceptions.Exit(1)
