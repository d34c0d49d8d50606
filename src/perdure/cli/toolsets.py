"""The MCP servers of whoever uses the command line."""

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import click

from perdure.config.places import home_in, pins_file, servers_file
from perdure.config.policy import load_policy
from perdure.config.secrets import load_secrets
from perdure.plan.visible import visible
from perdure.tools import AnyTool
from perdure.tools.mcp import Pins, Toolset, read_servers
from perdure.tools.mcp.errors import BadServers
from perdure.tools.mcp.pins import Standing
from perdure.tools.mcp.references import Values


def toolset_here() -> Toolset | None:
    """The user's servers and what is known of their tools; None if there is no file of servers.

    What they are kept in, and where their secrets are, the user's policy says, as it does for commands.
    """
    home = home_in(os.environ)
    file, pins = servers_file(os.environ, home), pins_file(os.environ, home)
    if not file.exists():
        return None
    servers, policy = read_servers(file, (pins.parent,)), load_policy()
    values = Values(load_secrets(source=policy.secrets) or {}, os.environ)
    return Toolset(servers, Pins(pins), values, policy.tier)


def approved_here() -> Iterator[tuple[AnyTool, Standing]]:
    """Tools of the user's servers as they were approved, and how they stand; no server is started."""
    toolset = toolset_here()
    yield from toolset.approved() if toolset else ()


def toolset_or_note() -> Toolset | None:
    """The same for a run: a file of servers that is broken is said to be, and keeps no run that needs none of them."""
    try:
        return toolset_here()
    except BadServers as error:
        told = f"{error.code}: {error.message}; {error.help}"
        click.echo(visible(f"warning {told}; no tool of an MCP server is known"), err=True)
        return None


@contextmanager
def hint_at_unseen(toolset: Toolset | None) -> Generator[None]:
    """Where a plan is refused: perhaps it names a tool of a server that nobody has looked at yet."""
    try:
        yield
    except click.exceptions.Exit:
        if toolset and (unseen := toolset.unseen()):
            named = ", ".join(unseen)
            hint = f"look at them with: perdure mcp approve {unseen[0]}"
            click.echo(f"note: the tools of these MCP servers are not known yet: {named}; {hint}", err=True)
        raise
