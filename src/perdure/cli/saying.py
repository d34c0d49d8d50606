"""Saying yes or no to a question of a run: two commands that differ in a word."""

import asyncio
from typing import Any

import click

from perdure.cli.answering import approval, give
from perdure.cli.journals import db_option, settings_for
from perdure.cli.printing import json_option
from perdure.cli.reaching import by_option


def saying(*, yes: bool) -> click.Command:
    """The command that says it."""

    @click.command(help=_HELP.format("yes" if yes else "no"))
    @click.argument("run")
    @click.argument("question", required=False)
    @click.option("-m", "reason", default="", metavar="WHY", help="Why.")
    @by_option
    @db_option
    @json_option
    def say(run: str, question: str | None, db: str | None, **about: Any) -> None:
        asyncio.run(give(settings_for(db), run, question, lambda found: approval(found, yes=yes), about))

    return say


_HELP = """Say {} to what RUN asks. The first answer counts.

RUN is an id, the beginning of one, or @last. QUESTION is the id of a question or of its step, and can be left out
where only one is open.
"""
