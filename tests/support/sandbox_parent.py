"""An engine that is about to be killed: starts a command that sleeps, hides a child that sleeps too, and waits."""

import asyncio
import sys

from perdure.tools.sandbox import Command, run


async def main(marker, tier):
    print("started", flush=True)  # noqa: T201  whoever kills it waits for this
    await run(Command(["sh", "-c", f"(setsid sleep {marker} &) ; sleep {marker}"], tier=tier))


asyncio.run(main(*sys.argv[1:]))
