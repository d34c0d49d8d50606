"""Deaths: what tests have in common that kill somebody at work."""

import asyncio
import time

from perdure.testing.crashes import Fault, crashing


async def dying(journal, turn, what, work, within=60, **settings):
    """Die at a turn of some work, unless that is over before; whether there was such a turn."""
    async with crashing(journal, lambda n, _: Fault(what) if n == turn else None, **settings) as engine:
        dead = asyncio.Event()
        engine.journal.died = dead.set
        ended = asyncio.ensure_future(work(engine))
        await asyncio.wait([ended, asyncio.ensure_future(dead.wait())], return_when="FIRST_COMPLETED", timeout=within)
        assert dead.is_set() or ended.done()  # how many turns share a write differs: the last may not come
        ended.cancel()
        return dead.is_set()


def killed(processes, after, work, *args):
    """Have another process do some work, and kill it so many seconds after it has begun."""
    started = processes.Event()
    process = processes.Process(target=work, args=(*args, started), daemon=True)
    process.start()
    started.wait(30)
    time.sleep(after)
    process.kill()
    process.join()
