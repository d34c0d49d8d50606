"""A server in a process of its own, over a journal of its own, for commands that are given elsewhere."""

import asyncio
import re
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from program import clean_environment

from perdure import Engine
from perdure.server import app_of
from perdure.world import Alone


@contextmanager
def elsewhere(home, db):
    """The address of a server, as long as the block lasts; and the process."""
    words = [sys.executable, __file__, str(db), str(home)]
    environment = clean_environment(home, PYTHONPATH=str(Path(__file__).parent))
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment, cwd=home) as process:
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}", process
        finally:
            process.terminate()
            process.wait()


@contextmanager
def guarded(home, db):
    """The address of `perdure serve`, which wants a key."""
    words = [sys.executable, "-m", "perdure", "serve", "--port", "0", "--db", str(db)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=clean_environment(home), cwd=home
    ) as process:
        try:
            said = (re.search(r"http://[\w.]+:\d+", line) for line in process.stdout)
            yield next(found[0] for found in said if found)
        finally:
            process.terminate()
            process.communicate()


async def _serve(db, workspace):
    listener = socket.create_server(("127.0.0.1", 0))
    async with Engine.open(db, workspace=workspace, resume=True) as engine:
        config = uvicorn.Config(app_of(engine, Alone()), lifespan="off", log_config=None, timeout_graceful_shutdown=1)
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    asyncio.run(_serve(*sys.argv[1:]))
