"""Options of the commands that carry a run on, and what they come to."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import click

from perdure.cli.arguments import refuse
from perdure.cli.driving import PATIENCE, Manner, carry_out
from perdure.cli.erring import say_error
from perdure.cli.granting import place_of
from perdure.cli.interrupts import carried_out
from perdure.cli.jobs import Job
from perdure.cli.journals import journal_option
from perdure.cli.kits import provided
from perdure.cli.reaching import by_option
from perdure.cli.toolsets import toolset_or_note
from perdure.config import Settings
from perdure.engine.upgrading import Gone
from perdure.plan import PlanError
from perdure.plan.visible import visible
from perdure.tools import AnyTool, load_tools
from perdure.tools.box import by_name
from perdure.tools.offers import Offers

F = TypeVar("F", bound=Callable[..., Any])

tools_option = click.option(
    "--tools", "addresses", multiple=True, metavar="MODULE:OBJECT", help="Tools that plans may use; can be repeated."
)


workspace_option = click.option(
    "--workspace",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The directory to work on; left out: that of the run, or this one.",
)


def following_options(command: F) -> F:
    """`--wait`, `--timeout`, `--patience`, `--json` and `--jsonl`."""
    above_zero = click.FloatRange(0, min_open=True)
    for option in (
        click.option("--jsonl", is_flag=True, help="Print every event as a line of JSON, as it comes."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document at the end."),
        click.option(
            "--patience", type=click.FloatRange(0), default=PATIENCE, show_default=True, metavar="SECONDS",
            help="For attempts at work to end, after Ctrl-C or a timeout.",
        ),
        click.option("--timeout", type=above_zero, metavar="SECONDS", help="Pause the run then, and leave with 124."),
        click.option("--wait", is_flag=True, help="Stay also while the run waits for a person, a signal or an hour."),
    ):  # fmt: skip
        command = option(command)
    return command


def driving_options(command: F) -> F:
    """What a command takes that carries a run on and follows it: whose tools, where, by whom, how, which journal."""
    for option in (journal_option, following_options, by_option, workspace_option, tools_option):
        command = option(command)
    return command


def tools_from(addresses: tuple[str, ...]) -> tuple[AnyTool, ...]:
    """The tools at all addresses, each once."""
    found = {tool.name: tool for address in addresses for tool in load_tools(address)}
    return tuple(found.values())


def known_tools(addresses: tuple[str, ...]) -> dict[str, AnyTool]:
    """The tools that come with it, and those at all addresses, by name."""
    return by_name([*provided(), *tools_from(addresses)])


def offers_here() -> Offers:
    """What installed distributions offer, as far as the user's policy lets them."""

    def allowed() -> bool | tuple[str, ...]:
        from perdure.config.policy import load_policy  # noqa: PLC0415  only when somebody looks for an offer

        return load_policy(Path.cwd()).entry_points

    return Offers(allowed)


def all_tools_from(addresses: tuple[str, ...]) -> tuple[AnyTool, ...]:
    """The tools at all addresses, and those that distributions offer: for runs whose plan is not known yet.

    Who names a module means it, so its tools come first. What is wrong with an offer is said, and spoils no other.
    """
    named, offers = tools_from(addresses), offers_here()
    for flaw in offers.load_all():
        click.echo(visible(f"warning {flaw.code}: {flaw.message}; {flaw.help}"), err=True)
    return tuple({each.name: each for each in (*offers.loaded, *named)}.values())


def manner_from(settings: Settings, given: Mapping[str, Any], tools: tuple[AnyTool, ...], **more: Any) -> Manner:
    """What the options come to."""
    if given["as_json"] and given["jsonl"]:
        raise click.UsageError("--json and --jsonl both want standard output")
    taken = {name: given[name] for name in ("wait", "timeout", "patience", "as_json", "jsonl")}
    taken["workspace"] = more.pop("workspace", None) or given.get("workspace")
    toolset = more.pop("toolset") if "toolset" in more else toolset_or_note()
    return Manner(settings, tools, given["addresses"], toolset, **taken, **more)


def manner_for(run: str | None, settings: Settings, given: Mapping[str, Any]) -> Manner:
    """The same for a run that is there already, or for all of them: it works where it has worked before."""
    place = given["workspace"]
    if place is None and run is not None and not settings.server.url:
        place = carried_out(place_of(settings, run))
    return manner_from(settings, given, all_tools_from(given["addresses"]), begun=announce, workspace=place)


def carried_on(job: Job, manner: Manner) -> int:
    """Carry a run on whose plan may not be usable here any more; the exit code."""
    try:
        return carried_out(carry_out(job, manner))
    except PlanError as error:
        refuse(error.problems, as_json=manner.as_json)
    except Gone as error:
        if not manner.as_json:
            raise
        say_error(error.code, error.message, error.help, missing=[asdict(each) for each in error.lacks])
        raise click.exceptions.Exit(error.exit_code) from None


def announce(run: str) -> None:
    """Say a run's id before anything else."""
    click.echo(f"run {run}", err=True)
