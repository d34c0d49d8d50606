"""Processes that take messages and processes that send them; either is killed. What runs do to the world are lines.

An owner drives runs and hears messages through its socket, or from its own code. A sender finds the owner as the
command line does, or owns the journal for a moment. Whoever sends writes down what they ask for and what they are told.
"""

import asyncio
import os
import random
from contextlib import suppress
from functools import partial
from pathlib import Path

from engine_victim import EFFECTS, a_step, effects, keyed_async, leave_a_trace, never_async, note
from hands_points import traceable

from perdure import Context, Engine, Plan, ToolFailure, tool
from perdure.cli.journals import opened
from perdure.cli.reaching import reach
from perdure.config import load
from perdure.control import Request
from perdure.engine import View
from perdure.engine.requests import replies_of
from perdure.errors import PerdureError
from perdure.ports import Filter, Locked, NoJournal
from perdure.runtime.keys import key_of

AT_ONCE = 3
"""Runs that an owner keeps going."""
MOST_LIVE = 8
"""With more runs that are not over, nobody forks one."""
OVER = {"succeeded", "cancelled", "rolled_back"}

# ------------------------------------------------------------------------------- what runs do


def unmake(context: Context) -> None:
    leave_a_trace("undone", context)


@tool(name="kill.made", repeat="keyed", undo=unmake)
async def made(context: Context) -> str:
    """Make something that can be taken back."""
    leave_a_trace("keyed", context)
    return "made"


@tool(name="kill.shaky", repeat="keyed")
async def shaky(context: Context) -> str:
    """Works at the second visit."""
    if context.visit == 1:
        raise ToolFailure("logic", "not at the first visit")
    leave_a_trace("keyed", context)
    return "at last"


TOOLS = [keyed_async, never_async, made, shaky]
PLAN = {
    "steps": [
        {"id": "made", "tool": "kill.made"},
        {
            "id": "both",
            "mode": "graph",
            "steps": [
                {"id": "q", "ask": "Go on?"},
                {"id": "bell", "wait": {"signal": "bell"}},
                a_step("beside", "never_async"),
            ],
        },
        {"id": "shaky", "tool": "kill.shaky", "retry": {"attempts": 1}},
        a_step("last", "keyed_async"),
    ]
}


def extra(id_):
    """Edits that put a step behind what has not begun."""
    return [{"insert": a_step(id_, "keyed_async"), "after": "shaky"}]


async def see_through(engine, run):
    """Answer truthfully, give what is waited for, and try again what failed; until the run is over for good."""
    while True:
        result = await engine.run(run).rested()
        state = result._state
        if result.status in OVER:
            return
        with suppress(PerdureError):
            if result.status == "failed":
                await engine.retry(run)
            elif result.status == "paused":
                await engine.resume(run)
            for question in list(state.questions.values()):
                await engine.answer(run, question.question, _truth(run, state, question), by="the last one")
            if state.waiting.get("bell"):
                await engine.signal(run, "bell", by="the last one")


def _truth(run, state, question):
    """Whether a deed was done is told by its key: a fork may have done what its run had begun, or the other way round."""
    if question.about != "doubt":
        return True
    work = state.cells[question.step].work
    key = key_of(work.of or run, question.step, question.visit, work.digest)
    is_done = any(key == each[-1] for each in effects(os.environ[EFFECTS]))
    return {"choice": "happened", "output": None} if is_done else "not_happened"


# ------------------------------------------------------------------------------- an owner


def own(path, world, pipe):
    """Drive what is there, and do what comes through the pipe or through the socket; until killed."""
    os.environ[EFFECTS] = str(world)
    asyncio.run(_own(Path(path), pipe))


async def _own(path, pipe):
    async with Engine.open(path, tools=TOOLS, resume=True) as engine:
        for run in await engine.host.under_way():
            await engine.run(run.id).rested()
        await asyncio.to_thread(int)  # there is a thread that hears the pipe
        pipe.send(traceable())
        while True:
            pipe.send(await done(engine, await asyncio.to_thread(pipe.recv)))


async def done(engine, request):
    """What comes of a request: what its sender is told, or the code that it is refused with."""
    try:
        return await _heard(engine, request)
    except PerdureError as error:
        return {"refused": error.code}


async def _heard(engine, request):
    return await replies_of(engine)(Request(request, os.getpid(), os.getuid()))


# ------------------------------------------------------------------------------- those who do whatever comes to mind


def drive(path, world, told, seed, pipe):
    """Own a journal and keep some runs going; ask for things meanwhile."""
    os.environ[EFFECTS] = str(world)
    asyncio.run(_drive(Path(path), Talk(Path(path), told, seed, pipe)))


async def _drive(path, talk):
    while True:
        with suppress(Locked):  # a sender may have it for a moment
            async with Engine.open(path, tools=TOOLS, resume=True) as engine:
                while True:
                    while len(await engine.host.under_way()) < AT_ONCE:
                        await engine.start(Plan.model_validate(PLAN))
                    await talk.once(partial(_heard, engine))
        await asyncio.sleep(0.01)


def send(path, told, seed, pipe):
    """Ask whoever owns the journal, or own it for a moment."""
    asyncio.run(_send(Path(path), Talk(Path(path), told, seed, pipe)))


async def _send(path, talk):
    settings = load({"db": str(path)}).settings

    async def ask(request):
        reached = await reach(settings, request)
        return {"done": reached.done}

    while True:
        with suppress(NoJournal):
            await talk.once(ask)
        await asyncio.sleep(0.001)


class Talk:
    """One who looks at a run, thinks of something that fits it, asks for it, and notes what they are told."""

    def __init__(self, path, told, seed, pipe):
        self._settings, self._told, self._pipe = load({"db": str(path)}).settings, Path(told), pipe
        self._draw, self._seed, self._asked = random.Random(seed), seed, 0

    async def once(self, ask):
        request = await self._thought()
        if request is None:
            return
        self._asked += 1
        token = request["by"] = f"{self._seed}.{self._asked}"
        note(self._told, ["asked", token, request])
        self._pipe.send(token)
        try:
            note(self._told, ["told", token, (await ask(request))["done"]])
        except PerdureError as error:
            if error.code != "PRD2303":  # then nobody knows
                note(self._told, ["refused", token, error.code])

    async def _thought(self):
        async with opened(self._settings) as journal:
            runs = await journal.runs(Filter(), None, 12)
            if not runs:
                return None
            run = self._draw.choice(runs)
            live = sum(not each.summary.over for each in runs)
            return self._wish(await View.of(journal, run.id), live < MOST_LIVE)

    def _wish(self, view, may_fork):
        about, choice = {"run": view.run}, self._draw.choice
        fork = {"do": "fork", **about}
        edits = {"edits": extra(f"x{self._seed}_{self._asked}"), "base": view.state.revision}
        if view.state.ended is not None:
            taken_back = {"do": "rollback", **about}
            if view.status == "failed":
                again = [{"do": "retry", **about}, {"do": "retry", **edits, **about}]
                return choice(again * 2 + [taken_back] + [fork] * may_fork)
            return choice(
                [{**fork, "step": "last"}] * (may_fork and view.status == "succeeded") + [taken_back, None, None]
            )
        wishes = [
            {"do": "answer", "question": each, "value": choice([True, "approved"]), **about}
            for each in view.state.questions
        ]
        wishes += [{"do": "signal", "name": "bell", **about}, {"do": "revise", **edits, **about}]
        wishes += [fork] * may_fork + [{"do": "cancel", **about}] * (self._draw.random() < 0.1)
        return choice([*wishes, {"do": "resume" if view.status == "paused" else "pause", **about}])
