"""How a message reaches a run: through the process that owns the journal, or by owning it for a moment."""

import asyncio
import getpass
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import click

from perdure.cli.journals import check_here, line_to, opened
from perdure.config import Settings
from perdure.control import NoAnswer, NoOwner, OwnerRefused, Request, ask, socket_of
from perdure.ports import Locked

TRIES: Final = 50
"""Between a process that leaves and one that comes there are moments in which nobody listens and nobody can own."""
AGAIN: Final = 0.1
PATIENCE: Final = 60.0
"""Seconds that an owner has for an answer; it may have thousands of runs to stop."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What came of a message."""

    done: Any
    driven: bool
    """Whether somebody carries the run on."""
    owner: str = ""
    """Who has done it; empty: this process."""


by_option = click.option("--by", metavar="NAME", default=None, help="Who you are; else your user name.")


def whoever(by: str | None) -> str:
    """Who does it: as said, or the user of this process."""
    if by is not None:
        return by
    with suppress(KeyError, OSError, ImportError):
        return getpass.getuser()
    return ""


async def full_id(settings: Settings, run: str) -> str:
    """The id that a beginning or `@last` stands for."""
    async with opened(settings) as journal:
        return (await journal.run(run)).id


async def reach(settings: Settings, request: Mapping[str, Any]) -> Reached:
    """Have a request done by the owner of the journal; where there is none, do it here and leave."""

    async def here() -> Reached:
        return await do_here(settings, request)

    return await owner_or(settings, request, here)


async def owner_or(settings: Settings, request: Mapping[str, Any], here: Callable[[], Awaitable[Reached]]) -> Reached:
    """Have a request done by the owner of the journal; where there is none, otherwise."""
    check_here(settings)
    if settings.server.url:
        return await ask_owner(settings, request)
    for left in reversed(range(TRIES)):
        with suppress(NoOwner):
            return await ask_owner(settings, request)
        try:
            return await here()
        except Locked:
            if not left:
                raise
        await asyncio.sleep(AGAIN)
    raise AssertionError  # the last try has left


async def ask_owner(settings: Settings, request: Mapping[str, Any]) -> Reached:
    """Have a request done by the owner; `NoOwner` if there is none."""
    check_here(settings)
    for left in reversed(range(TRIES)):
        try:
            reply = await _reply(settings, request)
        except OwnerRefused as refusal:
            if not left or refusal.code != "PRD3103":
                raise
            await asyncio.sleep(AGAIN)
        else:
            return Reached(reply.get("done"), bool(reply.get("driven")), str(reply.get("owner", "")))
    raise AssertionError  # the last try has left


async def _reply(settings: Settings, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the owner says, through its socket or through its server."""
    if not settings.server.url:
        return await ask(socket_of(settings.db), request, PATIENCE)
    from perdure.remote import tell  # noqa: PLC0415  few have a server, and it loads much
    from perdure.remote.errors import ServerRefused  # noqa: PLC0415  as above

    try:
        async with line_to(settings.server) as line:
            return await tell(line, request)
    except ServerRefused as refusal:
        raise OwnerRefused(refusal.message, refusal.help, refusal.code, refusal.exit_code) from refusal


async def is_owned(settings: Settings, owner: str = "") -> bool:
    """Whether some process has the journal and drives runs; if an owner is named, whether it is that one."""
    try:
        reply = await _reply(settings, {"do": "who"})
    except NoOwner:
        return False
    except NoAnswer:  # it leaves, or has much to do; whoever asks will ask again
        return True
    return bool(reply.get("driven")) and owner in ("", reply.get("owner", ""))


async def do_here(settings: Settings, request: Mapping[str, Any]) -> Reached:
    """Own the journal for a moment, and do it; `Locked` if another process has it.

    No tool is called, but what is known of them decides what follows from an attempt that was cut off.
    """
    from perdure.cli.kits import kit_tools  # noqa: PLC0415  as below
    from perdure.engine import Engine  # noqa: PLC0415  most messages go to an owner and need no engine here
    from perdure.engine.requests import replies_of  # noqa: PLC0415  as above
    from perdure.tools.builtin import HANDS  # noqa: PLC0415  as above

    manners: dict[str, Any] = {"network": settings.network_disk, "agent_planning": settings.agent_planning}
    async with Engine.open(settings.db, tools=(*HANDS, *kit_tools()), idle=True, **manners) as engine:
        reply = await replies_of(engine)(Request(dict(request), os.getpid(), os.getuid()))
        return Reached(reply["done"], driven=False)
