"""`perdure watch`: a run as it goes on, from any process."""

import click

from perdure.cli.commands import resume_command
from perdure.cli.following import follow, never
from perdure.cli.interrupts import carried_out
from perdure.cli.journals import journal_option, opened, settings_for
from perdure.cli.manners import announce
from perdure.cli.reaching import is_owned
from perdure.cli.reporting import report
from perdure.cli.screens import screen_for
from perdure.config import Settings
from perdure.engine import View


@click.command()
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document at the end.")
@click.option("--jsonl", is_flag=True, help="Print every event as a line of JSON, as it comes.")
@journal_option
@click.pass_context
def watch(ctx: click.Context, run: str, as_json: bool, jsonl: bool, db: str | None) -> None:
    """Watch RUN until it is over, whoever drives it. Nothing is changed; Ctrl-C only ends the watching.

    RUN is an id, the beginning of one, or @last. The exit code is that of `perdure run`.
    """
    if as_json and jsonl:
        raise click.UsageError("--json and --jsonl both want standard output")
    ctx.exit(carried_out(_watch(settings_for(db), run, as_json=as_json, jsonl=jsonl)))


async def _watch(settings: Settings, name: str, *, as_json: bool, jsonl: bool) -> int:
    async with opened(settings) as journal:
        run = await journal.run(name)
        announce(run.id)
        if not run.summary.over and not await is_owned(settings):
            click.echo(f"nobody drives it; go on with: {resume_command(run.id)}", err=True)
        view = View(journal, run.id)
        screen = screen_for(view, as_json=as_json, jsonl=jsonl)
        try:
            await follow(journal, view, screen, never)
        finally:
            screen.close(view)
        return report(view, as_json=as_json, jsonl=jsonl)
