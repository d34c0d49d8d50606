"""`perdure answer`: answer a question of a run."""

import asyncio
import re
from typing import Any, Final

import click

from perdure.cli.answering import give, typed
from perdure.cli.journals import db_option, settings_for
from perdure.cli.printing import json_option
from perdure.cli.reaching import by_option


class Answering(click.Command):
    """Takes a number below zero for a value, and not for options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words that are left."""
        ctx.ignore_unknown_options = any(_BELOW_ZERO.fullmatch(word) for word in args)
        return super().parse_args(ctx, args)


_BELOW_ZERO: Final = re.compile(r"-[0-9.]+", re.ASCII)


@click.command(cls=Answering)
@click.argument("run")
@click.argument("words", nargs=-1, required=True, metavar="[QUESTION] VALUE")
@click.option("-m", "reason", default="", metavar="WHY", help="Why.")
@by_option
@db_option
@json_option
def answer(run: str, words: tuple[str, ...], db: str | None, **about: Any) -> None:
    """Answer a question of RUN with VALUE: a text, a choice, yes or no, or JSON for a form. The first answer counts.

    RUN is an id, the beginning of one, or @last. QUESTION is the id of a question or of its step, and can be left out
    where only one is open.
    """
    *question, value = words
    if len(question) > 1:
        raise click.UsageError("there is one VALUE; put quotes around it if it has spaces")
    named = question[0] if question else None
    asyncio.run(give(settings_for(db), run, named, lambda found: typed(found, value), about))
