"""`perdure config`: the settings that hold here."""

from pathlib import Path

import click

from perdure.cli.journals import db_option
from perdure.cli.printing import json_option, print_json, print_table
from perdure.config import Value, load


@click.group()
def config() -> None:
    """Settings: flags, then the environment, then the project's file, then yours, then defaults."""


@config.command()
@click.option("--origin", is_flag=True, help="Say where each value comes from.")
@db_option
@json_option
def show(origin: bool, db: str | None, as_json: bool) -> None:
    """Show every setting that holds in this directory."""
    found = load({"db": db})
    rows = [(name, _written(value), found.origins[name]) for name, value in found.settings.flat().items()]
    if as_json:
        values = found.settings.flat()
        print_json(
            {
                "schema": "perdure.config/1",
                "settings": [
                    {"name": name, "value": _plain(values[name]), "origin": whence} for name, _, whence in rows
                ],
                "files": [str(file) for file in found.files],
            }
        )
    else:
        print_table(["setting", "value", "origin"][: 2 + origin], [row[: 2 + origin] for row in rows])


def _plain(value: Value) -> bool | int | str:
    return str(value) if isinstance(value, Path) else value


def _written(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
