"""Processes with an engine that has hands, which are killed while they work on a repository.

`python hands_victim.py` forks one for each line of JSON that it reads, kills it when its time has come, and tells how
it ended. What such a process leaves behind becomes a child of the one who forks, so nobody can hide. Where a trace is
asked for, strace looks at one of its threads from the moment a step `kill.gate` is done, or taken back.
"""

import asyncio
import ctypes
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from engine_victim import effects
from hands_points import attached, traceable

from perdure import Context, Engine, Plan, tool
from perdure.errors import PerdureError
from perdure.plan.model.parts import Policy
from perdure.ports import Filter, JournalError
from perdure.tools.builtin import HANDS
from perdure.tools.hands import Hands
from perdure.tools.mcp import Pins, Toolset
from perdure.tools.mcp.references import Values
from perdure.tools.mcp.servers import Server
from perdure.tools.sandbox.probes import probe

BOOKS = Path(__file__).with_name("book_server.py")
PINS = Path(tempfile.mkdtemp(prefix="perdure-pins-"))
PYTHON = getattr(sys, "_base_executable", None) or sys.executable
PR_SET_CHILD_SUBREAPER = 36
OVER = {"succeeded", "failed", "cancelled", "rolled_back"}
QUIET = 0.5
"""Seconds after which what was sent by a process that is dead has surely arrived."""
PATIENCE = 10.0
"""Seconds that what they have started has to end."""


def note(world, entry):
    """One line, whole or not at all, and for ever."""
    file = os.open(world, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, json.dumps(entry).encode() + b"\n")
    finally:
        os.close(file)


def notes(world):
    """All that was done to the world outside, in order."""
    return effects(world)


def paying_into(world):
    """A tool that nobody can call back, nor ask."""

    @tool(name="kill.pay", repeat="never", effects=["irreversible"])
    async def pay(amount: int, context: Context) -> dict:
        """Pay."""
        await asyncio.sleep(0.01)
        note(world, ["paid", context.step, context.key])
        await asyncio.sleep(0.01)
        return {"paid": amount}

    return pay


def books_at(place):
    """An MCP server that can write nothing but the world outside; what it offers was approved once and for all."""
    world = place / "world"
    command = (PYTHON, "-I", "-S", str(BOOKS), str(world))
    server = Server("books", command, read=(BOOKS,), write=(world,))
    return Toolset({"books": server}, Pins(PINS / "pins.json"), Values({}, {}))


async def approve_books():
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "world").touch()
        books = books_at(Path(place))
        Pins(PINS / "pins.json").approve("books", (await books.look("books")).tools)
        await books.close()


class Gate:
    """Where a process waits until somebody looks at it. Nobody does: it stands open."""

    def __init__(self, pipes=None):
        self._pipes = pipes

    def tool(self):
        @tool(name="kill.gate", repeat="safe", undo=self.wait)
        def wait() -> None:
            """Wait at the gate, in a thread that the next tools have too."""
            self.wait()

        return wait

    def wait(self):
        if self._pipes is not None:
            (hears, says), self._pipes = self._pipes, None
            os.write(says, f"{json.dumps(traceable())}\n".encode())
            os.read(hears, 1)


class Person:
    """Answers truthfully, after a look at the world."""

    def __init__(self, place):
        self._world = place / "world"

    async def answer(self, engine, run, question):
        if question.about == "policy":
            said = "approved"
        else:
            assert question.about == "doubt", question
            said = await self._truth(question)
        with suppress(PerdureError):
            await engine.answer(run, question.question, said)

    async def _truth(self, question):
        await asyncio.sleep(QUIET)
        done = any(step == question.step for _, step, _ in notes(self._world))
        return {"choice": "happened", "output": {"by": "a person"}} if done else "not_happened"


async def do(place, plan, way, ready, gate):
    """Begin, or go on; until it is over, and taken back if that is wanted."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1, "asyncio"))  # one thread has one name
    policy = Policy.model_validate({"network": ["127.0.0.1:*"]})
    books = books_at(place)
    tools = [paying_into(place / "world"), gate.tool(), *books.tools()]
    opened = Engine.open(place / "runs.db", workspace=place / "shop", policy=policy, tools=tools, resume=True)
    async with opened as engine:
        os.write(ready, b"!")
        found = await engine.journal.runs(Filter(), None, 2)
        run = found[0].id if found else (await engine.start(Plan.model_validate(plan))).id
        if way == "retry" and (status := (await engine.result(run)).status) in {"failed", "paused"}:
            await (engine.retry if status == "failed" else engine.resume)(run)
        if way == "undo anew":
            await engine.rollback(run)
        try:
            await see_through(engine, run, place, way.removesuffix(" anew"))
        finally:
            await books.close()


async def see_through(engine, run, place, way):
    """`try` leaves all questions to others."""
    person = Person(place)
    while True:
        if way == "undo" and (await engine.result(run)).status not in {"stopping", "rolled_back"}:
            with suppress(PerdureError):
                await engine.rollback(run)
        result = await engine.run(run).rested()
        if way == "try" or (result.status in OVER and (way != "undo" or result.status == "rolled_back")):
            return
        for question in list(result._state.questions.values()):
            await person.answer(engine, run, question)
        await asyncio.sleep(0.001)


# ------------------------------------------------------------------------------- the one who kills


def serve():
    """One line in, one line out."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for line in sys.stdin:
        asked = json.loads(line)
        told = orphans() if asked == "orphans" else live(**asked)
        sys.stdout.write(f"{json.dumps(told)}\n")
        sys.stdout.flush()


def live(place, plan, way, *, seconds=None, early=False, trace=None):  # noqa: PLR0913  as they come
    """A process from its beginning to its end; how it ended."""
    hears, says = os.pipe()
    gate = Traced(trace) if trace else None
    if (pid := os.fork()) == 0:
        os.close(hears)
        os.dup2(2, 1)
        os.setsid()
        os._exit(worked(do(Path(place), plan, way, says, gate.theirs() if gate else Gate()), way))
    os.close(says)
    if gate:
        gate.open()
    elif not early:
        select.select([hears], [], [], 60)
    code = ended(pid, seconds)
    if gate:
        gate.close()
    os.close(hears)
    return code


def worked(doing, way):
    """The code to end with. Whoever only tries may hear that the journal's own disk failed."""
    try:
        asyncio.run(doing)
    except JournalError as error:
        if way == "try":
            return 0
        traceback.print_exception(error)
    except BaseException:  # noqa: BLE001  nothing but its end belongs to the process
        traceback.print_exc()
    else:
        return 0
    return 1


class Traced:
    """A process that has strace at its side: at one thread, or at all of them but not at what they start.

    A thread is told by the beginning of its name. strace counts the calls of each thread by itself.
    """

    def __init__(self, trace):
        self._trace = trace
        self._hears, self._theirs_to_say = os.pipe()
        self._theirs_to_hear, self._says = os.pipe()
        self._tracer = None

    def theirs(self):
        os.close(self._hears)
        os.close(self._says)
        return Gate((self._theirs_to_hear, self._theirs_to_say))

    def open(self):
        """Let it go on when it is looked at."""
        os.close(self._theirs_to_say)
        os.close(self._theirs_to_hear)
        with os.fdopen(self._hears) as told:
            threads = json.loads(told.readline() or "null")
        assert threads, "it never came to the gate"
        self._tracer = attached(self._trace, threads)
        os.write(self._says, b"!")

    def close(self):
        """Wait until all of it is written down."""
        os.close(self._says)
        self._tracer.wait(60)
        self._tracer.stderr.close()


def ended(pid, seconds):
    deadline = time.monotonic() + (120 if seconds is None else seconds)
    while not (found := os.waitpid(pid, os.WNOHANG))[0]:
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)
    return os.waitstatus_to_exitcode(found[1])


def orphans():
    """What the dead have started and is alive after a while."""
    deadline = time.monotonic() + PATIENCE
    with suppress(ChildProcessError):
        while time.monotonic() < deadline:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(0.01)
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        return [Path(f"/proc/{each}/cmdline").read_bytes().decode("utf-8", "replace") for each in children]
    return []


def warm_up():
    """What every process would do first is done once: load the tools, and try the sandbox.

    It is tried by a child, because whoever has run something there has a warden, which its children would share.
    """
    assert HANDS
    import_module("perdure.tools.mcp.session")
    with tempfile.TemporaryDirectory() as place:
        hands = Hands(Path(place), Path(place))
        if (pid := os.fork()) == 0:
            asyncio.run(probe(hands))
            asyncio.run(approve_books())
            os._exit(0)
        os.waitpid(pid, 0)
        report = asyncio.run(probe(hands))
    assert report.ok, report


if __name__ == "__main__":
    try:
        warm_up()
        serve()
    finally:
        shutil.rmtree(PINS)
