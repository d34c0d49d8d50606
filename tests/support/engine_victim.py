"""Processes with a whole engine in them, which are killed while they work. What they do to the world are lines in a file."""

import asyncio
import json
import os
import time
from contextlib import suppress
from pathlib import Path

from perdure import Context, Engine, Plan, ToolFailure, tool
from perdure.core.events import EVENTS, decode
from perdure.errors import PerdureError
from perdure.testing.replays import folded

EFFECTS = "PERDURE_TEST_EFFECTS"
"""The variable that says where effects are written."""
AT_ONCE = 3
"""Runs that a process keeps going."""


def leave_a_trace(kind, context):
    """One line, for ever."""
    note(os.environ[EFFECTS], [kind, context.run, context.step, context.visit, context.attempt, context.key])


def note(path, line):
    """The same for anything else. What was cut off in the middle of a line stays on a line of its own."""
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        size = os.fstat(file).st_size
        begin = b"" if size == 0 or os.pread(file, 1, size - 1) == b"\n" else b"\n"
        os.write(file, begin + json.dumps(line).encode() + b"\n")
    finally:
        os.close(file)


def _acting(kind, repeat, *, awaits, isolate=False):
    async def later(context: Context, n: int = 0, given: object = None) -> dict:
        """Act in the event loop."""
        await asyncio.sleep(0.001 * (n % 4))
        leave_a_trace(kind, context)
        await asyncio.sleep(0.001 * (n % 3))
        return {"of": context.step, "visit": context.visit}

    def at_once(context: Context, n: int = 0, given: object = None) -> dict:
        """Act in a thread or in a process."""
        time.sleep(0.001 * (n % 4))
        leave_a_trace(kind, context)
        time.sleep(0.001 * (n % 3))
        return {"of": context.step, "visit": context.visit}

    act = later if awaits else at_once
    act.__qualname__ = act.__name__ = f"{kind}_{'async' if awaits else 'sync'}{'_isolated' * isolate}"
    return tool(name=f"kill.{act.__name__}", repeat=repeat, isolate=isolate)(act)


safe_async = _acting("safe", "safe", awaits=True)
keyed_async = _acting("keyed", "keyed", awaits=True)
keyed_sync = _acting("keyed", "keyed", awaits=False)
never_async = _acting("never", "never", awaits=True)
never_sync = _acting("never", "never", awaits=False)
keyed_sync_isolated = _acting("keyed", "keyed", awaits=False, isolate=True)
never_sync_isolated = _acting("never", "never", awaits=False, isolate=True)


@tool(name="kill.flaky", repeat="keyed")
async def flaky(context: Context) -> str:
    """Fails at first."""
    if context.attempt == 1:
        raise ToolFailure("transient", "not yet")
    leave_a_trace("keyed", context)
    return "at last"


TOOLS = [
    safe_async, keyed_async, keyed_sync, never_async, never_sync, keyed_sync_isolated, never_sync_isolated, flaky,
]  # fmt: skip


def a_step(id_, name, n=0, **more):
    return {"id": id_, "tool": f"kill.{name}", "with": {"n": n}, **more}


MIXED = Plan.model_validate(
    {
        "steps": [
            a_step("first", "safe_async", 1),
            {
                "id": "several",
                "mode": "graph",
                "steps": [
                    a_step("a", "keyed_sync", 3),
                    a_step("b", "never_async", 2, locks=["door"]),
                    {"id": "c", "tool": "kill.flaky", "retry": {"attempts": 5, "wait": "3ms"}, "needs": ["a"]},
                    a_step("d", "safe_async", 5, needs=["b"]),
                ],
            },
            {"id": "each", "map": [1, 2, 3, 4], "limit": 2, "steps": [a_step("item", "keyed_async", 7), a_step("once", "never_async")]},
            {"id": "pause", "wait": "4ms"},
            a_step("pay", "never_sync", 6, locks=["door"]),
            {"id": "last", "tool": "kill.safe_async", "with": {"given": "${steps.each.output}"}},
        ]
    }
)  # fmt: skip
ISOLATED = Plan.model_validate(
    {
        "steps": [
            {
                "id": "both",
                "parallel": [a_step("ours", "keyed_sync_isolated", 3), a_step("theirs", "never_sync_isolated", 2)],
            },
            a_step("last", "safe_async"),
        ]
    }
)
PLANS = {"mixed": MIXED, "isolated": ISOLATED}


def work(path, world, plan, until_over, ready):
    """Go on with what is there, and begin new runs; until killed, or until all is over."""
    os.environ[EFFECTS] = str(world)  # isolated tools find it there too
    asyncio.run(_work(Path(path), PLANS[plan], until_over, ready))


async def _work(path, plan, until_over, ready):
    async with Engine.open(path, tools=TOOLS, resume=True) as engine:
        ready.send("open")
        going = [run.id for run in await engine.host.under_way()]
        tasks = [asyncio.create_task(_see_through(engine, run)) for run in going]
        if until_over:
            await asyncio.gather(*tasks)
            return
        while True:
            while len(tasks) < AT_ONCE:
                handle = await engine.start(plan)
                tasks.append(asyncio.create_task(_see_through(engine, handle.id)))
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
                tasks.remove(task)


async def _see_through(engine, run):
    """Answer truthfully until the run is over."""
    while True:
        result = await engine.run(run).rested()
        if result.status in {"succeeded", "failed", "cancelled"}:
            return
        for question in list(result._state.questions.values()):
            with suppress(PerdureError):
                await engine.answer(run, question.question, _truth(run, question))
        await asyncio.sleep(0.001)


def _truth(run, question):
    for _, about, step, visit, _, _ in effects(os.environ[EFFECTS]):
        if (about, step, visit) == (run, question.step, question.visit):
            return {"choice": "happened", "output": {"of": step, "visit": visit}}
    return "not_happened"


def warm_up():
    """Carry out a plan once, so that whoever is forked from here has built everything already."""

    async def once():
        async with Engine.open(tools=TOOLS) as engine:
            for plan in PLANS.values():
                engine.prepare(plan)
            handle = await engine.start(Plan.model_validate({"steps": [a_step("s", "safe_async")]}))
            await handle.result()
            await folded(engine.journal, handle.id)
            for event in EVENTS.values():
                with suppress(ValueError):
                    decode(event.type, b"{}")

    os.environ[EFFECTS] = os.devnull
    asyncio.run(once())


def effects(path):
    """All that was done to the world, in order. Somebody may be writing: a line without its end is not there yet.

    Nor is one that was cut off in its middle with its process: a kill comes also between two pages of one write.
    """
    written = Path(path).read_bytes() if Path(path).exists() else b""
    lines = written[: written.rfind(b"\n") + 1].splitlines()
    return [found for line in lines if line and (found := _whole(line)) is not None]


def _whole(line):
    try:
        return json.loads(line)
    except ValueError:
        return None


if os.environ.get("PERDURE_TEST_WARM"):
    warm_up()
