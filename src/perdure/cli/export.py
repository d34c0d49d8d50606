"""`perdure export`: one run as a file that stands for itself."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

import click

from perdure.cli.journals import journal_option, opened, settings_for
from perdure.cli.printing import STANDARD_STREAM, json_option, print_json
from perdure.config import Settings
from perdure.journal.believing import believed
from perdure.plan.visible import number_of, visible
from perdure.ports import Run


@click.command()
@click.argument("run")
@click.option("-o", "--output", metavar="FILE", help="Where to write (- for standard output); else RUN.jsonl.")
@journal_option
@json_option
def export(run: str, output: str | None, db: str | None, as_json: bool) -> None:
    """Write RUN with all that belongs to it, to be taken in elsewhere.

    RUN is an id, the beginning of one, or @last. It is verified first, and the file gets its name when it is whole.
    """
    if as_json and output == STANDARD_STREAM:
        raise click.UsageError("--json and -o - both want standard output")
    found, name = asyncio.run(_export(settings_for(db), run, output))
    if as_json:
        document = {"schema": "perdure.export/1", "run": found.id, "entries": found.head_seq, "head": found.head}
        print_json({**document, "file": name})
    elif name != STANDARD_STREAM:
        click.echo(visible(f"wrote {name}: {number_of(found.head_seq, 'entry', 'entries')} of {found.id}"), err=True)


async def _export(settings: Settings, run: str, output: str | None) -> tuple[Run, str]:
    async with opened(settings) as journal:
        found = await believed(journal, run)
        name = output or f"{found.id.replace('/', '_')}.jsonl"
        if name == STANDARD_STREAM:
            await _write(journal.export(found.id), sys.stdout.buffer)
        else:
            with _whole(name) as file:
                await _write(journal.export(found.id), file)
    return found, name


async def _write(lines: AsyncIterator[bytes], file: IO[bytes]) -> None:
    async for line in lines:
        file.write(line)


@contextmanager
def _whole(name: str) -> Generator[IO[bytes]]:
    """A file that gets its name when it is whole and on the disk."""
    path = Path(os.path.realpath(name))
    if path.exists() and not path.is_file():
        raise click.UsageError(f"{visible(name)} is not a file; -o - writes to standard output")
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:100]}.", delete=False) as file:
            try:
                yield file
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise click.UsageError(f"cannot write {visible(name)}: {error.strerror or error}") from error
