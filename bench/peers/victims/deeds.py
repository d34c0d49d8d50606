"""What the victims of kills.py have in common: the shape of the plan, and what a step does to the world.

A run is a first step, four side by side, one that joins them, and six in a row. Each step waits a little, adds a line
to a file, and waits a little: a deed that must be done once, as a payment is.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

FAN = [f"f{n}" for n in range(4)]
CHAIN = [f"c{n}" for n in range(6)]
STEPS = ["first", *FAN, "join", *CHAIN]
WAIT = 0.003


def world() -> Path:
    return data().with_name("effects")


def data() -> Path:
    """Where the engine may keep what it likes."""
    return Path(sys.argv[1])


def numbers() -> range:
    """Which runs to bring to their end, in order; those before the first are over."""
    return range(int(sys.argv[2]), int(sys.argv[3]))


def note(kind: str, run: int, step: str) -> None:
    """One line, whole or not at all; it outlives the process."""
    line = json.dumps([kind, run, step, os.getpid(), time.time()]).encode() + b"\n"
    file = os.open(world(), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, line)
    os.close(file)


def notes(path: Path) -> list[list]:
    written = path.read_bytes() if path.exists() else b""
    return [json.loads(line) for line in written[: written.rfind(b"\n") + 1].splitlines()]


def was_done(run: int, step: str) -> bool:
    return any(each[:3] == ["effect", run, step] for each in notes(world()))


async def deed(run: int, step: str) -> dict:
    await asyncio.sleep(WAIT)
    note("effect", run, step)
    await asyncio.sleep(WAIT)
    return {"step": step}
