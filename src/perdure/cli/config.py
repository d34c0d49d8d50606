"""`perdure config`: the settings that hold here."""

import json
from pathlib import Path
from typing import Any

import click

from perdure.cli.journals import db_option
from perdure.cli.printing import json_option, print_json, print_table
from perdure.config import ConfigError, Value, load


@click.group()
def config() -> None:
    """Settings: flags, then the environment, then the project's file, then yours, then defaults."""


@config.command()
@click.option("--origin", is_flag=True, help="Say where each value comes from.")
@db_option
@json_option
def show(origin: bool, db: str | None, as_json: bool) -> None:
    """Show every setting that holds in this directory, and your policy."""
    found = load({"db": db}, planning=True)
    values = found.settings.flat()
    policy, refusal = _policy()
    if as_json:
        settings = [{"name": name, "value": _plain(values[name]), "origin": found.origins[name]} for name in values]
        files = [str(file) for file in found.files]
        rules = [{**each.data(), "origin": found.own} for each in found.settings.failures]
        told = {"settings": settings, "files": files, "failures": rules, "policy": policy}
        print_json({"schema": "perdure.config/1", **told})
    else:
        rows = [(name, _written(value), found.origins[name]) for name, value in values.items()]
        rules = enumerate(found.settings.failures)
        rows += [(f"failures[{n}]", each.text, found.own) for n, each in rules]
        rows += [(f"policy.{name}", json.dumps(value), policy["origin"]) for name, value in policy["rules"].items()]
        print_table(["setting", "value", "origin"][: 2 + origin], [row[: 2 + origin] for row in rows])
    if refusal:
        raise refusal


def _policy() -> tuple[dict[str, Any], ConfigError | None]:
    """What the user's policy says; or why it is refused, which is told after the rest was shown."""
    from perdure.config.policy import load_policy  # noqa: PLC0415  needs the plan model, which other commands do without

    try:
        found = load_policy(Path.cwd())
    except ConfigError as error:
        return {"origin": "refused", "rules": {}, "error": error.message}, error
    return {"origin": found.origin, "rules": found.in_force()}, None


def _plain(value: Value) -> bool | int | float | str:
    return str(value) if isinstance(value, Path) else value


def _written(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
