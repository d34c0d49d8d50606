"""`perdure gc`: forget old runs that are over."""

import asyncio
import time
from typing import Final

import click

from perdure.cli.journals import db_option, is_there, opened, settings_for
from perdure.cli.printing import json_option, print_json
from perdure.config import Settings
from perdure.journal.listing import every_run
from perdure.plan.visible import number_of, visible
from perdure.ports import Filter, Swept

_DAY: Final = 86_400


def _seconds(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """A length of time, written as in a plan."""
    from pydantic_core import PydanticCustomError  # noqa: PLC0415  only when it is called

    from perdure.plan.model.parts import seconds_of  # noqa: PLC0415  only when it is called

    try:
        return None if value is None else float(seconds_of(value))
    except PydanticCustomError as error:
        raise click.BadParameter(error.message(), ctx, param) from error


@click.command()
@click.option(
    "--older-than", callback=_seconds, metavar="TIME", help="Only runs last touched longer ago, as in 30d or 12h."
)
@click.option("--keep", type=click.IntRange(0), metavar="N", help="Keep the newest N, however old.")
@click.option("--dry-run", is_flag=True, help="Only say which runs would go.")
@db_option
@json_option
def gc(older_than: float | None, keep: int | None, dry_run: bool, db: str | None, as_json: bool) -> None:
    """Forget runs that are over and old, with the values that no other run names, and give the room back.

    Without options retention.days and retention.keep of the settings hold.
    """
    settings = settings_for(db, retention__keep=keep)
    seconds = settings.retention.days * _DAY if older_than is None else older_than
    before = int((time.time() - seconds) * 1000)
    if dry_run:
        _foretell(asyncio.run(_candidates(settings, before)), as_json=as_json)
    else:
        _report(asyncio.run(_sweep(settings, before)), as_json=as_json)


async def _sweep(settings: Settings, before: int) -> Swept:
    if not is_there(settings):  # opening it to write would make it
        return Swept(0, 0)
    async with opened(settings, read_only=False) as journal:
        return await journal.sweep(before, settings.retention.keep)


async def _candidates(settings: Settings, before: int) -> list[str]:
    if not is_there(settings):
        return []
    async with opened(settings) as journal:
        over = await every_run(journal, Filter(over=True))
    return [run.id for run in over[settings.retention.keep :] if run.updated < before]


def _foretell(runs: list[str], *, as_json: bool) -> None:
    if as_json:
        print_json({"schema": "perdure.gc/1", "dry_run": True, "runs": len(runs), "ids": runs})
        return
    for run in runs:
        click.echo(visible(run))
    click.echo(f"{number_of(len(runs), 'run')} would go", err=True)


def _report(swept: Swept, *, as_json: bool) -> None:
    if as_json:
        print_json({"schema": "perdure.gc/1", "dry_run": False, "runs": swept.runs, "artifacts": swept.artifacts})
    else:
        click.echo(f"forgot {number_of(swept.runs, 'run')} and {number_of(swept.artifacts, 'artifact')}", err=True)
