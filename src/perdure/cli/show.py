"""`perdure show`: a run as it stands, or as it stood."""

import asyncio
import sys
import time
from collections.abc import Iterator
from typing import Any, Final

import click

from perdure.cli.commands import command
from perdure.cli.hints import standing, waits
from perdure.cli.journals import driver_of, journal_option, opened, settings_for
from perdure.cli.printing import console, json_option, print_json
from perdure.cli.rows import Look, Row, rows
from perdure.cli.telling import LONG, clock, names_words, seconds, value_words
from perdure.config import Settings
from perdure.documents.owning import is_interrupted
from perdure.documents.runs import run_document
from perdure.engine import View
from perdure.engine.result import Account
from perdure.plan.visible import number_of, visible

MANY: Final = 100
"""Groups with more steps are shown in part, unless all are asked for."""


@click.command()
@click.argument("run")
@click.option("--at", type=click.IntRange(1), metavar="N", help="As it stood after its first N facts.")
@click.option("--all", "everything", is_flag=True, help="Show every step, however many there are.")
@click.option("--failures", is_flag=True, help="Show what failed, what was tried next, what it cost and what helped.")
@journal_option
@json_option
def show(  # noqa: PLR0913  one parameter for each option
    run: str, *, at: int | None, everything: bool, failures: bool, db: str | None, as_json: bool
) -> None:
    """Show RUN: its steps and what became of them, what it waits for and how to give it that.

    RUN is an id, the beginning of one, or @last.
    """
    if failures:
        asyncio.run(_show_failures(settings_for(db), run, at, as_json=as_json))
        return
    asyncio.run(
        _show(settings_for(db), run, at, Look(None if everything else MANY, within=True, outputs=True), as_json)
    )


async def _show(settings: Settings, run: str, at: int | None, look: Look, as_json: bool) -> None:
    async with opened(settings) as journal:
        view = await View.of(journal, (await journal.run(run)).id, at)
        interrupted = at is None and is_interrupted(view.status, await driver_of(settings))
        if as_json:
            print_json(run_document(view, interrupted=interrupted, command=command))
            return
        for name, value in _facts(view):
            click.echo(f"{name:<8}{value}")
        if at is None and view.state.ended is None:
            from perdure.cli.forecasting import left_words  # noqa: PLC0415  only for runs that are under way

            click.echo(f"{'left':<8}{await left_words(journal, view.run, int(time.time() * 1000))}")
        click.echo()
        is_past = at is not None or view.state.ended is not None
        print_rows(rows(view, look, view.state.at if is_past else None))
        _print_rest(view)
        if interrupted:
            click.echo(f"\nit is interrupted: no process carries it on\n  {command('resume', view.run)}")


async def _show_failures(settings: Settings, run: str, at: int | None, *, as_json: bool) -> None:
    from perdure.cli.auditing import show_failures  # noqa: PLC0415  only when somebody asks

    async with opened(settings) as journal:
        found = await journal.run(run)
        _, entries = await journal.load(found.id)
        view = await View.of(journal, found.id, at)
        show_failures(found.id, view.status, list(entries[:at]), as_json=as_json)


def print_rows(found: Iterator[Row]) -> None:
    """Rows on standard output, in colours where they can be seen."""
    if not sys.stdout.isatty():
        for row in found:
            click.echo(row.text)
        return
    from rich.text import Text  # noqa: PLC0415  only when something is drawn

    screen = console()
    for row in found:
        text = Text("  " * row.depth).append(f"{row.mark} ", row.style).append(row.name, "bold")
        screen.print(text.append(f"  {row.words}", "default"))


def _facts(view: View) -> Iterator[tuple[str, Any]]:
    state = view.state
    started, usage = state.started, view.result.usage
    yield "run", view.run
    if started is None:
        return
    if started.goal:
        yield "goal", visible(started.goal, 300)
    yield "status", standing(state).removeprefix(f"run {view.run} ")
    yield "plan", f"sha256:{started.plan}" + (f", revision {state.revision}" if state.revision else "")
    if words := names_words(state.names):
        yield "names", visible(words, 300)
    if started.session:
        yield "session", visible(started.session)
    if state.forked is not None:
        yield "fork", f"of {visible(state.forked.of)} at {state.forked.seq}"
    yield "began", clock(state.root.at if state.root else state.at, LONG)
    took = seconds(round(usage.seconds * 1000))
    steps, tries = number_of(usage.steps, "step"), number_of(usage.attempts, "attempt")
    yield "took", f"{took}, {steps}, {tries}, {number_of(view.seq, 'fact')}"
    if view.lowered:
        yield "sandbox", f"lowered to {visible(', '.join(sorted(view.lowered)))} by the user's settings"
    for key, accounts in usage.budgets.items():
        yield "spent", f"{visible(key) or 'the run'}: {', '.join(spent(*each) for each in accounts.items())}"


def spent(word: str, account: Account) -> str:
    """How one thing stands in a budget: `3 of 10 steps`."""
    amount = f"{account.spent:,.9g} of {account.limit:,.9g} {word}"
    held = f" ({account.reserved:,.9g} more reserved)" if account.reserved else ""
    return f"{amount}{held}" + (f", overrun by {account.overrun:,.9g}" if account.overrun else "")


def _print_rest(view: View) -> None:
    found = list(waits(view.state)) if view.state.ended is None else []
    output = view.result.output
    if output is not None:
        found.append(f"output  {value_words(output, 2_000)}")
    if found:
        click.echo("\n" + "\n".join(found))
