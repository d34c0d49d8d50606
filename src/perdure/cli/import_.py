"""`perdure import`: runs that were exported, taken in."""

import asyncio
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from perdure.cli.codes import NOT_FOUND
from perdure.cli.journals import check_here, db_option, opened, settings_for
from perdure.cli.printing import STANDARD_STREAM, json_option, print_json, print_table
from perdure.config import Settings
from perdure.documents.listing import listed
from perdure.engine.arriving import take_in
from perdure.errors import PerdureError
from perdure.ports import JournalError, Run


class UnreadableFileError(PerdureError):
    """A file that was named cannot be read."""

    code = "PRD1001"
    exit_code = NOT_FOUND


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@db_option
@json_option
def import_(files: tuple[str, ...], db: str | None, as_json: bool) -> None:
    """Take in the exported runs in each FILE (- for standard input), each whole or not at all.

    Nothing in a file is trusted: digests and hashes are computed again. The first file that is refused ends it.
    """
    settings = settings_for(db)
    check_here(settings)
    _check_readable(files)
    taken: list[Run] = []
    try:
        asyncio.run(_take_in(settings, files, taken))
    finally:
        _report(taken, as_json=as_json)


def _check_readable(files: Iterable[str]) -> None:
    """Before the journal is opened, because opening makes it."""
    for name in files:
        if name != STANDARD_STREAM and (not os.access(name, os.R_OK) or Path(name).is_dir()):
            raise UnreadableFileError(f"cannot read {name}", "look at its name and its permissions")


async def _take_in(settings: Settings, files: Iterable[str], taken: list[Run]) -> None:
    async with opened(settings, read_only=False) as journal:
        for name in files:
            try:
                taken.append(await take_in(journal, _lines(name)))
            except JournalError as error:
                raise type(error)(f"{name}: {error.message}", error.help) from error


def _lines(name: str) -> Iterator[bytes]:
    if name == STANDARD_STREAM:
        yield from sys.stdin.buffer
        return
    with Path(name).open("rb") as file:
        yield from file


def _report(taken: list[Run], *, as_json: bool) -> None:
    if as_json:
        print_json({"schema": "perdure.import/1", "runs": [listed(run) for run in taken]})
        return
    print_table(["run", "status", "entries"], [(run.id, run.summary.status, str(run.head_seq)) for run in taken])
