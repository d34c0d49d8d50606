"""`perdure stop`: the kill switch."""

import asyncio

import click

from perdure.cli.journals import is_there, journal_option, settings_for
from perdure.cli.printing import json_option, print_json
from perdure.cli.reaching import by_option, whoever
from perdure.cli.stopping import stop_all
from perdure.plan.visible import number_of


@click.command()
@click.option("--all", "everything", is_flag=True, help="Say that you mean it.")
@by_option
@journal_option
@json_option
def stop(everything: bool, by: str | None, db: str | None, as_json: bool) -> None:
    """Cancel every run in the journal that is not over, at once, whichever process drives them.

    What was done stays done. A process that does not answer is ended, with all that it has started. To end one run
    there is `perdure cancel`.
    """
    if not everything:
        raise click.UsageError("this cancels every run: say --all, or end one with `perdure cancel RUN`")
    settings = settings_for(db)
    stopped: list[str] = []
    if is_there(settings):
        stopped = asyncio.run(stop_all(settings, {"do": "stop", "by": whoever(by)}))
    if as_json:
        print_json({"schema": "perdure.stop/1", "runs": stopped})
        return
    for run in stopped:
        click.echo(run)
    click.echo(f"stopped {number_of(len(stopped), 'run')}", err=True)
