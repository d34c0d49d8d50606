"""What the commands that send a message have in common: they send it, and say where the run stands then."""

from collections.abc import Callable, Mapping
from typing import Any

import click

from perdure.cli.commands import command, resume_command
from perdure.cli.hints import standing
from perdure.cli.journals import opened
from perdure.cli.printing import print_json
from perdure.cli.reaching import full_id, reach
from perdure.cli.reporting import say_waits
from perdure.config import Settings
from perdure.documents.runs import run_document
from perdure.engine import View

Said = str | Callable[[Any], str]
"""What is said when it is done; perhaps by what came back."""


async def tell(settings: Settings, run: str, message: Mapping[str, Any], done: Said, *, as_json: bool = False) -> None:
    """Send a message to a run, and say what follows from it."""
    id_ = await full_id(settings, run)
    reached = await reach(settings, {**message, "run": id_})
    async with opened(settings) as journal:
        view = await View.of(journal, id_)
        if as_json:
            print_json({**run_document(view, command=command), "driven": reached.driven})
            return
        click.echo(done if isinstance(done, str) else done(reached.done), err=True)
        _say(view, driven=reached.driven)


def _say(view: View, *, driven: bool) -> None:
    state = view.state
    click.echo(standing(state), err=True)
    if state.ended is not None:
        return
    say_waits(state)
    if not driven:
        click.echo(f"nobody drives it; go on with: {resume_command(view.run)}", err=True)
