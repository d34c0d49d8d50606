"""From a goal to a plan: who is asked, with which tools and templates, and what is said of it."""

import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from perdure.agents.feasibility import infeasible
from perdure.agents.planners import Asked, Made, Name, NoPlanner, plan_for, unplanned
from perdure.agents.templates import BadTemplate, Template, stock, templates_in, templates_of
from perdure.cli.arguments import refuse
from perdure.cli.feasibility import means_here
from perdure.cli.heads import OURS
from perdure.cli.inputs import inputs_from
from perdure.cli.journals import settings_for
from perdure.cli.kits import provided
from perdure.cli.manners import all_tools_from, tools_from
from perdure.cli.printing import print_problems
from perdure.cli.toolsets import toolset_or_note
from perdure.config import Settings
from perdure.config.places import find_project, home_in, user_file
from perdure.engine.ids import new_id
from perdure.plan import Plan, Toolbox
from perdure.plan.checks import check
from perdure.plan.problems import Problem, errors_in
from perdure.plan.visible import visible
from perdure.tools import AnyTool

if TYPE_CHECKING:
    from perdure.cli.carrying import Carry
    from perdure.engine import Result

TEMPLATES: Final = "templates"
"""Where templates are, of the user and of a project."""


def planned(
    goal: str,
    tools: Iterable[AnyTool],
    given: Mapping[str, Any],
    planner: Name | Literal["auto"] = "auto",
    carry: "Carry | None" = None,
) -> Made:
    """The plan for a goal. `NoPlanner` if there is none.

    A model is asked if it is named, or if nobody else makes a plan that does all that the goal says. Who names a
    template wants none but that. `carry` carries out the runs in which a model is asked; None: an engine of our own.
    """
    asked, settings = _asked(goal, tools, given), settings_for(given.get("db"))
    if asked.template and planner not in ("auto", "template"):
        raise click.UsageError(f"--template takes a template, --planner {planner} does not: say one of them")
    may_draft = planner == "auto" and not asked.template and _has_model(settings)
    ask = carry or _carry(settings, given)
    if planner != "model":
        try:
            made = plan_for(asked, planner)
        except NoPlanner:
            if not may_draft:
                raise
        else:
            made = _completed(made, asked, settings, ask) if planner == "auto" else made
            if not (made.left and may_draft):
                return made
    from perdure.cli.drafting import drafted  # noqa: PLC0415  it loads an engine

    return drafted(asked, settings, ask)


def _carry(settings: Settings, given: Mapping[str, Any]) -> "Carry":
    def carry(plan: Plan, inputs: Mapping[str, Any]) -> "tuple[str, Result]":
        from perdure.cli.carrying import carried_here  # noqa: PLC0415  it loads an engine

        return carried_here(settings, all_tools_from(given["addresses"]))(plan, inputs)

    return carry


def _completed(made: Made, asked: Asked, settings: Settings, carry: "Carry") -> Made:
    """The same with what a model finds in the goal, if there is one, and if that may be all that is missing."""
    if not made.form or not set(made.left) <= set(made.loose) or not _has_model(settings):
        return made
    from perdure.cli.filling import filled_in  # noqa: PLC0415  it loads an engine

    return filled_in(made, asked, carry)


def _has_model(settings: Settings) -> bool:
    return bool(settings.heads.tiers)


def _asked(goal: str, tools: Iterable[AnyTool], given: Mapping[str, Any]) -> Asked:
    pairs: tuple[str, ...] = given.get("pairs", ())
    now = datetime.now(UTC)
    return Asked(
        goal,
        {tool.name: tool for tool in tools},
        tuple(templates_here()),
        given.get("template") or "",
        given["values"] if "values" in given else inputs_from({}, pairs, given.get("file")),
        {name: text for name, _, text in (pair.partition("=") for pair in pairs) if not text.startswith("@")},
        named=tuple(tool.name for tool in tools_from(given["addresses"])),
        id=new_id("p", int(now.timestamp() * 1000)),
        at=now,
    )


def templates_here() -> list[Template]:
    """The user's own templates, those of the project, and those that come with it; of one name, the first counts."""
    home = home_in(os.environ)
    own = templates_in(user_file(os.environ, home).parent / TEMPLATES)
    brought = templates_of(find_project(Path.cwd(), home).root, OURS, TEMPLATES)
    found: dict[str, Template] = {}
    for each in (*own, *brought, *stock()):
        if isinstance(each, BadTemplate):
            click.echo(visible(f"warning {each.code}: {each.message}"), err=True)
        else:
            found.setdefault(each.name, each)
    return list(found.values())


def lacks(made: Made, tools: Iterable[AnyTool], settings: Settings) -> list[Problem]:
    """What stands in the way of a plan here."""
    return infeasible(made.plan, replace(means_here(settings, tools), inputs={}))


def tell(made: Made, problems: Iterable[Problem] = ()) -> None:
    """Say on standard error who made a plan and why, what it asks for, and what it leaves out."""
    click.echo(f"planner {made.planner}", err=True)
    for line in made.why:
        click.echo(visible(f"  {line}"), err=True)
    if made.asks:
        click.echo(visible(f"asks first for: {', '.join(made.asks)}"), err=True)
    if made.left:
        click.echo(visible(f"warning: the plan leaves out: {'; '.join(made.left)}"), err=True)
    print_problems(problems, err=True)


def made_for_run(goal: str, toolbox: Toolbox, given: Mapping[str, Any]) -> Plan:
    """The plan of a goal that is carried out at once: it does all that the goal says, and nothing stands in its way."""
    tools = known_here(given["addresses"])
    made = _planned_or_not(goal, tools, given)
    found = [*lacks(made, tools, settings_for(given.get("db"))), *check(made.plan, toolbox)]
    problems = errors_in(dict.fromkeys(found))
    if not given["as_json"] and not (problems and made.planner == "nobody"):  # nobody is about to do it
        tell(made)
    plan = made.whole(
        f"say it in other words, or look at the plan first: perdure plan {shlex.quote(goal)} -o plan.yaml"
    )
    if problems:
        refuse(problems, as_json=given["as_json"])
    return plan


def _planned_or_not(goal: str, tools: tuple[AnyTool, ...], given: Mapping[str, Any]) -> Made:
    """The plan for a goal; where a model was asked and finds none, the goal is served without one (X7)."""
    planner = given.get("planner") or "auto"
    try:
        return planned(goal, tools, given, planner)
    except NoPlanner as none:
        if planner != "auto" or given.get("template") or not _has_model(settings_for(given.get("db"))):
            raise
        told = " ".join(filter(None, (none.message, f"({none.help})" if none.help else "")))
        return unplanned(_asked(goal, tools, given), told)


def known_here(addresses: tuple[str, ...]) -> tuple[AnyTool, ...]:
    """All tools that a plan may use here."""
    toolset = toolset_or_note()
    known = (*provided(), *all_tools_from(addresses), *(toolset.tools() if toolset else ()))
    return tuple({each.name: each for each in known}.values())
