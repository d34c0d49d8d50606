"""`perdure pause`: let a run begin nothing new."""

import asyncio

import click

from perdure.cli.journals import journal_option, settings_for
from perdure.cli.messages import tell
from perdure.cli.printing import json_option
from perdure.cli.reaching import by_option, whoever


@click.command()
@click.argument("run")
@click.option("-m", "reason", default="", metavar="WHY", help="Why.")
@by_option
@journal_option
@json_option
def pause(run: str, reason: str, by: str | None, db: str | None, as_json: bool) -> None:
    """Let RUN begin nothing new. What is at work goes on to its end, and clocks stand still.

    RUN is an id, the beginning of one, or @last. `perdure resume` goes on.
    """
    message = {"do": "pause", "reason": reason, "by": whoever(by)}
    asyncio.run(tell(settings_for(db), run, message, "paused", as_json=as_json))
