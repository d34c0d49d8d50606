"""`perdure cancel`: end a run, or one of its steps."""

import asyncio

import click

from perdure.cli.journals import journal_option, settings_for
from perdure.cli.messages import tell
from perdure.cli.printing import json_option
from perdure.cli.reaching import by_option, whoever
from perdure.plan.visible import visible


@click.command()
@click.argument("run")
@click.argument("step", required=False)
@click.option("-m", "reason", default="", metavar="WHY", help="Why; for a whole run.")
@by_option
@journal_option
@json_option
def cancel(run: str, step: str | None, reason: str, by: str | None, db: str | None, as_json: bool) -> None:  # noqa: PLR0913, PLR0917  one for each option
    """End RUN with `cancelled`, or only one STEP of it that is under way. What was done stays done.

    RUN is an id, the beginning of one, or @last. STEP is a step as `perdure show` names it.
    """
    if step and reason:
        raise click.UsageError("-m is for a whole run; a step is cancelled without a word")
    about = {"step": step} if step else {"reason": reason}
    done = f"{visible(step)} is cancelled" if step else "cancelled"
    message = {"do": "cancel", "by": whoever(by), **about}
    asyncio.run(tell(settings_for(db), run, message, done, as_json=as_json))
