"""`perdure edit`: change the plan of a run that is under way."""

import asyncio
from typing import Any

import click

from perdure.cli.arguments import limit_options, limits_from
from perdure.cli.editing import Wish, edited
from perdure.cli.journals import journal_option, settings_for
from perdure.cli.printing import json_option
from perdure.cli.reaching import by_option, whoever


@click.command()
@click.argument("run")
@click.option("--file", metavar="FILE", help="Take the plan from a file (- for standard input), not from an editor.")
@click.option("--yes", is_flag=True, help="Do not ask whether it is right.")
@click.option("--why", "-m", default="", metavar="WHY", help="Why; it stands in the journal.")
@click.option("--widen", is_flag=True, help="Let the budget or the policy of the plan become wider.")
@by_option
@journal_option
@json_option
@limit_options
def edit(run: str, by: str | None, db: str | None, **said: Any) -> None:
    """Open the plan of RUN in $VISUAL or $EDITOR, show what was changed, and make it the plan of the run.

    RUN is an id, the beginning of one, or @last. What is over and what is at work cannot be changed; the file says
    which steps that are. A change is taken whole or refused whole.
    """
    wish = Wish(by=whoever(by), limits=limits_from(said), **{word: said[word] for word in _WORDS})
    asyncio.run(edited(settings_for(db), run, wish))


_WORDS = ("file", "yes", "why", "widen", "as_json")
