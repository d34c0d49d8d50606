"""How problems look: blocks on a terminal, lines in a pipe, data with `--json`."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from perdure.plan.problems import Problem, written
from perdure.plan.visible import visible

if TYPE_CHECKING:
    from rich.console import Console

STANDARD_STREAM: Final = "-"
"""In the place of a file name: standard input or output."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")


def print_json(data: Any) -> None:
    """One document on standard output, in ASCII, so that no terminal and no file name can spoil it."""
    click.echo(json.dumps(data, indent=2))


def write_output(name: str, text: str) -> None:
    """Write to a file, or to standard output for `-`."""
    if name == STANDARD_STREAM:
        click.echo(text, nl=not text.endswith("\n"))
        return
    try:
        Path(name).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise click.UsageError(f"cannot write {visible(name)}: {getattr(error, 'strerror', None) or error}") from error
    click.echo(f"wrote {visible(name)}", err=True)


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns with headings on a terminal, tabs between fields in a pipe. What others wrote is shown, never sent."""
    shown = [[visible(field) for field in row] for row in rows]
    if not sys.stdout.isatty():
        for row in shown:
            click.echo("\t".join(row))
        return
    from rich.table import Table  # noqa: PLC0415  only when something is drawn
    from rich.text import Text  # noqa: PLC0415  only when something is drawn

    table = Table(*headings, box=None, pad_edge=False, header_style="dim")
    for row in shown:
        table.add_row(*map(Text, row))
    console().print(table, soft_wrap=False)


def console(*, err: bool = False) -> "Console":
    """A terminal that knows whether it may use colours."""
    from rich.console import Console  # noqa: PLC0415  only when something is drawn

    settings: dict[str, bool] = click.get_current_context().find_root().obj or {}
    return Console(stderr=err, no_color=True if settings.get("no_color") else None, highlight=False, soft_wrap=True)


def print_problems(problems: Iterable[Problem], *, err: bool = False) -> None:
    """Every problem: a block each for people, a line each for programs."""
    stream = sys.stderr if err else sys.stdout
    if not stream.isatty():
        for problem in problems:
            click.echo(visible(str(problem)), err=err)
        return
    screen = console(err=err)
    for problem in problems:
        screen.print(_block(problem))


def _block(problem: Problem) -> Any:
    from rich.text import Text  # noqa: PLC0415  only when something is drawn

    colour = "red" if problem.severity == "error" else "yellow"
    text = Text.assemble(
        (f"{problem.severity} {problem.code}", f"bold {colour}"), (f": {visible(problem.message)}", "bold")
    )
    text.append(f"\n  --> {visible(problem.place)}   {visible(written(problem.path))}", "dim")
    if problem.help:
        text.append("\n  help: ", "green").append(visible(problem.help), "default")
    text.append(f"\n  more: perdure explain {problem.code}\n", "dim")
    return text
