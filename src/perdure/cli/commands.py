"""Command lines that people can type next."""

import shlex

import click

from perdure.plan.visible import visible


def command(verb: str, run: str, *words: str) -> str:
    """A command line that works on the same journal as this one."""
    return visible(shlex.join(["perdure", verb, run, *words])) + _flags()


def resume_command(run: str, tools: tuple[str, ...] = (), verb: str = "resume", words: tuple[str, ...] = ()) -> str:
    """How somebody carries a run on, with the tools that it was started with."""
    return command(verb, run, *words) + "".join(f" --tools {visible(shlex.quote(each))}" for each in tools)


def _flags() -> str:
    context = click.get_current_context(silent=True)
    db = context.params.get("db") if context else None
    return f" --db {visible(shlex.quote(str(db)))}" if db else ""
