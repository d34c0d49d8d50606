"""`perdure ls`: the runs in a journal, newest first."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import click

from perdure.cli.commands import command
from perdure.cli.journals import driver_of, is_there, journal_option, opened, settings_for
from perdure.cli.printing import json_option, print_json, print_table
from perdure.config import Settings
from perdure.documents.listing import fork_of, open_questions, runs_document
from perdure.documents.owning import CHOICES, INTERRUPTED, is_interrupted, wanted
from perdure.journal.listing import every_run
from perdure.plan.visible import lapse, visible
from perdure.ports import Filter, Run

MOST: Final = 1_000
_LARGEST: Final = 2**63 - 1
_GOAL: Final = 60
"""How much of a goal is shown."""


@dataclass(frozen=True)
class _Found:
    runs: list[Run] = field(default_factory=list[Run])
    questions: Counter[str] = field(default_factory=Counter[str])
    more: int | None = None
    """Where the next page begins."""


@click.command()
@click.option("--status", "statuses", multiple=True, type=click.Choice(CHOICES), help="Only these; can be repeated.")
@click.option("--session", metavar="ID", help="Only runs of this session.")
@click.option("--limit", type=click.IntRange(1, MOST), default=50, show_default=True, help="Most runs to list.")
@click.option("--before", type=click.IntRange(1, _LARGEST), metavar="N", help="Go on where an earlier list ended.")
@click.option("--all", "everything", is_flag=True, help="List all, however many there are.")
@journal_option
@json_option
def ls(  # noqa: PLR0913, PLR0917  one for each option
    statuses: tuple[str, ...],
    session: str | None,
    limit: int,
    before: int | None,
    everything: bool,
    db: str | None,
    as_json: bool,
) -> None:
    """List runs, newest first: id, status, age, open questions, goal."""
    settings = settings_for(db)
    owner = asyncio.run(driver_of(settings))
    where = Filter(statuses=wanted(statuses, owner), session=session)
    found = _Found()
    if where.statuses or not statuses:
        found = asyncio.run(_find(settings, where, before, None if everything else limit))
    if as_json:
        print_json(runs_document(found.runs, found.questions, found.more, owner))
        return
    rows = [_row(run, found.questions[run.id], owner) for run in found.runs]
    print_table(["run", "status", "age", "asks", "goal"], rows)
    _say_more(found, owner)


def _say_more(found: _Found, owner: str) -> None:
    if found.more is not None:
        click.echo(f"there are more: add --before {found.more}, or --all", err=True)
    if any(is_interrupted(run.summary.status, owner) for run in found.runs):
        click.echo(f"no process carries on what is interrupted: {command('resume', '--all')}", err=True)


async def _find(settings: Settings, where: Filter, before: int | None, limit: int | None) -> _Found:
    if not is_there(settings):
        return _Found()
    async with opened(settings) as journal:
        if limit is None:
            return _Found(await every_run(journal, where, before), await open_questions(journal))
        runs = await journal.runs(where, before, limit + 1)
        more = runs[limit - 1].number if len(runs) > limit else None
        return _Found(runs[:limit], await open_questions(journal), more)


def _row(run: Run, questions: int, owner: str) -> tuple[str, ...]:
    summary = run.summary
    status = INTERRUPTED if is_interrupted(summary.status, owner) else summary.status
    of, seq = fork_of(run)
    fork = f"fork of {visible(of)} at {seq}" if of else ""
    goal = " · ".join(filter(None, (visible(summary.goal, _GOAL), fork)))
    return run.id, status, age(run.created), str(questions or ""), goal


def age(created: int) -> str:
    """How long ago something was, in its largest unit."""
    return coarse(time.time() - created / 1000)


def coarse(lasting: float) -> str:
    """A length of time in its largest unit."""
    seconds = max(0, int(lasting))
    unit = next((size for size in (86_400, 3_600, 60) if seconds >= size), 1)
    return lapse(seconds // unit * unit)
