"""The command line. Each command is a file of its own, loaded when it is called and not before."""

import os
import sys
import traceback
from importlib import import_module
from keyword import iskeyword
from typing import Any, Final

import click

from perdure import __version__
from perdure.cli.codes import INTERRUPTED
from perdure.cli.erring import say_error
from perdure.cli.examples import examples_of
from perdure.errors import PerdureError

COMMANDS: Final = {
    "agents": "Show the agents that plans may give work to.",
    "answer": "Answer a question of a run.",
    "approve": "Say yes to a question of a run.",
    "cancel": "End a run, or one of its steps.",
    "check": "Report everything that is wrong with a plan.",
    "code": "Change a repository: plan, edit, test, commit on a branch.",
    "config": "Show the settings and where they come from.",
    "convert": "Write a plan in the current format.",
    "diff": "Show what differs between plans, or what revisions changed.",
    "doctor": "Check whether everything is in order here.",
    "draw": "Draw a plan, in the terminal or as a picture.",
    "edit": "Change the plan of a run that is under way.",
    "estimate": "Say what a plan will take, before it begins.",
    "explain": "Explain an error code.",
    "export": "Write a run to a file, to be imported elsewhere.",
    "fork": "Begin a new run from a point in another one.",
    "gc": "Forget old runs that are over.",
    "import": "Take in exported runs.",
    "keys": "Say who may ask what of a server, and with which key.",
    "logs": "Print the facts of a run, one line each.",
    "ls": "List runs, newest first.",
    "mcp": "Look at MCP servers, and approve their tools.",
    "memory": "Search what runs have taught, and add to it.",
    "models": "Show the models that plans may ask, and try them.",
    "open": "Print a link that opens the page of a server, once.",
    "pause": "Pause a run at a safe point.",
    "plan": "Make a plan for a goal, without carrying it out.",
    "policy": "Show what may be done, and who says so.",
    "questions": "List what people are asked, oldest first.",
    "reject": "Say no to a question of a run.",
    "replay": "Read a run again and verify it; nothing is executed.",
    "resume": "Go on with a run, or with all of them.",
    "retry": "Go on with a run that failed or was cancelled.",
    "rollback": "Take back what a run has done.",
    "run": "Carry out a plan or a goal, and follow it.",
    "schema": "Print the JSON Schema of a plan.",
    "serve": "Serve an API and a page, and carry runs on.",
    "show": "Show a run: its steps, and what it waits for.",
    "signal": "Tell a run that something has happened outside.",
    "stats": "Count runs, steps, failures, times and costs.",
    "stop": "Cancel every run that is not over, at once.",
    "tools": "Show the tools that plans may use.",
    "watch": "Watch a run until it is over.",
}

SECTIONS: Final = {
    "Start work": ("run", "code"),
    "Write plans": ("plan", "check", "estimate", "draw", "diff", "convert", "schema"),
    "Follow runs": ("ls", "show", "logs", "watch", "questions", "stats"),
    "Answer runs": ("approve", "reject", "answer", "signal"),
    "Control runs": ("resume", "pause", "cancel", "stop", "edit", "retry", "fork", "rollback"),
    "Keep runs": ("replay", "export", "import", "gc", "memory"),
    "Serve others": ("serve", "open", "keys"),
    "Look around": ("doctor", "explain", "config", "policy", "tools", "models", "agents", "mcp"),
}
"""What commands are for, in the order in which somebody comes to need them."""

ALIASES: Final = {"list": "ls", "ps": "ls", "describe": "show", "interrupt": "pause"}
"""Other words for commands; they work and are not shown."""


class LazyGroup(click.Group):
    """Knows its commands by name and line; what a command needs is loaded when it is called."""

    def invoke(self, ctx: click.Context) -> Any:
        """Do the command. Ctrl-C, where it does not see to that itself, ends it with the code that shells expect."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if "--json" not in sys.argv:
                raise
            say_error("", error.format_message(), f"{error.ctx.command_path if error.ctx else 'perdure'} --help")
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command itself, loaded now."""
        known = super().get_command(ctx, ALIASES.get(cmd_name, cmd_name))
        if known is None or known.name is None:
            return None
        word = f"{known.name}_" if iskeyword(known.name) else known.name
        found: click.Command = getattr(import_module(f"perdure.cli.{word}"), word)
        found.epilog = examples_of(known.name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  the signature is click's
        """The list of commands by what they are for, without loading one."""
        width = max(map(len, COMMANDS))
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", COMMANDS[name]) for name in names])


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
    """Plans for AI agents: write and check them, carry them out, and look after their runs."""
    ctx.obj = settings


def main() -> None:
    """Run the command line; what goes wrong is said in a sentence, and a traceback is shown only when asked for."""
    _mend_streams()
    try:
        cli()
    except PerdureError as error:
        _say(error.code, error.message, error.help)
        sys.exit(error.exit_code)
    except (OSError, RecursionError) as error:
        _say("PRD1001", f"cannot go on: {_told_by(error)}", "check the disk, the file and its permissions")
        sys.exit(1)


def _told_by(error: Exception) -> str:
    """What a system's error says, without its number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _mend_streams() -> None:
    """A closed stream is an empty one, and a character that cannot be shown is shown as an escape."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  open for good
        elif mode == "w" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _say(code: str, message: str, hint: str) -> None:
    if "--debug" in sys.argv:
        traceback.print_exc()
    if "--json" in sys.argv:
        say_error(code, message, hint)
        return
    from perdure.plan.visible import visible  # noqa: PLC0415  only when something went wrong

    click.echo(visible(f"error {code}: {message}") + (f"\n  help: {visible(hint)}" if hint else ""), err=True)
