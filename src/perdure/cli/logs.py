"""`perdure logs`: the facts of a run, one line each."""

from typing import Final

import click

from perdure.cli.interrupts import carried_out
from perdure.cli.journals import journal_option, opened, settings_for
from perdure.cli.telling import LONG, as_line, clock, line_of
from perdure.config import Settings
from perdure.core import events as e
from perdure.journal import follow
from perdure.plan.visible import visible
from perdure.ports import Entry

_LARGEST: Final = 2**62


@click.command()
@click.argument("run")
@click.option("-f", "--follow", "on", is_flag=True, help="Go on with what comes, until the run is over.")
@click.option("--after", type=click.IntRange(0, _LARGEST), default=0, metavar="N", help="Leave out the first N facts.")
@click.option("--jsonl", is_flag=True, help="Print each as a line of JSON.")
@journal_option
def logs(run: str, on: bool, after: int, jsonl: bool, db: str | None) -> None:
    """Print the facts of RUN: when, which step, what happened.

    RUN is an id, the beginning of one, or @last.
    """
    carried_out(_print(settings_for(db), run, after, on=on, jsonl=jsonl))


async def _print(settings: Settings, name: str, after: int, *, on: bool, jsonl: bool) -> None:
    async with opened(settings) as journal:
        run = await journal.run(name)
        if not on and after >= run.head_seq:
            return
        async for entry in follow(journal, run.id, after):
            click.echo(as_line(entry) if jsonl else _line(entry))
            if (entry.seq >= run.head_seq and not on) or _is_end(entry, run.head_seq):
                return


def _is_end(entry: Entry, head: int) -> bool:
    """Whether nothing follows: a run that ended and was opened again ended more than once."""
    return entry.type == "run_ended" and entry.seq >= head


def _line(entry: Entry) -> str:
    try:
        return line_of(entry, e.decode(entry.type, entry.body), LONG)
    except ValueError:  # written by a newer release
        return f"{clock(entry.at, LONG)}  {visible(entry.type)}  {visible(entry.body.decode(errors='replace'), 300)}"
