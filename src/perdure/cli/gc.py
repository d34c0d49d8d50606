"""`perdure gc`: forget old runs that are over."""

import asyncio
import time
from typing import TYPE_CHECKING, Final

import click

from perdure.cli.arguments import length_of_time
from perdure.cli.journals import db_option, is_there, opened, settings_for
from perdure.cli.printing import json_option, print_json
from perdure.config import Settings
from perdure.plan.visible import number_of, visible

if TYPE_CHECKING:
    from perdure.engine.forgetting import Foretold, Forgotten

_DAY: Final = 86_400


@click.command()
@click.option(
    "--older-than", callback=length_of_time, metavar="TIME", help="Only runs last touched longer ago, as in 30d or 12h."
)
@click.option("--keep", type=click.IntRange(0), metavar="N", help="Keep the newest N, however old.")
@click.option("--dry-run", is_flag=True, help="Only say which runs would go, and how many bytes.")
@db_option
@json_option
def gc(older_than: float | None, keep: int | None, dry_run: bool, db: str | None, as_json: bool) -> None:
    """Forget runs that are over and old, and give the room back.

    With a run go the values that no other run names, and all that was kept to take it back: copies of files it changed,
    deleted branches. What is needed for another run stays.

    Without options retention.days and retention.keep of the settings hold.
    """
    settings = settings_for(db, retention__keep=keep)
    seconds = settings.retention.days * _DAY if older_than is None else older_than
    before = int((time.time() - seconds) * 1000)
    if dry_run:
        _foretell(asyncio.run(_foretold(settings, before)), as_json=as_json)
    else:
        _report(asyncio.run(_forgotten(settings, before)), as_json=as_json)


async def _forgotten(settings: Settings, before: int) -> "Forgotten":
    from perdure.config.policy import load_policy  # noqa: PLC0415  only when it is called
    from perdure.engine.forgetting import Beside, Forgotten, forget  # noqa: PLC0415  as above
    from perdure.engine.reaching import state_of  # noqa: PLC0415  as above

    if not is_there(settings):  # opening it to write would make it
        return Forgotten(0, 0)
    beside = Beside(state_of(settings.db), load_policy().tier)
    async with opened(settings, read_only=False) as journal:
        return await forget(journal, beside, before, settings.retention.keep)


async def _foretold(settings: Settings, before: int) -> "Foretold":
    from perdure.engine.forgetting import Foretold, foretell  # noqa: PLC0415  only when it is called
    from perdure.engine.reaching import state_of  # noqa: PLC0415  as above

    if not is_there(settings):
        return Foretold([], 0)
    async with opened(settings) as journal:
        return await foretell(journal, state_of(settings.db), before, settings.retention.keep)


def _foretell(found: "Foretold", *, as_json: bool) -> None:
    if as_json:
        told = {"runs": len(found.runs), "ids": found.runs, "hands_bytes": found.hands}
        print_json({"schema": "perdure.gc/1", "dry_run": True, **told})
        return
    for run in found.runs:
        click.echo(visible(run))
    click.echo(f"{number_of(len(found.runs), 'run')} would go{_with(found.hands)}", err=True)


def _report(done: "Forgotten", *, as_json: bool) -> None:
    if as_json:
        told = {"runs": done.runs, "artifacts": done.artifacts, "hands_bytes": done.hands, "left": list(done.left)}
        print_json({"schema": "perdure.gc/1", "dry_run": False, **told})
        return
    told = f"forgot {number_of(done.runs, 'run')} and {number_of(done.artifacts, 'artifact')}"
    click.echo(f"{told}{_with(done.hands)}", err=True)
    for why in done.left:
        click.echo(visible(f"left for the next time: {why}"), err=True)


def _with(size: int) -> str:
    return f", with {number_of(size, 'byte')} kept to take runs back" if size else ""
