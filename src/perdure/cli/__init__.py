"""The command line. Each command is a file of its own, loaded when it is called and not before."""

import sys
from importlib import import_module
from typing import Any, Final

import click

from perdure import __version__
from perdure.errors import PerdureError

COMMANDS: Final = {
    "check": "Say everything that is wrong with a plan.",
    "convert": "Write a plan in the current format.",
    "diff": "Show what differs between two plans.",
    "draw": "Draw a plan, in the terminal or as a picture.",
    "explain": "Explain an error code.",
    "schema": "Print the JSON Schema of a plan.",
}


class LazyGroup(click.Group):
    """Knows its commands by name and line; what a command needs is loaded when it is called."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command itself, loaded now."""
        known = super().get_command(ctx, cmd_name)
        return getattr(import_module(f"perdure.cli.{cmd_name}"), cmd_name) if known else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  the signature is click's
        """The list of commands, without loading one."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    commands=[click.Command(name, short_help=line) for name, line in COMMANDS.items()],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="perdure %(version)s")
@click.option("--no-color", is_flag=True, help="No colours; NO_COLOR in the environment does the same.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def cli(ctx: click.Context, **settings: Any) -> None:
    """Plans for AI agents: write, check, draw, compare and repair them before anything runs."""
    ctx.obj = settings


def main() -> None:
    """Run the command line; errors of ours are said in a sentence, with their code."""
    try:
        cli()
    except PerdureError as error:
        if "--debug" in sys.argv:
            raise
        click.echo(f"error {error.code}: {error.message}" + (f"\n  help: {error.help}" if error.help else ""), err=True)
        sys.exit(1)
