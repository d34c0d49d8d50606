"""A process with an engine that is supervised, and tools that would not let it go."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from perdure import Engine, Limits, Plan, tool

TOOLS = []


def a_tool(**words):
    def made(function):
        found = tool(**words)(function)
        TOOLS.append(found)
        return found

    return made


def note(name):
    with Path(os.environ["NOTES"]).open("a") as file:
        file.write(f"{name} {os.getpid()}\n")


@a_tool(name="odd.regex", repeat="safe")
async def regex() -> None:
    """Look for a needle in a way that takes for ever."""
    note("blocked")
    re.match(r"(a+)+$", "a" * 60 + "b")


@a_tool(name="odd.sum", repeat="safe")
async def total() -> int:
    """Add up in C, which gives nobody else a turn."""
    note("blocked")
    return sum(range(10**13))


@a_tool(name="odd.power", repeat="safe")
async def power() -> None:
    """Raise a number to a power that no memory holds."""
    note("blocked")
    pow(3, 10**9)


@a_tool(name="odd.spin", repeat="safe")
async def spin() -> None:
    """Do nothing, for ever."""
    note("blocked")
    while True:
        pass


@a_tool(name="odd.thread", repeat="safe")
def thread() -> int:
    """As `odd.sum`, from a thread: whoever holds the interpreter holds it everywhere."""
    note("blocked")
    return sum(range(10**13))


@a_tool(name="odd.eat", repeat="safe")
async def eat() -> None:
    """Take memory and keep it."""
    note("blocked")
    kept = []
    while True:
        kept.append(bytearray(10_000_000))
        await asyncio.sleep(0.01)


@a_tool(name="odd.child", repeat="safe", isolate=True)
def child() -> None:
    """Start a process inside a process, and wait."""
    subprocess.Popen(["sleep", "1000"])  # noqa: S607  any will do
    note("child")
    time.sleep(1000)


@a_tool(name="odd.after", repeat="safe")
def after() -> None:
    """Be done when the child is at work."""
    notes = Path(os.environ["NOTES"])
    while not notes.exists() or "child" not in notes.read_text():
        time.sleep(0.02)


@a_tool(name="odd.idle", repeat="safe")
async def idle() -> None:
    """Wait."""
    note("idle")
    await asyncio.sleep(1000)


@a_tool(name="odd.kill", repeat="safe")
async def kill(how: str) -> None:
    """End the whole process, as a broken extension does."""
    note("kill")
    os.kill(os.getpid(), signal.SIGSEGV) if how == "segv" else os._exit(3)


@a_tool(name="odd.fine", repeat="safe")
async def fine(n: int = 0) -> int:
    """Be done at once."""
    return n


async def _work(path, plan, memory):
    settings = {"limits": Limits(grace=0.5), "memory": memory, "supervise": True, "tools": TOOLS, "resume": True}
    async with Engine.open(path, **settings) as engine:
        if not await engine.journal.runs():
            await engine.start(plan)
        await (await engine.find("@last")).rested()


def main():
    """Carry it out, or go on with it."""
    path, raw, memory = sys.argv[1:]
    asyncio.run(_work(Path(path), Plan.model_validate(json.loads(raw)), int(memory)))
