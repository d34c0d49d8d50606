"""`perdure mcp`: a server for the client that starts it; and the servers of the user, and what was approved of them."""

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final, NoReturn

import click

from perdure.cli.codes import CANCELLED, FAILED, USAGE
from perdure.cli.driving import Manner
from perdure.cli.interrupts import carried_out
from perdure.cli.journals import check_here, db_option, settings_for
from perdure.cli.manners import all_tools_from, tools_option, workspace_option
from perdure.cli.printing import json_option, print_json, print_table
from perdure.cli.toolsets import toolset_here, toolset_or_note
from perdure.config.places import home_in, servers_file
from perdure.plan.problems import did_you_mean
from perdure.plan.visible import number_of, visible
from perdure.tools.mcp import Toolset
from perdure.tools.mcp.definition import Definition, Offer, difference
from perdure.tools.mcp.errors import UnknownServer, Unreachable
from perdure.tools.mcp.pins import Pin
from perdure.tools.mcp.servers import Server
from perdure.tools.mcp.toolset import connections

_ORDER: Final = ("changed", "new", "approved")
"""The standing of a server is the first of these that one of its tools has."""


@click.group(invoke_without_command=True)
@click.option("--let-answer", is_flag=True, help="Let the client's model answer questions; else a person confirms.")
@workspace_option
@tools_option
@db_option
@click.pass_context
def mcp(
    ctx: click.Context, let_answer: bool, workspace: Path | None, addresses: tuple[str, ...], db: str | None
) -> None:
    """Without a command: be an MCP server, for a client that starts it and talks to it on standard input and output.

    The client can make plans, try them, begin and follow runs. Runs outlive it. What people are asked, people answer.

    The commands are about the MCP servers whose tools plans may use. They are named in mcp.json, beside your settings.
    A tool can be called once you have approved it, and as long as its server describes it in the same words.
    """
    if ctx.invoked_subcommand is not None:
        return
    if sys.stdin.isatty():
        click.echo(ctx.get_help())
        click.echo(
            "no client: standard input is a terminal; have one start it, see docs/guides/mcp-server.md", err=True
        )
        ctx.exit(USAGE)
    with redirect_stdout(sys.stderr):  # what a module prints while it is imported is not for the client
        tools = all_tools_from(addresses)
    settings = settings_for(db)
    check_here(settings)
    _be_a_server(Manner(settings, tools, addresses, toolset_or_note(), workspace), may_answer=let_answer)


def _be_a_server(manner: Manner, *, may_answer: bool) -> None:
    connections()  # says what is not installed
    from perdure.cli.clients import serve_client  # noqa: PLC0415  it loads all that MCP is made of

    carried_out(serve_client(manner, may_answer=may_answer))


# ------------------------------------------------------------------------------- ls


@mcp.command()
@click.option("--ask", is_flag=True, help="Start each server and ask which tools it has now.")
@json_option
@click.pass_context
def ls(ctx: click.Context, ask: bool, as_json: bool) -> None:
    """List servers, and how many of their tools are approved.

    Exit code 1: one that was asked did not answer.
    """
    toolset = toolset_here()
    troubles = asyncio.run(_ask_all(toolset)) if toolset and ask else {}
    rows = [_summary(toolset, server, troubles) for server in toolset.servers.values()] if toolset else []
    if as_json:
        print_json({"schema": "perdure.mcp/1", "file": str(_file()), "servers": rows})
    else:
        _print_servers(rows)
    ctx.exit(FAILED if troubles else 0)


def _print_servers(rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        click.echo(f"no MCP servers are named in {visible(str(_file()))}", err=True)
    columns = ("name", "kind", "standing", "tools", "approved", "changed", "trouble")
    print_table(columns, [[str(row[each]) for each in columns] for row in rows])


async def _ask_all(toolset: Toolset) -> dict[str, str]:
    """Ask every server; what went wrong, by server."""
    troubles: dict[str, str] = {}
    try:
        for name in toolset.servers:
            try:
                await toolset.look(name)
            except Unreachable as error:
                troubles[name] = error.message
    finally:
        await toolset.close()
    return troubles


def _summary(toolset: Toolset, server: Server, troubles: Mapping[str, str]) -> dict[str, Any]:
    pins = toolset.pins.of(server.name)
    counted = [pin.standing for pin in pins.values()]
    standing = next((each for each in _ORDER if each in counted), "empty")
    return {
        "name": server.name,
        "kind": _kind(server),
        "standing": standing if toolset.pins.knows(server.name) else "unseen",
        "tools": len(pins),
        "approved": counted.count("approved"),
        "changed": counted.count("changed"),
        "trouble": troubles.get(server.name, ""),
    }


def _kind(server: Server) -> str:
    return "http" if server.url else "stdio"


# ------------------------------------------------------------------------------- show


@mcp.command()
@click.argument("server")
@click.argument("tools", nargs=-1, metavar="[TOOL]...")
@json_option
@click.pass_context
def show(ctx: click.Context, server: str, tools: tuple[str, ...], as_json: bool) -> None:
    """Start a server and show its tools.

    With TOOL, everything that SERVER says of that tool.

    What a server says about effects is shown and changes nothing; `trust` in mcp.json does. Exit code 1: it did not
    answer, and what is shown is what was known of it.
    """
    toolset = _toolset(server)
    try:
        offer, trouble = asyncio.run(_looked(toolset, server)), ""
    except Unreachable as error:
        offer, trouble = Offer(), error.message
    pins = _chosen(toolset.pins.of(server), server, tools)
    if as_json:
        found = toolset.servers[server]
        refused = [{"name": name, "why": why} for name, why in offer.refused]
        print_json(
            {
                "schema": "perdure.mcp-server/1", "name": server, "kind": _kind(found), "trouble": trouble,
                "tools": [_as_json(name, pin) for name, pin in pins.items()], "refused": refused,
            }
        )  # fmt: skip
    else:
        _print_tools(pins, offer, trouble, in_full=bool(tools))
    ctx.exit(FAILED if trouble else 0)


def _print_tools(pins: Mapping[str, Pin], offer: Offer, trouble: str, *, in_full: bool) -> None:
    if in_full:
        for name, pin in pins.items():
            click.echo("\n".join(_block(name, pin)))
    else:
        print_table(("tool", "standing", "says", "summary"), [_row(name, pin) for name, pin in pins.items()])
    for name, why in offer.refused:
        click.echo(f"left out: {visible(name)}: {visible(why)}", err=True)
    if trouble:
        click.echo(visible(trouble), err=True)


def _row(name: str, pin: Pin) -> tuple[str, ...]:
    latest = pin.latest
    said = ", ".join(
        f"{hint.removesuffix('Hint')}={str(on).lower()}" for hint, on in (latest.hints if latest else {}).items()
    )
    return name, pin.standing, said, latest.summary if latest else ""


def _as_json(name: str, pin: Pin) -> dict[str, Any]:
    sides = {"approved": pin.approved, "offered": pin.offered}
    said = {side: {"sha256": each.digest, **each.data} for side, each in sides.items() if each is not None}
    return {"name": name, "standing": pin.standing, **said}


# ------------------------------------------------------------------------------- approve


@mcp.command()
@click.argument("server")
@click.argument("tools", nargs=-1, metavar="[TOOL]...")
@click.option("--yes", is_flag=True, help="Do not ask; for those who have looked at it before.")
@json_option
@click.pass_context
def approve(ctx: click.Context, server: str, tools: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Look at what a server says of its tools, and approve it.

    SERVER is started. What was not approved yet is shown, and you are asked.

    What is approved is what was shown, word for word. If the server ever says something else of a tool, that tool
    cannot be called until you approve it anew; then the difference is shown.
    """
    toolset = _toolset(server)
    asyncio.run(_looked(toolset, server))
    pins = _chosen(toolset.pins.of(server), server, tools)
    wanted = {name: pin.offered for name, pin in pins.items() if pin.offered is not None}
    if wanted and not yes:
        _show_all(pins, wanted)
        if not click.confirm(f"Approve {number_of(len(wanted), 'tool')} of {server}?", err=True):
            click.echo("nothing was approved", err=True)
            ctx.exit(CANCELLED)
    toolset.pins.approve(server, wanted)
    if as_json:
        approved = [{"name": name, "sha256": each.digest} for name, each in wanted.items()]
        print_json({"schema": "perdure.mcp-approved/1", "server": server, "approved": approved})
    else:
        click.echo(f"approved {number_of(len(wanted), 'tool')} of {server}", err=True)


def _show_all(pins: Mapping[str, Pin], wanted: Mapping[str, Definition]) -> None:
    for name in wanted:
        click.echo("\n".join(_block(name, pins[name])), err=True)


def _block(name: str, pin: Pin) -> Iterator[str]:
    """A tool for people: what changed of it, or all of it."""
    yield f"{visible(name)}   ({pin.standing})"
    if pin.standing == "changed" and pin.approved and pin.offered:
        yield from (f"  {line}" for line in difference(pin.approved, pin.offered))
    elif pin.latest is not None:
        yield from (f"  {line}" for line in pin.latest.lines())
    yield ""


# ------------------------------------------------------------------------------- what they share


def _file() -> Any:
    return servers_file(os.environ, home_in(os.environ))


def _toolset(server: str) -> Toolset:
    toolset = toolset_here()
    if toolset is None:
        hint = f'write {{"mcpServers": {{"{server}": {{"command": "…"}}}}}} to {_file()}'
        raise UnknownServer("no MCP servers are named", hint)
    return toolset


async def _looked(toolset: Toolset, server: str) -> Offer:
    try:
        return await toolset.look(server)
    finally:
        await toolset.close()


def _chosen(pins: Mapping[str, Pin], server: str, tools: Sequence[str]) -> Mapping[str, Pin]:
    """The named tools, with or without their server's name; all if none is named."""
    whole = [each if each in pins else f"{server}.{each}" for each in tools]
    for given, name in zip(tools, whole, strict=True):
        if name not in pins:
            _refuse(given, server, pins)
    return {name: pins[name] for name in whole} if tools else pins


def _refuse(given: str, server: str, pins: Mapping[str, Pin]) -> NoReturn:
    hint = did_you_mean(f"{server}.{given}", pins)
    raise UnknownServer(
        f'the MCP server "{server}" has no tool "{given}"', hint or f"list them: perdure mcp show {server}"
    )
