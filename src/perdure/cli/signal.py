"""`perdure signal`: tell a run that something happened outside."""

import asyncio

import click

from perdure.cli.inputs import json_or_text
from perdure.cli.journals import journal_option, settings_for
from perdure.cli.messages import tell
from perdure.cli.printing import json_option
from perdure.cli.reaching import by_option, whoever
from perdure.plan.visible import visible


@click.command()
@click.argument("run")
@click.argument("name")
@click.argument("value", required=False)
@by_option
@journal_option
@json_option
def signal(run: str, name: str, value: str | None, by: str | None, db: str | None, as_json: bool) -> None:  # noqa: PLR0913, PLR0917  one for each option
    """Tell RUN that the signal NAME has come, with VALUE (JSON, or else a text). It is kept until a step takes it.

    RUN is an id, the beginning of one, or @last.
    """
    given = None if value is None else json_or_text(value)
    message = {"do": "signal", "name": name, "value": given, "by": whoever(by)}
    asyncio.run(tell(settings_for(db), run, message, f"the signal {visible(name)} is there", as_json=as_json))
