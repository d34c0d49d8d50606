"""The journal that a command works on: which file it is, and open for as long as the command takes."""

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import click

from perdure.config import Settings, load
from perdure.journal import AnyJournal, open_journal
from perdure.plan.visible import visible

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

db_option = click.option("--db", metavar="FILE", help="The journal; without it, the one that the settings name.")


def settings_for(db: str | None, **flags: Any) -> Settings:
    """The settings that hold for a command; a flag is named like its setting, with `__` for the dot."""
    given = {name.replace("__", "."): value for name, value in flags.items()}
    return load({"db": db, **given}, planning=True).settings


@asynccontextmanager
async def opened(settings: Settings, *, read_only: bool = True) -> "AsyncGenerator[AnyJournal]":
    """The journal, opened."""
    journal = await open_journal(settings.db, read_only=read_only, network=settings.network_disk)
    try:
        yield journal
    finally:
        await journal.close()


def is_there(settings: Settings) -> bool:
    """Whether there is a journal; where there is none yet, a hint on standard error says so."""
    if settings.db.exists():
        return True
    click.echo(visible(f"there is no journal {settings.db} yet; the first run makes it"), err=True)
    return False
