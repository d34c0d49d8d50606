"""Stopping everything: by asking, and where nobody answers, by the kill switch."""

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from perdure.cli.codes import LOCKED
from perdure.cli.reaching import do_here, reach
from perdure.config import Settings
from perdure.control import ControlError, NoAnswer, ask, socket_of
from perdure.errors import PerdureError
from perdure.journal.lock import writer_of
from perdure.ports import Locked
from perdure.supervisor import flag_of, raised

SOON: Final = 0.5
"""Seconds in which a process whose event loop is alive says that it is."""
AGAIN: Final = 0.05
PATIENCE: Final = 10.0
"""Seconds for a supervisor to end its engine."""


class NotStopped(PerdureError):
    """The process that has the journal does not answer, and nobody ends it."""

    code: ClassVar[str] = "PRD3108"
    exit_code: int = LOCKED  # EX_TEMPFAIL: once that process has ended, the same command succeeds


async def stop_all(settings: Settings, request: Mapping[str, Any]) -> list[str]:
    """Cancel every run that is not over; the ids of those."""
    if settings.server.url:
        return (await reach(settings, request)).done
    asking = asyncio.create_task(reach(settings, request))
    try:
        while not await _is_deaf(settings, asking):
            if asking.done():
                return asking.result().done
    finally:
        asking.cancel()
    return await _by_force(settings, request)


async def _is_deaf(settings: Settings, asking: "asyncio.Task[Any]") -> bool:
    """Whether neither the request is done soon, nor anything else is answered."""
    alive = asyncio.create_task(_is_alive(settings))
    await asyncio.wait([asking], timeout=SOON)
    return not await alive and not asking.done()


async def _is_alive(settings: Settings) -> bool:
    try:
        await ask(socket_of(settings.db), {"do": "who"}, SOON)
    except NoAnswer:
        return False
    except ControlError:
        return True  # it said something, or is not there: then there is nobody to be ended
    return True


async def _by_force(settings: Settings, request: Mapping[str, Any]) -> list[str]:
    """Have the supervisor end the process, and do it here: the journal tells what was under way."""
    with raised(flag_of(settings.db)) as wave:
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while True:
            try:
                return (await do_here(settings, request)).done
            except Locked:
                if asyncio.get_running_loop().time() > deadline:
                    break
            wave()
            await asyncio.sleep(AGAIN)
    told = f"{writer_of(settings.db)}, does not answer, and has no supervisor"
    raise NotStopped(told, "end that process, and say it again")
