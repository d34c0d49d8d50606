"""How an error is told with `--json`: one object on standard error, the same for every command."""

import json
from typing import Any

import click

from perdure.documents.problems import error_document


def say_error(code: str, message: str, hint: str = "", path: str = "", **more: Any) -> None:
    """Say it. `path`: where in a plan; `more`: what only some errors have."""
    click.echo(json.dumps(error_document(code, message, hint, path, **more)), err=True)
