"""Saying yes or no to a question of a run: two commands that differ in a word."""

import asyncio
from typing import Any

import click

from perdure.cli.answering import approval, give
from perdure.cli.journals import journal_option, settings_for
from perdure.cli.printing import json_option
from perdure.cli.reaching import by_option
from perdure.core.events import QuestionAsked
from perdure.core.state import State


def saying(*, yes: bool) -> click.Command:
    """The command that says it."""

    @click.command(help=_HELP.format("yes" if yes else "no"))
    @click.argument("run", metavar="[RUN]")
    @click.argument("question", required=False)
    @click.option("-m", "reason", default="", metavar="WHY", help="Why.")
    @by_option
    @journal_option
    @json_option
    def say(run: str, question: str | None, db: str | None, **about: Any) -> None:
        def value(found: QuestionAsked, state: State, rest: tuple[str, ...]) -> bool:  # noqa: ARG001  yes is yes
            return approval(found, yes=yes)

        asyncio.run(give(settings_for(db), run, () if question is None else (question,), value, about, named=True))

    return say


_HELP = """Say {} to what RUN asks. The first answer counts.

RUN is an id, the beginning of one, or @last. QUESTION is the id of a question or of its step, and can be left out
where only one is open. The id of a question can also stand alone, if no other run asks one of that id.
"""
