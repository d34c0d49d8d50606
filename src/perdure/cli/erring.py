"""How an error is told with `--json`: one object on standard error, the same for every command."""

import json
from typing import Any

import click


def say_error(code: str, message: str, hint: str = "", path: str = "", **more: Any) -> None:
    """Say it. `path`: where in a plan; `more`: what only some errors have."""
    told = {
        "schema": "perdure.error/1",
        "code": code or None,
        "message": message,
        "path": path or None,
        "hint": hint or None,
        "docs": f"perdure explain {code}" if code else None,
        **more,
    }
    click.echo(json.dumps(told), err=True)
