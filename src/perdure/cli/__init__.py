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
    """Knows its commands by name; help must not cost what a command costs."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  the signature is click's
        """The names, sorted."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  the signature is click's
        """The command, loaded now."""
        if cmd_name not in COMMANDS:
            return None
        return getattr(import_module(f"perdure.cli.{cmd_name}"), cmd_name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with a hint for a word that is nearly a command."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches  # noqa: PLC0415  only after a typo

            near = get_close_matches(args[0], COMMANDS, n=1)
            if near:
                error.message = f"{error.message} Did you mean '{near[0]}'?"
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  the signature is click's
        """The list of commands, from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
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
