"""A process that owns a socket until it is killed: `control_owner.py PATH`. It says what it does, line by line."""

import asyncio
import sys
from pathlib import Path

from perdure.control import serve


async def _handle(request):
    print("asked", flush=True)
    if request.body.get("hang"):
        await asyncio.Event().wait()
    return {"pong": request.body}


async def _own(path):
    async with serve(path, _handle):
        print("open", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_own(Path(sys.argv[1])))
