"""`perdure questions`: what people are asked, over all runs, oldest first."""

import asyncio
import time
from collections.abc import Iterator
from typing import Final

import click

from perdure.cli.commands import command
from perdure.cli.hints import asked
from perdure.cli.journals import is_there, journal_option, opened, settings_for
from perdure.cli.ls import age, coarse
from perdure.cli.printing import json_option, print_json, print_table
from perdure.cli.telling import LONG, clock, value_words
from perdure.config import Settings
from perdure.documents.questions import Found, Wanted, find_questions, next_after, questions_document
from perdure.engine.asking import inquiry, said
from perdure.errors import PerdureError
from perdure.plan.visible import visible

MOST: Final = 1_000
_LARGEST: Final = 2**63 - 1
_TEXT: Final = 60
"""How much of a question is shown in a list."""


@click.command()
@click.argument("run", required=False)
@click.option("--all", "closed", is_flag=True, help="Also those that are answered or not needed any more.")
@click.option("--for", "name", metavar="NAME", help="Only those that NAME may answer.")
@click.option("--limit", type=click.IntRange(1, MOST), default=50, show_default=True, help="Most questions to list.")
@click.option("--after", type=click.IntRange(0, _LARGEST), default=0, metavar="N", help="Go on where a list ended.")
@journal_option
@json_option
def questions(  # noqa: PLR0913, PLR0917  one for each option
    run: str | None, closed: bool, name: str | None, limit: int, after: int, db: str | None, as_json: bool
) -> None:
    """List what people are asked, oldest first. With RUN, at length: what follows from each answer, and the commands.

    RUN is an id, the beginning of one, or @last.
    """
    asyncio.run(_list(settings_for(db), Wanted(run, closed, name), after, limit, as_json))


async def _list(settings: Settings, wanted: Wanted, after: int, limit: int, as_json: bool) -> None:
    if wanted.run is None and not is_there(settings):
        found: list[Found] = []
    else:
        async with opened(settings) as journal:
            found = await find_questions(journal, wanted, after, limit + 1, _warn)
            _print(found, wanted, limit, as_json)
            return
    _print(found, wanted, limit, as_json)


def _warn(error: PerdureError) -> None:
    click.echo(visible(f"warning {error.code}: {error.message}"), err=True)


def _print(all_found: list[Found], wanted: Wanted, limit: int, as_json: bool) -> None:
    if as_json:
        print_json(questions_document(all_found, limit, command))
        return
    found, more = all_found[:limit], next_after(all_found, limit)
    if wanted.run is not None:
        for each in found:
            click.echo("\n".join(_at_length(each)))
    else:
        print_table(_HEADINGS, [_row(each, closed=wanted.closed) for each in found])
    if more is not None:
        click.echo(f"there are more: add --after {more}", err=True)


# ------------------------------------------------------------------------------- showing

_HEADINGS: Final = ("question", "run", "age", "until", "to", "asks")


def _row(found: Found, *, closed: bool) -> tuple[str, ...]:
    put = found.put
    text = visible(put.asked.text, _TEXT)
    row = put.asked.question, found.view.run, age(put.at), _until(found), ", ".join(put.asked.people), text
    return (*row[:5], f"{text} {_outcome(found)}" if closed and put.over is not None else text)


def _until(found: Found) -> str:
    """How much time is left."""
    if found.put.over is not None:
        return found.put.status
    seen = inquiry(found.view.state, found.put.asked)
    if seen.due is None:
        return "paused" if seen.silence else ""
    left = seen.due / 1000 - time.time()
    return coarse(left) if left > 0 else "late"


def _outcome(found: Found) -> str:
    put = found.put
    if put.answer is None:
        return ""
    by = f" by {visible(put.answer.by)}" if put.answer.by else ""
    return f"→ {value_words(said(put, found.view.state))}{by}"


def _at_length(found: Found) -> Iterator[str]:
    put = found.put
    if put.over is None:
        yield f"{visible(put.asked.question)}  asked {age(put.at)} ago"
        yield from asked(found.view.state, put.asked)
        return
    yield f"{visible(put.asked.question)}  {put.status} {clock(put.over, LONG)} {_outcome(found)}".rstrip()
    yield f"{visible(put.asked.step) or 'the run'} asked: {visible(put.asked.text, 300)}"
    if put.answer is not None and put.answer.reason:
        yield f"  {visible(put.answer.reason, 300)}"
