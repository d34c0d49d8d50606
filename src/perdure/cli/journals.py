"""The journal that a command works on: which file it is, and open for as long as the command takes."""

import os
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from perdure.cli.commands import SERVER
from perdure.config import Server, Settings, load
from perdure.documents.owning import writer_of
from perdure.journal import AnyJournal, open_journal
from perdure.plan.visible import visible

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from perdure.remote import Line

F = TypeVar("F", bound=Callable[..., Any])
db_option = click.option("--db", metavar="FILE", help="The journal; without it, the one that the settings name.")


def _noted(context: click.Context, _: click.Parameter, url: str | None) -> None:
    context.meta[SERVER] = url


def journal_option(command: F) -> F:
    """`--db` and `--server`: which journal, here or elsewhere."""
    told = "The server that has the journal, if it is elsewhere: https://HOST."
    elsewhere = click.option("--server", metavar="URL", expose_value=False, callback=_noted, help=told)
    return elsewhere(db_option(command))


def _named_server() -> tuple[bool, str | None]:
    """Whether this command can be given elsewhere, and the server that it was told."""
    context = click.get_current_context(silent=True)
    return (context is not None and SERVER in context.meta), (context.meta.get(SERVER) if context else None)


def settings_for(db: str | None, **flags: Any) -> Settings:
    """The settings that hold for a command; a flag is named like its setting, with `__` for the dot."""
    given = {name.replace("__", "."): value for name, value in flags.items()}
    _, url = _named_server()
    if db and url:
        raise click.UsageError("--db and --server both say which journal")
    found = load({"db": db, "server.url": url, **given}, planning=True).settings
    return replace(found, server=Server()) if db else found


def check_here(settings: Settings) -> None:
    """`NotFromElsewhere` if the journal is elsewhere, and the command is not one that can be given from here."""
    if settings.server.url and not _named_server()[0]:
        from perdure.remote.errors import NotFromElsewhere  # noqa: PLC0415  only where there is a server

        told = f"this is only done where the journal is, and it is at {settings.server.url}"
        raise NotFromElsewhere(told, "do it there, or name a journal here with --db")


@asynccontextmanager
async def line_to(server: Server) -> "AsyncGenerator[Line]":
    """The line to the server that has the journal."""
    from perdure.remote.address import checked  # noqa: PLC0415  few have a server, and it loads much
    from perdure.remote.key import key_from  # noqa: PLC0415  as above
    from perdure.remote.line import Line  # noqa: PLC0415  as above

    async with Line(checked(server.url, plain=server.plain), key_from(os.environ, server.key)) as line:
        yield line


@asynccontextmanager
async def opened(settings: Settings, *, read_only: bool = True) -> "AsyncGenerator[AnyJournal]":
    """The journal, opened; one elsewhere is read as if it were here."""
    check_here(settings)
    if settings.server.url:
        from perdure.remote import RemoteJournal  # noqa: PLC0415  as above

        async with line_to(settings.server) as line:
            yield cast("AnyJournal", RemoteJournal(line))
            return
    journal = await open_journal(settings.db, read_only=read_only, network=settings.network_disk)
    try:
        yield journal
    finally:
        await journal.close()


def is_there(settings: Settings) -> bool:
    """Whether there is a journal; where there is none yet, a hint on standard error says so."""
    check_here(settings)
    if settings.server.url or settings.db.exists():
        return True
    click.echo(visible(f"there is no journal {settings.db} yet; the first run makes it"), err=True)
    return False


async def driver_of(settings: Settings) -> str:
    """Who carries runs on, for people; empty: nobody does."""
    if not settings.server.url:
        return writer_of(settings.db)
    from perdure.remote import who  # noqa: PLC0415  as above

    async with line_to(settings.server) as line:
        return (await who(line)).writer
