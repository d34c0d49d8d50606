"""What is said when a command has followed a run as far as it goes."""

import sys
from typing import Any, Final

import click

from perdure.cli.codes import code_of
from perdure.cli.commands import command, resume_command
from perdure.cli.hints import standing, waits
from perdure.cli.printing import print_json
from perdure.core.state import State
from perdure.documents.runs import run_document
from perdure.engine import View
from perdure.plan.visible import visible

_AGAIN: Final = frozenset({"failed", "cancelled"})
_FINAL: Final = frozenset({"denied", "budget"})
"""Failures that come again at once, as long as the policy or the budget says the same."""


def report(
    view: View, tools: tuple[str, ...] = (), said: Any = None, *, as_json: bool = False, jsonl: bool = False
) -> int:
    """Say what became of a run, its output on standard output unless that is taken; the exit code.

    `said` is a kit's report, which stands in place of the output, or beside it in a document.
    """
    result = view.result
    if as_json:
        print_json(run_document(view, command=command) | ({} if said is None else {"report": said}))
    else:
        _say(view, tools)
        if not jsonl:
            print_output(result.output if said is None else said)
    return code_of(result.status, result.failure.kind if result.failure else "")


def _say(view: View, tools: tuple[str, ...]) -> None:
    state = view.state
    click.echo(standing(state), err=True)
    if state.ended is None:
        say_waits(state)
        then = "then go on with" if view.status == "waiting" else "go on with"
        click.echo(f"{then}: {resume_command(view.run, tools)}", err=True)
    elif view.status in _AGAIN and not (state.ended.failure and state.ended.failure.kind in _FINAL):
        click.echo(f"try again with: {resume_command(view.run, tools, 'retry')}", err=True)


def say_waits(state: State) -> None:
    """What it waits for and how to give it that, on standard error."""
    for line in waits(state):
        click.echo(line, err=True)


def print_output(output: object) -> None:
    """What a run gave: text as it is, anything else as JSON. A terminal gets nothing that could harm it."""
    if output is None:
        return
    if not isinstance(output, str):
        print_json(output)
        return
    shown = "\n".join(visible(line) for line in output.splitlines()) if sys.stdout.isatty() else output
    click.echo(shown, nl=not shown.endswith("\n"))
