"""`perdure run`: carry out a plan, and follow it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from perdure.cli.arguments import is_goal, limit_options, limits_from, readable, refuse
from perdure.cli.codes import OK
from perdure.cli.detaching import detach
from perdure.cli.driving import carry_out
from perdure.cli.feasibility import lacks_here
from perdure.cli.granting import granted
from perdure.cli.inputs import inputs_from
from perdure.cli.interrupts import carried_out
from perdure.cli.jobs import Start
from perdure.cli.journals import journal_option, settings_for
from perdure.cli.kits import provided
from perdure.cli.manners import (
    announce,
    following_options,
    manner_from,
    offers_here,
    tools_from,
    tools_option,
    workspace_option,
)
from perdure.cli.printing import print_problems
from perdure.cli.toolsets import hint_at_unseen, toolset_or_note
from perdure.config import Settings
from perdure.engine.starting import accepted
from perdure.plan import Plan, Toolbox
from perdure.plan.problems import errors_in
from perdure.plan.reading import Reading
from perdure.tools import AnyTool, toolbox_of

PLANNERS: Final = ("template", "tools", "contracts", "model")
"""Who may be named to make a plan of a goal."""


@click.command()
@click.argument("plan", metavar="PLAN|GOAL")
@click.option("-i", "pairs", multiple=True, metavar="NAME=VALUE", help="An input; VALUE may be @FILE.")
@click.option("--inputs", "file", metavar="FILE", help="Inputs, as a JSON object.")
@tools_option
@click.option("--session", default="", metavar="ID", help="The session that the run belongs to.")
@click.option("--seed", type=int, metavar="N", help="The seed of all random numbers in the run.")
@workspace_option
@click.option("--dry-run", is_flag=True, help="Do nothing to the world, and say what would be done.")
@click.option("--like", metavar="RUN", help="In a dry run, assume the results of an earlier run.")
@click.option("--planner", type=click.Choice(PLANNERS), help="Who makes the plan for GOAL; nobody else is asked.")
@click.option("--template", metavar="NAME", help="Make the plan for GOAL from this template, whatever fits better.")
@click.option("--detach", is_flag=True, help="Let a process in the background drive it; print the id and leave.")
@following_options
@journal_option
@limit_options
@click.pass_context
def run(ctx: click.Context, plan: str, pairs: tuple[str, ...], file: str | None, **given: Any) -> None:
    """Carry out PLAN (YAML or JSON; - for standard input) and follow it.

    For a GOAL, several words in quotation marks, a plan is made first, as `perdure plan` does it. If a model was asked
    and found none, an agent works on the goal without a plan, and you are told so; not with --planner. For contracts,
    GOAL is a file.

    The run's id comes first, on standard error; its output comes last, on standard output. Ctrl-C pauses the run at a
    safe point; a second one leaves at once, and nothing that was done is forgotten.

    Exit code 0: it succeeded. 1: it failed. 4: it waits, or was paused. 5: it was cancelled. 6: the plan cannot be
    used. 8: a budget is used up. 124: timeout. 130: Ctrl-C.
    """
    settings = settings_for(given["db"])
    named, offers, toolset = tools_from(given["addresses"]), offers_here(), toolset_or_note()
    theirs = toolset.tools() if toolset else ()
    known = (*provided(), *named, *theirs)
    toolbox = toolbox_of({each.name: each for each in known}.values(), offers)
    with hint_at_unseen(toolset):
        read, inputs = _plan_and_inputs(
            plan, None if settings.server.url else toolbox, {**given, "pairs": pairs, "file": file}
        )
    tools = (*named, *offers.loaded)
    found = read.usable()
    accepted(found, inputs)  # what somebody has to give comes before what is not here
    if settings.server.url and not given["dry_run"]:
        ctx.exit(_begun_there(Start(found, inputs, given["session"], given["seed"]), settings, given))
    lacks = lacks_here(read, settings, (*known, *tools), given["workspace"])
    if given["dry_run"]:
        ctx.exit(carried_out(_rehearsed(found, inputs, settings, {**given, "lacks": lacks}, (*tools, *theirs))))
    if errors := errors_in(lacks):
        refuse(errors, as_json=given["as_json"])
    print_problems(() if given["as_json"] else lacks, err=True)
    place = str((given["workspace"] or Path.cwd()).resolve())
    job = Start(found, inputs, given["session"], given["seed"], place, settings.heads.tiers)
    manner = manner_from(settings, given, tools, toolset=toolset, begun=announce)
    if given["detach"]:
        detach(manner, job)
        return
    ctx.exit(carried_out(carry_out(job, manner)))


def _begun_there(job: Start, settings: Settings, given: Mapping[str, Any]) -> int:
    """Have the server begin it, which knows what tools and models there are, and where it works."""
    manner = manner_from(settings, given, (), toolset=None, begun=announce)
    if given["detach"]:
        detach(manner, job)
        return OK
    return carried_out(carry_out(job, manner))


def _plan_and_inputs(name: str, toolbox: Toolbox | None, given: Mapping[str, Any]) -> tuple[Reading, dict[str, Any]]:
    """The plan, read or made. Without a toolbox another process says whether its tools are there."""
    if given["planner"] == "contracts":
        return _made(name, toolbox, given)  # a file says what is wanted
    if not name.strip():
        raise click.UsageError("say a goal or a file: this is empty")
    if not is_goal(name):
        for word in ("planner", "template"):
            if given[word]:
                raise click.UsageError(f"--{word} is for a GOAL, several words in quotation marks; this is a plan")
        found = readable(name, limits_from(dict(given)), toolbox, as_json=given["as_json"])
        return found, inputs_from(found.usable().inputs, given["pairs"], given["file"])
    return _made(name, toolbox, given)


def _made(goal: str, toolbox: Toolbox | None, given: Mapping[str, Any]) -> tuple[Reading, dict[str, Any]]:
    if toolbox is None:
        from perdure.remote.errors import NotFromElsewhere  # noqa: PLC0415  as below

        raise NotFromElsewhere("a goal is planned where the run is", "make a plan of it first: perdure plan GOAL")
    from perdure.cli.goals import made_for_run  # noqa: PLC0415  few need it, and it loads much

    return Reading(made_for_run(goal, toolbox, given)), {}


async def _rehearsed(
    plan: Plan, inputs: Mapping[str, Any], settings: Settings, given: Mapping[str, Any], tools: tuple[AnyTool, ...]
) -> int:
    from perdure.cli.forecasting import forecast_here  # noqa: PLC0415  few need it, and it loads much
    from perdure.cli.rehearsing import outputs_from, rehearse, show  # noqa: PLC0415  as above
    from perdure.documents.estimates import estimate_document  # noqa: PLC0415  as above

    world = {"tools": tools, "agent_planning": settings.agent_planning, **granted(given["workspace"])}
    found = await rehearse(plan, inputs, world, await outputs_from(settings, given["like"]))
    estimate = estimate_document(await forecast_here(plan, settings, (*provided(), *tools), inputs))
    return show(found, estimate, given["lacks"], as_json=given["as_json"])
