"""A process that does things to a repository and is killed meanwhile; what it has finished is in a journal.

`python git_victim.py ROOT do|undo` goes through the deeds of ROOT/deeds.json, each under its key, and begins
with the first that the journal does not have; or takes back what is in the journal, the last first. `python
git_victim.py` alone does so for each line of JSON it reads, in a process of its own, and tells how it ended.
"""

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

from engine_victim import effects

from perdure.core.calls import Call
from perdure.ports import Attempt
from perdure.tools import ToolPerformer
from perdure.tools.builtin import HANDS
from perdure.tools.git import running
from perdure.tools.hands import Hands


def performer_of(root):
    return ToolPerformer(HANDS, hands=Hands(root / "shop", root / "state", "none"))


async def perform(root, deed, /, **more):
    name, arguments, key = deed["name"], deed["with"], deed["key"]
    return await performer_of(root).perform(Attempt("r_1", "s", 1, 1, key, Call("tool", name, arguments), **more))


def note(journal, entry):
    file = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, json.dumps(entry).encode() + b"\n")
    os.close(file)


def entries(journal):
    return effects(journal)


def change(root, deed):
    for name, text in deed.get("write", {}).items():
        path = root / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


async def do(root, journal):
    deeds = json.loads((root / "deeds.json").read_text())
    for deed in deeds[len(entries(journal)) :]:
        change(root, deed)
        outcome = await perform(root, deed)
        told = outcome.failure and [outcome.failure.kind, outcome.failure.message]
        note(journal, {"deed": deed, "output": outcome.output, "failure": told})


async def undo(root, journal):
    """Everything that is in the journal; the one that was under way when the process was killed is taken back too.

    As an engine does, what is taken back is written down, and not asked for again.
    """
    deeds = json.loads((root / "deeds.json").read_text())
    done = entries(journal)
    if len(done) < len(deeds):
        done.append({"deed": deeds[len(done)], "output": None, "failure": None})
    over = entries(journal.with_suffix(".undone"))
    for entry in reversed(done):
        if entry["failure"] or entry["deed"]["key"] in over:
            continue
        outcome = await perform(root, entry["deed"], by="undo", deed="undo", output=entry["output"])
        assert outcome.failure is None, (entry, outcome.failure)
        note(journal.with_suffix(".undone"), entry["deed"]["key"])


def work(root, way, program=""):
    if program:  # a git that is killed by the system call
        running.program = lambda: program
    asyncio.run({"do": do, "undo": undo}[way](Path(root), Path(root) / "journal"))


def serve():
    for line in sys.stdin:
        asked = json.loads(line)
        seconds = asked.pop("seconds")
        if (pid := os.fork()) == 0:
            os.setsid()
            os.dup2(2, 1)
            work(**asked)
            os._exit(0)
        sys.stdout.write(f"{ended(pid, seconds)}\n")
        sys.stdout.flush()


def ended(pid, seconds):
    """How a child ended; after some seconds it is killed."""
    deadline = time.monotonic() + seconds
    while not (found := os.waitpid(pid, os.WNOHANG))[0]:
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)
    return os.waitstatus_to_exitcode(found[1])


if __name__ == "__main__":
    work(*sys.argv[1:]) if sys.argv[1:] else serve()
