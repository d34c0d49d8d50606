"""`perdure answer`: answer a question of a run."""

import asyncio
import re
from typing import Any, Final

import click

from perdure.cli.answering import give, read, typed
from perdure.cli.journals import journal_option, settings_for
from perdure.cli.printing import json_option
from perdure.cli.prompting import prompted
from perdure.cli.reaching import by_option
from perdure.core.events import QuestionAsked
from perdure.core.state import State


class Answering(click.Command):
    """Takes a number below zero for a value, and not for options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words that are left."""
        ctx.ignore_unknown_options = any(_BELOW_ZERO.fullmatch(word) for word in args)
        return super().parse_args(ctx, args)


_BELOW_ZERO: Final = re.compile(r"-[0-9.]+", re.ASCII)


@click.command(cls=Answering)
@click.argument("run", metavar="[RUN]")
@click.argument("words", nargs=-1, metavar="[QUESTION] [VALUE]...")
@click.option("--file", metavar="FILE", help="Take the value from a file; - is standard input.")
@click.option("-m", "reason", default="", metavar="WHY", help="Why.")
@by_option
@journal_option
@json_option
def answer(run: str, words: tuple[str, ...], file: str | None, db: str | None, **about: Any) -> None:
    """Answer a question of RUN with VALUE: a text, a choice, yes or no. The first answer counts.

    A form is answered with JSON, or with a VALUE of the form name=value for each of its fields. Without a VALUE it is
    asked for on the terminal.

    RUN is an id, the beginning of one, or @last. QUESTION is the id of a question or of its step, and can be left out
    where only one is open. The id of a question can also stand alone, if no other run asks one of that id.
    """
    text = None if file is None else read(file)

    def value(found: QuestionAsked, state: State, said: tuple[str, ...]) -> Any:
        if text is None and not said:
            return prompted(found, state)
        if text is not None and said:
            raise click.UsageError("there is a VALUE and a --file; one of them is too much")
        return typed(found, (text,)) if text is not None else typed(found, said)

    asyncio.run(give(settings_for(db), run, words, value, about))
