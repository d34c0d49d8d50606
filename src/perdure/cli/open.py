"""`perdure open`: a link to the page of the server that runs here."""

import asyncio
from typing import ClassVar

import click

from perdure.cli.codes import NOT_FOUND
from perdure.cli.journals import db_option, settings_for
from perdure.cli.printing import json_option, print_json
from perdure.cli.reaching import ask_owner, by_option, whoever
from perdure.cli.serving import SCOPES
from perdure.config import Settings
from perdure.control import NoOwner, OwnerRefused
from perdure.engine.requests import BadRequest
from perdure.errors import PerdureError


class NobodyServes(PerdureError):
    """There is no server for this journal."""

    code: ClassVar[str] = "PRD6035"
    exit_code: int = NOT_FOUND


@click.command()
@click.option(
    "--scope", type=click.Choice(SCOPES), default="admin", show_default=True,
    help="What may be done in the session that the link opens.",
)  # fmt: skip
@by_option
@db_option
@json_option
def open(scope: str, by: str | None, db: str | None, as_json: bool) -> None:  # noqa: A001  the word of the command
    """Print a link to the page of the `perdure serve` that has the journal.

    It opens one session, once, within 10 minutes. Whoever has it until then can use it: give it to nobody.
    """
    found = asyncio.run(_asked(settings_for(db), {"do": "open", "scope": scope, "by": whoever(by)}))
    if as_json:
        print_json({"schema": "perdure.link/1", **found})
        return
    click.echo(found["link"])


async def _asked(settings: Settings, request: dict[str, str]) -> dict[str, str]:
    help_ = f"begin to: perdure serve --db {settings.db}"
    try:
        return (await ask_owner(settings, request)).done
    except NoOwner as error:
        raise NobodyServes(f"nobody serves {settings.db}", help_) from error
    except OwnerRefused as refusal:
        if refusal.code != BadRequest.code:
            raise
        raise NobodyServes(f"the process that has {settings.db} serves nothing", help_) from refusal
