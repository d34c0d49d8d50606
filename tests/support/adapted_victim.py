"""An agent of another framework at work in a process that dies at a certain turn, for real."""

import asyncio
import os
import signal

import pydantic_ai
from engine_victim import EFFECTS, leave_a_trace

from perdure import Engine, Plan
from perdure.agents.adapted import adapted, context
from perdure.journal import open_journal
from perdure.models import Models
from perdure.models.places import Place, Places
from perdure.testing.crashes import Disk, Fault

PLAN = Plan.model_validate(
    {"steps": [{"id": "go", "agent": "payer", "task": "Pay the bill."}], "output": "${steps.go.output}"}
)


def look(at: str) -> str:
    """Look at something."""
    return f"the {at} is 5 dollars"


async def pay(usd: int) -> str:
    """Pay, once."""
    leave_a_trace("keyed", context())
    return f"paid {usd}"


def settings(url):
    agent = pydantic_ai.Agent(tools=[look, pay], instructions="Pay what is due.")
    declared = {"look": {"repeat": "safe"}, "pay": {"repeat": "keyed", "effects": ["costs"]}}
    models = Models({"default": "box:m"}, Places([Place("box", url)]))
    return {"agents": [adapted(agent, name="payer", declared=declared)], "models": models}


async def carried_on(engine):
    """What comes of the run that is there, or of a new one."""
    runs = await engine.journal.runs()
    run = engine.run(runs[0].id) if runs else await engine.start(PLAN)
    return run.id, await run.result()


def work(path, place, url, turn, what):
    """A process that is killed when it has written a turn, or is about to."""
    os.environ[EFFECTS] = str(place / "effects")

    async def go():
        disk = Disk(await open_journal(path), lambda n, _: Fault(what) if n == turn else None)
        disk.died = lambda: os.kill(os.getpid(), signal.SIGKILL)
        async with Engine.open(journal=disk, resume=True, **settings(url)) as engine:
            await carried_on(engine)

    asyncio.run(go())
