"""Tools that behave oddly, at a place where another process can import them."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

from perdure import Deed
from perdure.tools import Context, ToolFailure, tool


@tool(name="odd.add", isolate=True)
def add(a: int, b: int = 1) -> int:
    sys.stdout.write("printing is no answer\n")
    return a + b


@tool(name="odd.later", isolate=True)
async def later(text: str, context: Context) -> dict:
    await asyncio.sleep(0)
    context.progress(0.5, "half")
    context.progress(7, "whole")
    known = [context.key, context.run, context.step, context.visit, context.attempt, context.cancelled]
    return {"text": text, "pid": os.getpid(), "known": known, "left": context.seconds_left}


@tool(name="odd.stuck", isolate=True)
def stuck(note: str, context: Context) -> None:
    """Writes down who it is and what it has started, and never comes back."""
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(note + ".part").write_text(f"{os.getpid()} {other.pid}")
    Path(note + ".part").rename(note)
    context.progress(0.1)
    time.sleep(600)


@tool(name="odd.raise", isolate=True)
def raising(how: str) -> None:
    if how == "failure":
        raise ToolFailure("rate_limited", "slow down", retry_after=3, detail={"left": 0})
    if how == "exit":
        sys.exit("enough")
    if how == "die":
        sys.stderr.write("last words\n")
        os._exit(7)
    if how == "escape":  # somebody else goes on with our pipes
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(20)"], start_new_session=True)
        os._exit(8)
    if how == "kill":
        os.kill(os.getpid(), 9)
    raise KeyError(how)


@tool(name="odd.large", isolate=True)
def large(letters: int) -> str:
    return "x" * letters


@tool(name="odd.lingering", isolate=True)
def lingering() -> str:
    """Has its result, but a thread of its own that does not end."""
    import threading

    threading.Thread(target=time.sleep, args=(600,)).start()
    return "done"


@tool(name="odd.spend", isolate=True)
def spend(how: str, context: Context) -> str:
    context.spend(usd=0.25, tokens=1)
    context.spend(usd=0.25, tokens=2, calls=1)
    if how == "fails":
        raise ToolFailure("transient", "busy")
    if how == "dies":
        os._exit(7)
    if how == "lies":
        context.spend(usd=-1)
    return how


@tool(name="odd.reach", isolate=True)
def reach(what: str, context: Context) -> str:
    """Uses what is not there in a process of its own."""
    if what == "guard":
        context.guard.check([Deed("write", "a.txt")])
    return str(context.hands.workspace) if what == "hands" else str(context.arguments)


def plain(text: str) -> str:
    return text + "!"


renamed = tool(name="odd.renamed", isolate=True)(plain)
