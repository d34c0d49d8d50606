"""`perdure serve`: an API and a page over the journal; runs are carried on here."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import click

from perdure.cli.besides import beside
from perdure.cli.codes import OK
from perdure.cli.driving import PATIENCE, Manner
from perdure.cli.interrupts import Interrupts, carried_out
from perdure.cli.journals import db_option, settings_for
from perdure.cli.manners import all_tools_from, tools_option, workspace_option
from perdure.cli.reaching import AGAIN, TRIES, is_owned, whoever
from perdure.cli.serving import need_server
from perdure.cli.toolsets import toolset_or_note
from perdure.engine import Engine
from perdure.plan.visible import number_of, visible
from perdure.ports import Locked

if TYPE_CHECKING:
    from perdure.server.serving import Serving

_PEM: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
_MOST: Final = 2_000
"""Letters of a reason."""


def _urls(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    for each in value:
        parts = urlsplit(each)
        if parts.scheme not in ("http", "https") or not parts.hostname or each != f"{parts.scheme}://{parts.netloc}":
            raise click.BadParameter(f"{visible(each, 80)}: write https://NAME, without a path", ctx, param)
    return value


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8642, show_default=True, help="0: one that is free.")
@click.option("--tls-cert", type=_PEM, metavar="FILE", help="A certificate, as PEM: then it speaks TLS.")
@click.option("--tls-key", type=_PEM, metavar="FILE", help="The key of that certificate, as PEM.")
@click.option("--insecure-bind", is_flag=True, help="Let others reach it without TLS; something else encrypts.")
@click.option("--url", "urls", multiple=True, callback=_urls, metavar="URL", help="How it is reached from elsewhere.")
@tools_option
@workspace_option
@click.option(
    "--patience", type=click.FloatRange(0), default=PATIENCE, show_default=True, metavar="SECONDS",
    help="For attempts at work to end, after Ctrl-C.",
)  # fmt: skip
@db_option
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON once it serves.")
@click.pass_context
def serve(ctx: click.Context, **given: Any) -> None:
    """Serve the API under /v1 and the page, and go on with every run that was under way.

    It owns the journal; other commands go on working beside it, and what they ask is done here. Only this machine
    reaches it. Whoever asks needs a key (`perdure keys`), or the cookie of a session: the link that is printed opens
    one, once, within 10 minutes; `perdure open` prints another.

    Ctrl-C or SIGTERM lets nothing new begin, gives attempts at work their time, and leaves; a second one leaves at
    once. Runs that are not over go on when it serves again.

    Exit code 0: it was told to stop. 2: it must not be served like this. 75: the port is taken, or another process
    has the journal.
    """
    need_server()
    if bool(given["tls_cert"]) is not bool(given["tls_key"]):
        raise click.UsageError("--tls-cert and --tls-key go together")
    tools, addresses = all_tools_from(given["addresses"]), given["addresses"]
    manner = Manner(settings_for(given["db"]), tools, addresses, toolset_or_note(), given["workspace"])
    ctx.exit(carried_out(_serve(manner, given)))


async def _serve(manner: Manner, given: Mapping[str, Any]) -> int:
    from perdure.cli.worlds import Yours  # noqa: PLC0415  as below
    from perdure.server.keys import keys_of  # noqa: PLC0415  it needs what may not be installed
    from perdure.server.listening import Address  # noqa: PLC0415  as above
    from perdure.server.serving import Place, serving  # noqa: PLC0415  as above

    keys = keys_of(manner.settings.db)
    address = Address(given["host"], given["port"], given["tls_cert"], given["tls_key"])
    address.check(is_meant=given["insecure_bind"], has_keys=bool(keys.all()))
    with Interrupts() as interrupts, address.bound() as listener:
        async with _owned(manner, given["patience"]) as engine:
            world = Yours(manner)
            async with beside(engine, world) as others:
                place = Place(listener, keys, address, given["urls"], given["patience"], others)
                async with serving(engine, world, place) as server:
                    await _go_on(engine)
                    _say_where(server, manner, as_json=given["as_json"])
                    await interrupts.asked.wait()
                    click.echo("stopping at a safe point; once more leaves at once", err=True)
    return OK


@asynccontextmanager
async def _owned(manner: Manner, patience: float) -> AsyncGenerator[Engine]:
    async with AsyncExitStack() as closing:
        yield await _opened(manner, patience, closing)


async def _opened(manner: Manner, patience: float, closing: AsyncExitStack) -> Engine:
    """An engine on the journal. Who only passes through is waited for; whoever stays is not: `Locked`."""
    for _ in range(TRIES):
        try:
            return await closing.enter_async_context(manner.engine(patience))
        except Locked:
            if await is_owned(manner.settings):
                raise
        await asyncio.sleep(AGAIN)
    return await closing.enter_async_context(manner.engine(patience))


async def _go_on(engine: Engine) -> None:
    """Go on with what was under way; what cannot is said, and stays as it is."""
    runs = await engine.resume()
    for run, why in engine.left.items():
        click.echo(visible(f"run {run} cannot go on: {why.code}: {why.message}", _MOST), err=True)
    if runs:
        click.echo(f"going on with {number_of(len(runs), 'run')}", err=True)


def _say_where(server: "Serving", manner: Manner, *, as_json: bool) -> None:
    """Say it, and print a link where somebody looks: in a log it could be read by others."""
    if as_json:
        told = {"schema": "perdure.serving/1", "url": server.url, "link": server.link(whoever(None))}
        click.echo(json.dumps({**told, "db": str(manner.settings.db), "pid": os.getpid()}))
        return
    click.echo(visible(f"serving {manner.settings.db} at {server.url}"), err=True)
    if sys.stderr.isatty():
        click.echo(f"open, once and within 10 minutes: {server.link(whoever(None))}", err=True)
    else:
        click.echo("a link for a browser: perdure open", err=True)
