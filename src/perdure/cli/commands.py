"""Command lines that people can type next, on the journal and with the options of this one."""

import shlex
from collections.abc import Mapping
from typing import Final

import click

from perdure.documents.commands import command_line
from perdure.plan.visible import visible

SERVER: Final = "perdure.server"
"""What `--server` gave, in the context's `meta`; it is there for each command that can be given elsewhere."""
VARIABLES: Final = "perdure.variables"
"""What this command was told by options that others take from the environment, in the context's `meta`."""


def command(verb: str, run: str, *words: str) -> str:
    """A command line that works on the same journal as this one."""
    return command_line(verb, run, *words) + _flags()


def resume_command(run: str, tools: tuple[str, ...] = (), verb: str = "resume", words: tuple[str, ...] = ()) -> str:
    """How somebody carries a run on, with the tools that it was started with."""
    more = "".join(f" --tools {visible(shlex.quote(each))}" for each in tools)
    return _variables() + command(verb, run, *words) + more


def _variables() -> str:
    context = click.get_current_context(silent=True)
    said: Mapping[str, str] = context.meta.get(VARIABLES, {}) if context else {}
    return "".join(f"{name}={visible(shlex.quote(value))} " for name, value in said.items())


def _flags() -> str:
    context = click.get_current_context(silent=True)
    db = context.params.get("db") if context else None
    server = context.meta.get(SERVER) if context else None
    if server:
        return f" --server {visible(shlex.quote(str(server)))}"
    return f" --db {visible(shlex.quote(str(db)))}" if db else ""
