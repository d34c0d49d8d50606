"""`perdure rollback`: take back what a run has done."""

from typing import Any

import click

from perdure.cli.codes import FAILED, OK
from perdure.cli.interrupts import carried_out
from perdure.cli.jobs import Rollback
from perdure.cli.journals import opened, settings_for
from perdure.cli.manners import carried_on, driving_options, manner_for
from perdure.cli.reaching import full_id, whoever
from perdure.config import Settings
from perdure.engine import View


@click.command()
@click.argument("run")
@click.option("--to", default="", metavar="CHECKPOINT", help="Only what was done after this checkpoint.")
@click.option("-m", "reason", default="", metavar="WHY", help="Why.")
@driving_options
@click.pass_context
def rollback(ctx: click.Context, run: str, to: str, reason: str, **given: Any) -> None:
    """Take back what RUN has done, the latest first, and follow it as `perdure run` does.

    RUN is an id, the beginning of one, or @last. One that is under way is stopped first; one that is over is opened
    again for this alone. It ends `rolled_back`, and says what could not be taken back.

    Exit code 0: all of it was taken back. 1: some of it was not.
    """
    settings = settings_for(given["db"])
    id_ = carried_out(full_id(settings, run))
    job = Rollback(id_, to, reason, whoever(given["by"]))
    code = carried_on(job, manner_for(id_, settings, given))
    ctx.exit(OK if code == FAILED and carried_out(_is_all_back(settings, id_)) else code)


async def _is_all_back(settings: Settings, run: str) -> bool:
    """Whether nothing is left behind: then it ended as it was wanted to."""
    async with opened(settings) as journal:
        view = await View.of(journal, run)
    return view.status == "rolled_back" and view.result.failure is None
